/* SPDX-License-Identifier: Apache-2.0 */
/* How a program waits for a kernel that runs long: wait HOW ROUNDS [LOOPS]. HOW is spin, yield, block (flags of the
 * device) or event (a blocking event). Prints what launches and waits took, in microseconds, and how long the process
 * ran in them. */
#include <hip/hip_runtime.h>
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void work(unsigned* p, unsigned loops) {
    unsigned x = threadIdx.x;
    for (unsigned i = 0; i < loops; ++i) x = x * 1664525 + 1013904223;
    p[threadIdx.x] = x;
}

static double now_us() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) * 1e6 + double(t.tv_nsec) / 1e3;
}

static double used_us() {
    rusage u;
    getrusage(RUSAGE_SELF, &u);
    return double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + double(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static unsigned expected(unsigned lane, unsigned loops) {
    for (unsigned i = 0; i < loops; ++i) lane = lane * 1664525 + 1013904223;
    return lane;
}

int main(int argc, char** argv) {
    const std::string how = argc > 1 ? argv[1] : "spin";
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    const unsigned loops = argc > 3 ? (unsigned)atol(argv[3]) : 100000;
    const unsigned flags = how == "block"   ? hipDeviceScheduleBlockingSync
                           : how == "yield" ? hipDeviceScheduleYield
                                            : hipDeviceScheduleAuto;
    unsigned *p, found[64], wrong = 0;
    hipEvent_t begin, end;
    if (hipSetDeviceFlags(flags) || hipMalloc(&p, sizeof found) || hipEventCreate(&begin) ||
        hipEventCreateWithFlags(&end, how == "event" ? hipEventBlockingSync : hipEventDefault))
        return puts("no GPU");
    work<<<1, 64>>>(p, 1);
    hipDeviceSynchronize();
    double waited = 0, kernels = 0, busy = 0;
    for (int round = 0; round < rounds; ++round) {
        float ms = 0;
        const double used = used_us(), start = now_us();
        hipEventRecord(begin, nullptr);
        work<<<1, 64>>>(p, loops + (unsigned)round);
        hipEventRecord(end, nullptr);
        const hipError_t error = how == "event" ? hipEventSynchronize(end) : hipDeviceSynchronize();
        if (error) return printf("%s: %s\n", how.c_str(), hipGetErrorName(error));
        waited += now_us() - start;
        busy += used_us() - used;
        hipEventElapsedTime(&ms, begin, end);
        kernels += 1000 * ms;
        hipMemcpy(found, p, sizeof found, hipMemcpyDeviceToHost);
        wrong += found[37] != expected(37, loops + (unsigned)round);
    }
    printf("%s: %u wrong, kernels %.1f us, beside them %.1f us, busy %.0f us\n", how.c_str(), wrong, kernels / rounds,
           (waited - kernels) / rounds, busy / rounds);
    return wrong != 0;
}
