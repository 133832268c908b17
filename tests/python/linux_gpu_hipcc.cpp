/* SPDX-License-Identifier: Apache-2.0 */
/* In the manner of programs for hipcc: kernels in a file of C++ with HIP's own names, no header but one, pinned memory
 * as memory of the device: hipcc [FILE]. It prints FILE. */
#include <omp.h>

#include "hip/hip_runtime.h"

#define CALL(x) (assert_success((x), #x))

static int wrong;

static void check(const char* what, bool good) {
    if (!good) fprintf(stderr, "FAILED: %s\n", what);
    wrong += !good;
}
static void assert_success(hipError_t error, const char* what) { check(what, error == hipSuccess); }

template <class T>
__global__ void reversed(T* out, const T* in) {
    HIP_DYNAMIC_SHARED(T, tile)
    const int here = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    tile[hipThreadIdx_x] = in[here];
    __syncthreads();
    out[(hipGridDim_x - 1 - hipBlockIdx_x) * hipBlockDim_x + hipThreadIdx_x] = tile[hipBlockDim_x - 1 - hipThreadIdx_x];
}
__global__ void places(int* out) {
    const int width = hipGridDim_x * hipBlockDim_x, height = hipGridDim_y * hipBlockDim_y;
    const int x = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x, y = hipBlockIdx_y * hipBlockDim_y + hipThreadIdx_y,
              z = hipBlockIdx_z * hipBlockDim_z + hipThreadIdx_z;
    out[(z * height + y) * width + x] = hipGridDim_z * 1000 + x + 10 * y + 100 * z;
}
__global__ void before(const int* in, int* out) { *out = in[-(int)hipThreadIdx_x - 1]; }

static void pinned_memory() {
    const int n = 512;
    int *in, *out, *on_device_in, *on_device_out, *ordinary = (int*)malloc(n * sizeof(int));
    for (int i = 0; i < n; ++i) ordinary[i] = i;
    CALL(hipHostMalloc((void**)&in, n * sizeof(int), hipHostMallocDefault));
    CALL(hipHostMalloc((void**)&out, n * sizeof(int), hipHostMallocDefault));
    CALL(hipHostGetDevicePointer((void**)&on_device_in, in, 0));
    CALL(hipHostGetDevicePointer((void**)&on_device_out, out, 0));
    CALL(hipMemset(on_device_out, 0xff, n * sizeof(int)));
    check("it is set", out[0] == -1 && out[n - 1] == -1);
    CALL(hipMemcpy(on_device_in, ordinary, n * sizeof(int), hipMemcpyHostToDevice));
    hipLaunchKernelGGL(HIP_KERNEL_NAME(reversed<int>), dim3(n / 64), dim3(64), 64 * sizeof(int), 0, on_device_out,
                       on_device_in);
    CALL(hipMemcpy(ordinary, on_device_out, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) check("an element", ordinary[i] == n - 1 - i && out[i] == n - 1 - i);
    check("beyond it", hipMemcpy(on_device_in, ordinary, n * sizeof(int) + 1, hipMemcpyHostToDevice) != hipSuccess);
    CALL(hipFree(in)); /* as HIP's run-time takes it */
    check("it is gone", hipHostGetDevicePointer((void**)&on_device_in, in, 0) == hipErrorInvalidValue);
    CALL(hipHostFree(out));
    free(ordinary);
}

static void coordinates() {
    const int n = 8 * 6 * 4;
    int found[n], *out;
    CALL(hipMalloc(&out, sizeof found));
    hipLaunchKernelGGL(places, dim3(2, 3, 2), dim3(4, 2, 2), 0, 0, out);
    CALL(hipMemcpy(found, out, sizeof found, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) check("a place", found[i] == 2000 + i % 8 + 10 * (i / 8 % 6) + 100 * (i / 48));
    CALL(hipFree(out));
}

static void properties() {
    hipDeviceProp_t p;
    CALL(hipGetDeviceProperties(&p, 0));
    check("constants", p.totalConstMem >= 65536 && p.totalConstMem <= p.totalGlobalMem);
    check("rows", p.memPitch >= 1 << 20 && p.textureAlignment >= 256);
    check("what it can", p.canMapHostMemory && p.managedMemory && p.unifiedAddressing && p.concurrentKernels &&
                             p.deviceOverlap && p.asyncEngineCount);
    check("what it cannot", !p.ECCEnabled && !p.computeMode && !p.kernelExecTimeoutEnabled && !p.isMultiGpuBoard &&
                                !p.concurrentManagedAccess);
    check("its clock", p.clockInstructionRate == p.clockRate);
    printf("bus %d device %d domain %d\n", p.pciBusID, p.pciDeviceID, p.pciDomainID);
}

static void openmp() {
    const double start = omp_get_wtime();
    int sum = 0;
    omp_set_num_threads(4);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    omp_lock_t lock;
    omp_init_lock(&lock);
    check("a lock", omp_test_lock(&lock) && !omp_test_lock(&lock));
    omp_unset_lock(&lock);
    omp_set_lock(&lock);
    check("one thread", sum == 4950 && omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && !omp_in_parallel());
    check("its clock", omp_get_wtime() >= start && omp_get_wtick() > 0);
}

/* Words before an allocation: a fault, or there with FABRICVP_MARGIN. */
static void margin() {
    int *in, *out;
    CALL(hipMalloc(&in, sizeof *in));
    CALL(hipMalloc(&out, sizeof *out));
    before<<<1, 256>>>(in, out);
    printf("before it: %s\n", hipGetErrorString(hipDeviceSynchronize()));
    check("a copy from there", hipMemcpy(out, in - 1, sizeof *in, hipMemcpyDeviceToDevice) == hipErrorInvalidValue);
    CALL(hipFree(in));
    CALL(hipFree(out));
}

int main(int argc, char** argv) {
    char text[64] = "";
    std::unique_ptr<int> owned(new int(std::max(2, 3)));
    std::shared_ptr<int> shared =
        std::make_shared<int>(std::abs(-4)); /* its header knows an attribute by CUDA's word */
    check("headers", *owned + *shared + (int)strlen("abc") + (int)sqrt(4.0) == 12);
    coordinates();
    pinned_memory();
    properties();
    openmp();
    margin();
    if (FILE* file = argc > 1 ? fopen(argv[1], "r") : nullptr) {
        fputs(fgets(text, sizeof text, file), stdout);
        fclose(file);
    }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
