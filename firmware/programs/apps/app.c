/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/apps/app.h"

#include "gpu/kernels/arguments.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/timer.h"
#include "programs/apps/declared.h"

struct gpu_kernel app_kernel(struct app* app, const char* name) {
    const struct gpu_image* const before = app->node->images;
    const struct gpu_kernel kernel = gpu_linked_kernel(app->node, name, name);
    if (app->measures && app->node->images != before) panic("kernel '%s' is loaded while time is taken", name);
    if (app->declares) declared_kernel(kernel, name);
    return kernel;
}

gpu_address app_buffer_as(struct app* app, uint64_t bytes, enum gpu_locality locality, uint64_t pitch) {
    if (app->alone) return gpu_allocate_on(app->node, (unsigned)(app->alone - app->queue), bytes);
    struct gpu_layout layout = {locality, pitch};
    if (app->declares) layout = declared_layout(layout);
    const gpu_address at = gpu_allocate_by(app->node, bytes, app->placement, layout);
    if (app->declares) declared_buffer(at, bytes, layout);
    return at;
}

gpu_address app_buffer(struct app* app, uint64_t bytes) { return app_buffer_as(app, bytes, GPU_UNCLASSIFIED, 0); }

void* app_host(struct app* app, uint64_t bytes) {
    (void)app;
    const uint64_t whole = (bytes + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1);
    void* p = heap_allocate_aligned(whole, GPU_PAGE);
    if (!p) panic("no host memory for %lu bytes", bytes);
    memset(p, 0, whole);
    return p;
}

unsigned app_wait(struct app* app, struct gpu_queue_handle* queue, uint64_t packet) {
    const unsigned fault = gpu_wait(queue, packet);
    if (!fault) return 0;
    console_printf("gpu%u: a kernel ended with '%s'\n", queue->gpu->index, gpu_fault_name(fault));
    gpu_print_faults(app->node, queue->gpu);
    app->failed = true;
    return app->fault = fault;
}

bool app_run(struct app* app, struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments,
             uint32_t bytes) {
    const unsigned gpus = app->node->count;
    if (app->alone) {
        gpu_dispatch(app->alone, kernel, grid, arguments, bytes);
        return !app->failed;
    }
    uint64_t packet[MAX_GPUS];
    bool used[MAX_GPUS];
    if (app->declares) grid = declared_launch(kernel, grid, arguments, bytes);
    for (unsigned g = 0; g < gpus; ++g) {
        struct gpu_grid part;
        used[g] = gpu_grid_part(&part, grid, app->dispatch, g, gpus, app->queue[g].gpu->compute_units);
        if (used[g]) packet[g] = gpu_dispatch(&app->queue[g], kernel, &part, arguments, bytes);
    }
    for (unsigned g = 0; g < gpus && app->placement == GPU_PLACE_FIRST_TOUCH; ++g)
        while (used[g] && gpu_signal(&app->queue[g], packet[g])->value > 0) gpu_handle_page_requests(app->node);
    for (unsigned g = 0; g < gpus; ++g)
        if (used[g]) app_wait(app, &app->queue[g], packet[g]);
    return !app->failed;
}

bool app_join(struct app* app) {
    for (unsigned g = 0; g < app->node->count; ++g) {
        struct gpu_queue_handle* q = &app->queue[g];
        if (q->next) app_wait(app, q, q->next - 1); /* packets of a queue run one after the other */
    }
    return !app->failed;
}

bool app_run_1d(struct app* app, struct gpu_kernel kernel, uint64_t items, uint32_t group, const void* arguments,
                uint32_t bytes) {
    if (items > UINT32_MAX) {
        console_printf("a grid of %lu work-items is larger than a packet can say\n", items);
        app->failed = true;
        return false;
    }
    const struct gpu_grid grid = {.items = {(uint32_t)items, 1, 1}, .group = {(uint16_t)group, 1, 1}};
    return app_run(app, kernel, &grid, arguments, bytes);
}

static void note_copy(struct app* app, const char* what, unsigned fault) {
    if (!fault) return;
    console_printf("%s ended with '%s'\n", what, gpu_fault_name(fault));
    app->failed = true;
    app->fault = fault;
}

void app_upload(struct app* app, gpu_address to, const void* from, uint64_t bytes) {
    note_copy(app, "an upload", gpu_copy_to(app->node, to, from, bytes));
}

