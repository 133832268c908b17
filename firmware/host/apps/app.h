/* SPDX-License-Identifier: Apache-2.0 */
/* GPU applications: each makes its input, runs its kernels, and checks the result against a reference that the host
 * computes in its own way. */
#ifndef FABRICVP_HOST_APPS_APP_H
#define FABRICVP_HOST_APPS_APP_H

#include "abi/apps.h"
#include "host/gpu/gpu.h"

struct app {
    struct gpu_node* node;
    struct gpu_queue_handle queue[GPU_MOST]; /* one a GPU */
    uint64_t size;                           /* what the user asked for; its meaning is in abi/apps.h */
    uint64_t random;                         /* state of app_random() */
    bool failed;                             /* a kernel faulted */
};

/* Every application is such a function. \returns true if the result is right */
typedef bool (*app_function)(struct app* app);

/* A kernel, from the image of its name that is linked into the program; panics if there is none. */
struct gpu_kernel app_kernel(struct app* app, const char* name);
/* Device memory, spread over all GPUs. */
gpu_address app_buffer(struct app* app, uint64_t bytes);
/* The same with the contents of host memory, and back; by a copy kernel, since the host's own stores are slow. Host
 * memory must come from app_host(). */
void app_upload(struct app* app, gpu_address to, const void* from, uint64_t bytes);
void app_download(struct app* app, void* to, gpu_address from, uint64_t bytes);
/* Page-aligned host memory, zeroed. */
void* app_host(struct app* app, uint64_t bytes);

/* Runs a grid, spread over all GPUs in contiguous parts, to its end. \returns false if it faulted */
bool app_run(struct app* app, struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments, uint32_t bytes);
/* One-dimensional. */
bool app_run_1d(struct app* app, struct gpu_kernel kernel, uint64_t items, uint32_t group, const void* arguments, uint32_t bytes);

/* Deterministic random numbers (splitmix64). */
uint64_t app_random(struct app* app);
/* 0 ≤ x < 1 with 24 bits. */
float app_random_float(struct app* app);

/* Says on the console which element was wrong, for the first few. \returns false */
bool app_mismatch(struct app* app, const char* what, uint64_t index);

#endif
