/* SPDX-License-Identifier: Apache-2.0 */
/* GPU applications: each makes its input, runs its kernels, and checks the result against a reference that the host
 * computes in its own way. */
#ifndef FABRICVP_PROGRAMS_APPS_APP_H
#define FABRICVP_PROGRAMS_APPS_APP_H

#include "abi/apps.h"
#include "drivers/gpu/gpu.h"
#include "drivers/gpu/grid.h"
#include "drivers/gpu/placement.h"
#include "gpu/kernels/digest.h"
#include "gpu/kernels/fill.h"

struct app {
    struct gpu_node* node;
    struct gpu_queue_handle* queue; /* one a GPU */
    struct gpu_queue_handle* alone; /* not NULL: all buffers and grids go to this GPU, and app_join() waits for them */
    uint64_t size;                  /* what the user asked for; its meaning is in abi/apps.h */
    const char* line;               /* the command line from the application's name on */
    uint64_t random;                /* state of app_random() */
    enum gpu_placement_policy placement;
    enum gpu_dispatch_policy dispatch;
    uint64_t began, measured; /* ticks of the timer between app_measure_begin() and _end() */
    bool measures;            /* between those: no kernel is loaded there */
    bool declares;            /* what is declared for LASP is printed or replaced (declared.h) */
    bool profiling_pass;      /* this pass only records the first touch of each page */
    bool failed;              /* a kernel faulted */
    unsigned fault;           /* the last one's enum gpu_fault, or GPU_TIMED_OUT */
};

/* Every application is such a function. \returns true if the result is right */
typedef bool (*app_function)(struct app* app);

/* What an option of the application in abi/apps.h stands at; panics if it has no such option. */
double app_option(struct app* app, const char* key);
bool app_has_option(const struct app* app, const char* key);
/* Whether those on the line from an application's name on are in range; otherwise the console tells which is not. */
bool app_options_are_valid(const char* line);
/* Refuses options that the application at the begin of the line does not have. */
void app_check_keys(const char* line);

/* A kernel, from the image of its name that is linked into the program; panics if there is none. */
struct gpu_kernel app_kernel(struct app* app, const char* name);
/* Device memory, spread over all GPUs as the user asked; what is known of its use counts for LASP. */
gpu_address app_buffer(struct app* app, uint64_t bytes);
gpu_address app_buffer_as(struct app* app, uint64_t bytes, enum gpu_locality locality, uint64_t pitch);
/* Copies from memory of the host to device memory, and back. */
void app_upload(struct app* app, gpu_address to, const void* from, uint64_t bytes);
gpu_address app_uploaded(struct app* app, const void* from, uint64_t bytes); /* into a buffer of its own */
void app_download(struct app* app, void* to, gpu_address from, uint64_t bytes);
/* Page-aligned host memory, zeroed. */
void* app_host(struct app* app, uint64_t bytes);

/* Runs a grid, spread over all GPUs as the user asked, to its end. \returns false if it faulted */
bool app_run(struct app* app, struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments,
             uint32_t bytes);
/* Waits for what app_run() has queued on each GPU by itself (`alone`). \returns false if a kernel faulted */
bool app_join(struct app* app);
/* Waits for a packet. \returns 0, or why it failed, which the console tells */
unsigned app_wait(struct app* app, struct gpu_queue_handle* queue, uint64_t packet);
/* One-dimensional. */
bool app_run_1d(struct app* app, struct gpu_kernel kernel, uint64_t items, uint32_t group, const void* arguments,
                uint32_t bytes);

/* Around what is measured: statistics in between are kept under the label "kernels". TLBs and walk caches are empty
 * when it begins, and the kernels that are named are loaded. */
#define app_measure_begin(app, ...) app_measure_begin_with(app, (const char* const[]){__VA_ARGS__, NULL})
void app_measure_begin_with(struct app* app, const char* const* kernels);
void app_measure_end(struct app* app);

/* Input made by the lanes themselves (gpu/kernels/fill.h). */
void app_fill(struct app* app, gpu_address to, uint64_t words, enum fill_kind kind, uint64_t seed, uint32_t range,
              float scale);

/* Compares device memory with what the host expects, without fetching it: by digests that lanes make. For all words in
 * order, call app_expect(); then app_check_end(). */
struct app_check {
    gpu_address at;
    uint64_t words, next;
    struct digest *seen, expected;
    bool wrong;
};
void app_check_begin(struct app* app, struct app_check* check, gpu_address at, uint64_t words);
void app_check_block(struct app_check* check); /* for app_expect() */
static inline void app_expect(struct app_check* check, uint32_t word) {
    const uint64_t place = check->next++ % DIGEST_BLOCK + 1;
    check->expected.sum += word;
    check->expected.weighted += word * place;
    if (place == DIGEST_BLOCK) app_check_block(check);
}
static inline void app_expect_float(struct app_check* check, float value) {
    uint32_t word;
    memcpy(&word, &value, 4);
    app_expect(check, word);
}
/* \returns false with a line on the console if a word was wrong or is missing */
bool app_check_end(struct app* app, struct app_check* check, const char* what);

/* The same for an array that the host holds. */
bool app_doubles_are(struct app* app, gpu_address at, const double* expected, uint64_t count, const char* what);

/* Every seed gives inputs of its own, and 1 those that stand without one. To be called before anything is drawn. */
void app_set_seed(struct app* app, uint64_t seed);
/* Deterministic random numbers (splitmix64). */
uint64_t app_random(struct app* app);
/* 0 ≤ x < 1 with 24 bits. */
float app_random_float(struct app* app);

/* Says on the console which element was wrong, for the first few. \returns false */
bool app_mismatch(struct app* app, const char* what, uint64_t index);

#endif