gpu_address app_uploaded(struct app* app, const void* from, uint64_t bytes) {
    const gpu_address to = app_buffer(app, bytes);
    app_upload(app, to, from, bytes);
    return to;
}

void app_download(struct app* app, void* to, gpu_address from, uint64_t bytes) {
    note_copy(app, "a download", gpu_copy_from(app->node, to, from, bytes));
}

void app_fill(struct app* app, gpu_address to, uint64_t words, enum fill_kind kind, uint64_t seed, uint32_t range,
              float scale) {
    const bool random = kind != FILL_CONSTANT && kind != FILL_INDEX64;
    const struct fill_arguments arguments = {to, words, random ? random_for_lanes(seed) : seed, kind, range, scale};
    app_run_1d(app, app_kernel(app, "fill"), (words + 1023) / 1024 * 256, 256, &arguments, sizeof arguments);
}

/* Filling buffers must not warm the TLBs and walk caches of what is measured. */
static void invalidate_tlbs(struct app* app) {
    for (unsigned g = 0; g < app->node->count; ++g) {
        const uint64_t packet[8] = {(uint64_t)AQL_VENDOR_INVALIDATE_TLB << 16};
        gpu_wait(&app->queue[g], gpu_submit(&app->queue[g], packet, AQL_TYPE_VENDOR));
    }
}

void app_measure_begin_with(struct app* app, const char* const* kernels) {
    for (; *kernels; ++kernels) gpu_linked_kernel(app->node, *kernels, *kernels);
    if (app->placement == GPU_PLACE_FIRST_TOUCH) gpu_unmap_first_touch(app->node);
    invalidate_tlbs(app);
    if (app->declares) declared_measure(true);
    app->measures = true;
    app->began = timer_now();
    if (!app->profiling_pass) region_begin("kernels");
}

void app_measure_end(struct app* app) {
    app->measures = false;
    if (app->declares) declared_measure(false);
    if (!app->profiling_pass) region_end();
    app->measured += timer_now() - app->began;
    if (app->profiling_pass) gpu_record_first_touch(app->node);
}

void app_check_begin(struct app* app, struct app_check* check, gpu_address at, uint64_t words) {
    const uint64_t blocks = (words + DIGEST_BLOCK - 1) / DIGEST_BLOCK, bytes = blocks * sizeof(struct digest);
    *check = (struct app_check){.at = at, .words = words, .seen = app_host(app, bytes)};
    const struct digest_arguments arguments = {at, app_buffer(app, bytes), words};
    app_run_1d(app, app_kernel(app, "digest"), blocks * DIGEST_GROUP, DIGEST_GROUP, &arguments, sizeof arguments);
    app_download(app, check->seen, arguments.to, bytes);
}

void app_check_block(struct app_check* check) {
    const uint64_t block = (check->next - 1) / DIGEST_BLOCK;
    const struct digest* seen = &check->seen[block];
    if ((seen->sum != check->expected.sum || seen->weighted != check->expected.weighted) && !check->wrong) {
        check->wrong = true;
        console_printf("words %lu to %lu: ", block * DIGEST_BLOCK, check->next - 1);
    }
    check->expected = (struct digest){0, 0};
}

bool app_check_end(struct app* app, struct app_check* check, const char* what) {
    if (check->next % DIGEST_BLOCK) app_check_block(check);
    return (!check->wrong && check->next == check->words) || app_mismatch(app, what, check->at);
}

bool app_doubles_are(struct app* app, gpu_address at, const double* expected, uint64_t count, const char* what) {
    struct app_check check;
    app_check_begin(app, &check, at, 2 * count);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t words[2];
        memcpy(words, &expected[i], sizeof words);
        app_expect(&check, words[0]);
        app_expect(&check, words[1]);
    }
    return app_check_end(app, &check, what);
}

uint64_t RANDOM_SHIFT;

void app_set_seed(struct app* app, uint64_t seed) {
    RANDOM_SHIFT = (seed - 1) * 0xd1342543de82ef95;
    app->random = 1 + RANDOM_SHIFT;
}

uint64_t app_random(struct app* app) {
    uint64_t z = app->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

float app_random_float(struct app* app) { return (float)(app_random(app) >> 40) * 0x1p-24f; }

bool app_mismatch(struct app* app, const char* what, uint64_t index) {
    (void)app;
    console_printf("%s %lu is wrong\n", what, index);
    return false;
}
