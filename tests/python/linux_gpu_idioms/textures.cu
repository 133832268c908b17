/* SPDX-License-Identifier: Apache-2.0 */
/* What programs for CUDA up to 11 do: texture references, variables by their names, launches that are written apart,
 * errors by all their names, and C files that call the run-time undeclared. */
#include <stdio.h>
#include <string.h>

#include <cuda.h>
#include <vector_types.h>

#include "inner/sizes.h"

#ifndef __DRIVER_TYPES_H__
#error "headers of programs ask for this"
#endif

extern "C" int choose_device(void);
int of_inner();

texture<float, 1, cudaReadModeElementType> numbers;
texture<float4> quads;
texture<unsigned char, cudaTextureType1D> bytes;
__constant__ float scale[2];
__constant__ char letters[4];

struct __align__(16) aligned {
    int first;
};
static_assert(alignof(aligned) == 16, "as asked for");

__global__ void fetch(float* out, int n) {
    const int i = threadIdx.x;
    const float4 q = tex1Dfetch(quads, i / 4);
    const float of_quad[] = {q.x, q.y, q.z, q.w};
    out[i] = tex1Dfetch(numbers, i) * scale[1] + of_quad[i % 4];
    out[n + i] = tex1Dfetch(numbers, i - n) + tex1Dfetch(numbers, i + n) + tex1Dfetch(bytes, i);
}

__global__ void signs(int* out) {
    const char below = (char)(0xf0 + threadIdx.x);
    out[threadIdx.x] = below + letters[threadIdx.x % 4] + max(-1, 1u) + (int)min(2.0f, 1.5);
}

static unsigned wrong;

static void check(const char* what, bool good) {
    if (!good) printf("FAILED: %s\n", what);
    wrong += !good;
}

int main() {
    enum { N = 64 };
    float given[N], found[2 * N], *from, *out;
    const float factors[] = {0, 3};
    const char text[] = {1, 2, 3, 4};
    for (int i = 0; i < N; ++i) given[i] = 0.5f * i;
    check("a device by C", choose_device() == 0);
    check("a header of its own folder", of_inner() == INNER + 1);
    check("the larger", max(-1, 1u) == 0xffffffffu && max(1.5f, 2.0) == 2.0 && min(3l, 2l) == 2);
    check("an error by name", cudaErrorInvalidTexture == (cudaError_t)18 && cudaSuccess == CUDA_SUCCESS);
    check("its name", strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    cudaMalloc((void**)&from, sizeof given);
    cudaMalloc((void**)&out, sizeof found);
    cudaMemcpy(from, given, sizeof given, cudaMemcpyHostToDevice);
    check("a constant by its name", !cudaMemcpyToSymbol("scale", factors, sizeof factors, 0, cudaMemcpyHostToDevice));
    check("an array of characters", !cudaMemcpyToSymbol(letters, text, sizeof text));
    check("no such name", cudaMemcpyToSymbol("scales", factors, sizeof factors) == cudaErrorInvalidSymbol);

    size_t offset = 1;
    numbers.addressMode[0] = cudaAddressModeClamp;
    numbers.filterMode = cudaFilterModePoint;
    numbers.normalized = false;
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    const cudaChannelFormatDesc four = cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindFloat);
    const cudaChannelFormatDesc same = cudaCreateChannelDesc<float4>(), small = cudaCreateChannelDesc<uchar2>();
    check("formats", one.x == 32 && one.y == 0 && one.f == cudaChannelFormatKindFloat && same.w == four.w &&
                         small.y == 8 && small.z == 0 && small.f == cudaChannelFormatKindUnsigned);
    check("bound", !cudaBindTexture(&offset, &numbers, from, &one, sizeof given) && offset == 0);
    check("bound by its format", !cudaBindTexture(0, quads, from, four, sizeof given));
    check("bound by its type", !cudaBindTexture(0, bytes, from, sizeof given));
    check("bound to nothing", cudaBindTexture(0, bytes, nullptr, sizeof given) == cudaErrorInvalidValue);
    fetch << < 1, N >> > (out, N);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; ++i) {
        check("elements", found[i] == 4 * given[i]);
        check("beyond them", found[N + i] == ((const unsigned char*)given)[i]);
    }
    check("released", !cudaUnbindTexture(numbers));
    fetch<<<1, N>>>(out, N);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; ++i) check("elements of none", found[i] == given[i]);

    int* places = (int*)out;
    signs<<<1, 4>>>(places);
    int sums[4];
    cudaMemcpy(sums, places, sizeof sums, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; ++i) {
        const char below = (char)(0xf0 + i);
        check("signs", sums[i] == below + text[i] - 1 + 1 && below < 0);
    }
    cudaDeviceProp p;
    check("properties", !cudaGetDeviceProperties(&p, 0) && p.deviceOverlap == 1);
    printf("%u wrong\n", wrong);
    return 0;
}
