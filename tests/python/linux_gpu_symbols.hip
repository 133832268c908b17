/* SPDX-License-Identifier: Apache-2.0 */
/* Variables and constants of device code, from the host. */
#include <hip/hip_runtime.h>

#include <cstdio>

__constant__ float table[4];
__constant__ int fixed[2] = {3, 4};
static __constant__ int hidden_constant = 1;
__device__ int counter = 7;
static __device__ int hidden;
__device__ int unused = 9;
namespace space {
__device__ double numbers[2];
}

__global__ void work(float* out) {
    out[threadIdx.x] = table[threadIdx.x] + fixed[1] + float(space::numbers[0]) + hidden_constant;
    atomicAdd(&counter, 1);
    hidden = 5;
}

static unsigned wrong;

static void check(const char* what, bool good) {
    if (!good) printf("FAILED: %s\n", what);
    wrong += !good;
}

static void expect(const char* what, hipError_t found, hipError_t wanted = hipSuccess) {
    if (found != wanted) printf("%s: %s\n", what, hipGetErrorName(found));
    check(what, found == wanted);
}

int main() {
    const float given[4] = {1, 2, 3, 4};
    const double half = 0.5;
    float *out, found[4];
    int numbers[2] = {0, 100}, number = 0;
    void* at;
    size_t bytes = 0;
    hipStream_t stream;
    expect("malloc", hipMalloc(&out, sizeof found));
    expect("stream", hipStreamCreate(&stream));
    work<<<1, 4>>>(out);
    expect("copy", hipMemcpy(found, out, sizeof found, hipMemcpyDeviceToHost));
    check("they begin as the source says", found[0] == 5 && found[3] == 5);
    expect("a constant", hipMemcpyToSymbol(table, given, sizeof given));
    expect("a part of one", hipMemcpyToSymbol(HIP_SYMBOL(fixed), &numbers[1], sizeof(int), sizeof(int)));
    expect("a static one", hipMemcpyToSymbol(hidden_constant, &numbers[1], sizeof(int)));
    expect("a variable", hipMemcpyToSymbolAsync(space::numbers, &half, sizeof half, 0, hipMemcpyHostToDevice, stream));
    expect("wait", hipStreamSynchronize(stream));
    work<<<1, 4>>>(out);
    expect("copy", hipMemcpy(found, out, sizeof found, hipMemcpyDeviceToHost));
    check("kernels see them", found[0] == 201.5f && found[3] == 204.5f);
    expect("back", hipMemcpyFromSymbol(&number, counter, sizeof number));
    check("what kernels count", number == 7 + 8);
    expect("back by stream", hipMemcpyFromSymbolAsync(&number, hidden, 4, 0, hipMemcpyDeviceToHost, stream));
    expect("wait", hipStreamSynchronize(stream));
    check("a static variable", number == 5);
    expect("one that no kernel uses", hipMemcpyFromSymbol(&number, unused, sizeof number));
    check("it begins as the source says", number == 9);
    expect("address", hipGetSymbolAddress(&at, fixed));
    expect("size", hipGetSymbolSize(&bytes, space::numbers));
    expect("copy from the address", hipMemcpy(numbers, at, sizeof numbers, hipMemcpyDeviceToHost));
    check("contents and size", bytes == 16 && numbers[0] == 3 && numbers[1] == 100);
    expect("free of a constant", hipFree(at), hipErrorInvalidValue);
    expect("address of a variable", hipGetSymbolAddress(&at, counter));
    expect("free of a variable", hipFree(at), hipErrorInvalidValue);
    expect("beyond its end", hipMemcpyToSymbol(table, given, sizeof given, 4), hipErrorInvalidValue);
    expect("a variable of the host", hipMemcpyToSymbol(number, given, 4), hipErrorInvalidSymbol);
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
