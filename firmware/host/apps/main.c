/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one GPU application: `app=NAME` and `size=N` stand on the kernel command line. */
#include "host/apps/app.h"

#include "gpu/kernels/arguments.h"
#include "host/console.h"
#include "host/csr.h"
#include "host/gpu/images.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/region.h"
#include "host/timer.h"

enum { MOST_KERNELS = 32, QUEUE_PACKETS = 64, COPY_GROUP = 256, COPY_BYTES = 16 };

#define DECLARE(name, size, unit, bytes, help) bool app_##name(struct app* app);
GPU_APPS(DECLARE)

static const struct {
    const char* name;
    app_function run;
    uint64_t size;
} apps[] = {
#define ROW(name, size, unit, bytes, help) {#name, app_##name, size},
    GPU_APPS(ROW)};

/* ---- what applications use ---- */

struct gpu_kernel app_kernel(struct app* app, const char* name) {
    static struct {
        const struct image* image;
        struct gpu_kernel kernel;
    } loaded[MOST_KERNELS];
    const struct image* image = find_image(name);
    if (!image) panic("no kernel '%s'", name);
    unsigned n = 0;
    for (; n < MOST_KERNELS && loaded[n].image; ++n)
        if (loaded[n].image == image) return loaded[n].kernel;
    const gpu_address at = gpu_load_image(app->node, image->start, image->bytes);
    const struct gpu_kernel kernel = at ? gpu_find_kernel(image->start, at, name) : (struct gpu_kernel){0, 0};
    if (!kernel.object || n == MOST_KERNELS) panic("kernel '%s' is malformed", name);
    loaded[n].image = image;
    return loaded[n].kernel = kernel;
}

gpu_address app_buffer(struct app* app, uint64_t bytes) { return gpu_allocate(app->node, bytes, gpu_place_contiguous, NULL); }

void* app_host(struct app* app, uint64_t bytes) {
    (void)app;
    const uint64_t whole = (bytes + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1);
    void* p = heap_allocate_aligned(whole, GPU_PAGE);
    if (!p) panic("no host memory for %lu bytes", bytes);
    memset(p, 0, whole);
    return p;
}

bool app_run(struct app* app, struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments, uint32_t bytes) {
    uint64_t groups = 1;
    for (unsigned d = 0; d < 3; ++d)
        if (grid->items[d]) groups *= (grid->items[d] + (grid->group[d] ? grid->group[d] : 1) - 1) / (grid->group[d] ? grid->group[d] : 1);
    const unsigned gpus = app->node->count;
    uint64_t packet[GPU_MOST];
    bool used[GPU_MOST];
    for (unsigned g = 0; g < gpus; ++g) {
        struct gpu_grid part = *grid;
        part.first_group = (uint32_t)(groups * g / gpus);
        part.groups = (uint32_t)(groups * (g + 1) / gpus) - part.first_group;
        used[g] = part.groups != 0;
        if (used[g]) packet[g] = gpu_dispatch(&app->queue[g], kernel, &part, arguments, bytes);
    }
    for (unsigned g = 0; g < gpus; ++g) {
        if (!used[g]) continue;
        const unsigned fault = gpu_wait(&app->queue[g], packet[g]);
        if (!fault) continue;
        console_printf("gpu%u: a kernel ended with '%s'\n", g, gpu_fault_name(fault));
        gpu_print_faults(app->queue[g].gpu);
        app->failed = true;
    }
    return !app->failed;
}

bool app_run_1d(struct app* app, struct gpu_kernel kernel, uint64_t items, uint32_t group, const void* arguments, uint32_t bytes) {
    const struct gpu_grid grid = {.items = {(uint32_t)items, 1, 1}, .group = {(uint16_t)group, 1, 1}};
    return app_run(app, kernel, &grid, arguments, bytes);
}

static void copy(struct app* app, gpu_address to, gpu_address from, uint64_t bytes) {
    const struct copy_arguments arguments = {to, from, bytes};
    const uint64_t group_bytes = COPY_BYTES * COPY_GROUP, items = (bytes + group_bytes - 1) / group_bytes * COPY_GROUP;
    app_run_1d(app, app_kernel(app, "copy"), items, COPY_GROUP, &arguments, sizeof arguments);
}

void app_upload(struct app* app, gpu_address to, const void* from, uint64_t bytes) {
    copy(app, to, gpu_map_host(app->node, (void*)from, bytes, false), bytes);
}

void app_download(struct app* app, void* to, gpu_address from, uint64_t bytes) {
    copy(app, gpu_map_host(app->node, to, bytes, true), from, bytes);
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

/* ---- the program ---- */

/* Value of `key=` on the command line, NULL if absent. */
static const char* argument(const char* key) {
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    const size_t length = strlen(key);
    for (; line && *line; ++line)
        if (strncmp(line, key, length) == 0 && line[length] == '=') return line + length + 1;
    return NULL;
}

static bool word_is(const char* word, const char* name) {
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == 0 || word[length] == ' ');
}

static uint64_t number(const char* text, uint64_t otherwise) {
    if (!text) return otherwise;
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

static bool start(struct app* app, struct pci_host* host, struct gpu_node* node) {
    if (!pci_start(host)) {
        console_printf("no PCIe host bridge\n");
        return false;
    }
    if (!gpu_start(node, host)) return false;
    if (!node->count) {
        console_printf("no GPU\n");
        return false;
    }
    gpu_print(node);
    app->node = node;
    for (unsigned g = 0; g < node->count; ++g) gpu_create_queue(&app->queue[g], node, g, QUEUE_PACKETS, false, 1);
    return true;
}

int main(void) {
    static struct app app;
    static struct pci_host host;
    static struct gpu_node node;
    csr_set(mstatus, 1 << 13); /* floating point on */
    const char* name = argument("app");
    unsigned n = 0;
    while (n < sizeof apps / sizeof *apps && !(name && word_is(name, apps[n].name))) ++n;
    if (n == sizeof apps / sizeof *apps) {
        console_printf("say which application runs: app=NAME of");
        for (unsigned i = 0; i < n; ++i) console_printf(" %s", apps[i].name);
        console_printf("\n");
        return 1;
    }
    if (!start(&app, &host, &node)) return 1;
    app.size = number(argument("size"), apps[n].size);
    app.random = 1;
    const uint64_t begin = timer_now();
    const bool right = apps[n].run(&app) && !app.failed;
    console_printf("# %lu us\n", timer_microseconds(timer_now() - begin));
    console_printf("%-10s %s\n", apps[n].name, right ? "ok" : "FAILED");
    region_note(right ? "app ok" : "app wrong");
    return right ? 0 : 1;
}
