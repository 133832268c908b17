/* SPDX-License-Identifier: Apache-2.0 */
/* Host code in HIP, on bare metal: the page "Host programs in HIP and OpenCL" lists the calls that are there. */
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 10000, THREADS = 256 };

static void check(hipError_t error, const char* what) {
    if (error == hipSuccess) return;
    printf("%s: %s\n", what, hipGetErrorString(error));
    exit(EXIT_FAILURE);
}

int main(void) {
    static float in[N], out[N];
    float *device_in, *device_out, milliseconds;
    int n = N, wrong = 0;
    hipModule_t module;
    hipFunction_t triple;
    hipEvent_t start, stop;
    for (int i = 0; i < N; ++i) in[i] = (float)i / 7;

    check(hipMalloc((void**)&device_in, sizeof in), "hipMalloc");
    check(hipMalloc((void**)&device_out, sizeof out), "hipMalloc");
    check(hipModuleLoad(&module, "kernels.elf"), "hipModuleLoad"); /* inside of this program */
    check(hipModuleGetFunction(&triple, module, "triple"), "hipModuleGetFunction");
    check(hipEventCreate(&start), "hipEventCreate");
    check(hipEventCreate(&stop), "hipEventCreate");

    void* arguments[] = {&device_in, &device_out, &n};
    check(hipMemcpy(device_in, in, sizeof in, hipMemcpyHostToDevice), "hipMemcpy");
    check(hipEventRecord(start, NULL), "hipEventRecord");
    check(hipModuleLaunchKernel(triple, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL),
          "hipModuleLaunchKernel");
    check(hipEventRecord(stop, NULL), "hipEventRecord");
    check(hipMemcpy(out, device_out, sizeof out, hipMemcpyDeviceToHost), "hipMemcpy");
    check(hipEventElapsedTime(&milliseconds, start, stop), "hipEventElapsedTime");

    for (int i = 0; i < N; ++i) wrong += out[i] != 3 * in[i];
    printf("%d threads in %.1f us\n", N, 1000 * (double)milliseconds);
    printf("the result is %s\n", wrong ? "WRONG" : "right");
    return wrong != 0;
}
