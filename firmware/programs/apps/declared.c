/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/apps/declared.h"

#include "lib/command_line.h"
#include "lib/console.h"
#include "lib/libc.h"
#include "lib/machine.h"

enum { MAX_DECLARED_KERNELS = 64, MAX_DECLARED_BUFFERS = 256 };
static struct {
    gpu_address object;
    const char* name;
    bool launched;
} kernels[MAX_DECLARED_KERNELS];
static struct {
    gpu_address at;
    uint64_t bytes;
    struct gpu_layout layout;
} buffers[MAX_DECLARED_BUFFERS];
static unsigned kernel_count, buffer_count;
static bool measuring, printing;
static const char *places, *schedules;

bool declared_begin(const char* line, bool print) {
    kernel_count = buffer_count = 0;
    printing = print;
    places = command_line_value(line, "places");
    schedules = command_line_value(line, "schedules");
    return printing || places || schedules;
}

static uint64_t digits(const char** at) {
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) value = 10 * value + (uint64_t)(**at - '0');
    if (**at == ':' || **at == ',') ++*at;
    return value;
}

static bool ends(const char* at) { return !*at || *at == ' '; }

struct gpu_layout declared_layout(struct gpu_layout layout) {
    if (!places) return layout;
    for (const char* at = places; !ends(at);) {
        const char* const before = at;
        const uint64_t number = digits(&at), row = digits(&at), pitch = digits(&at);
        if (number == buffer_count) return (struct gpu_layout){gpu_locality_of_row((unsigned)row), pitch, 0};
        if (at == before) panic("places=%s: must be NUMBER:ROW:PITCH,…", places);
    }
    return (struct gpu_layout){GPU_UNCLASSIFIED, 0, 0};
}

/* The grid with the schedule of the kernel's name. */
static const struct gpu_grid* scheduled(const char* name, const struct gpu_grid* grid) {
    static struct gpu_grid own;
    own = *grid;
    own.binding = GPU_BIND_KERNEL;
    const size_t length = strlen(name);
    for (const char* at = schedules; !ends(at);) {
        const bool found = !strncmp(at, name, length) && at[length] == ':';
        while (!ends(at) && *at != ':') ++at;
        if (ends(at)) panic("schedules=%s: must be KERNEL:BINDING:BATCH,…", schedules);
        ++at;
        const uint64_t binding = digits(&at), batch = digits(&at);
        if (!found) continue;
        if (binding > GPU_BIND_ALIGNED) panic("schedules=%s: there is no binding %lu", schedules, binding);
        own.binding = (enum gpu_binding)binding;
        own.batch = (uint32_t)batch;
    }
    return &own;
}

void declared_measure(bool on) { measuring = on; }

void declared_kernel(struct gpu_kernel kernel, const char* name) {
    for (unsigned i = 0; i < kernel_count; ++i)
        if (kernels[i].object == kernel.object) return;
    if (kernel_count == MAX_DECLARED_KERNELS) panic("declared=1: more than %u kernels", MAX_DECLARED_KERNELS);
    kernels[kernel_count].object = kernel.object;
    kernels[kernel_count].name = name;
    kernels[kernel_count++].launched = false;
}

void declared_buffer(gpu_address at, uint64_t bytes, struct gpu_layout layout) {
    if (buffer_count == MAX_DECLARED_BUFFERS) panic("declared=1: more than %u buffers", MAX_DECLARED_BUFFERS);
    buffers[buffer_count].at = at;
    buffers[buffer_count].bytes = bytes;
    buffers[buffer_count++].layout = layout;
}

static void print_buffer(uint32_t offset, gpu_address word) {
    static const char* const names[] = {"unclassified", "strided", "rows", "columns"};
    for (unsigned i = 0; i < buffer_count; ++i)
        if (word - buffers[i].at < buffers[i].bytes)
            console_printf(" %u=%s:%lu:%lu:%u", offset, names[buffers[i].layout.locality], buffers[i].layout.pitch,
                           buffers[i].bytes, i);
}

static void print_launch(const char* name, const struct gpu_grid* grid, const void* arguments, uint32_t bytes) {
    static const char* const bindings[] = {"kernel", "rows", "columns", "aligned"};
    const uint32_t* n = grid->items;
    const uint16_t* m = grid->group;
    console_printf("# declared kernel=%s items=%ux%ux%u group=%ux%ux%u binding=%s arguments=", name, n[0], n[1], n[2],
                   m[0], m[1], m[2], bindings[grid->binding]);
    uint64_t word;
    for (uint32_t at = 0; at < bytes; at += 8) {
        word = 0;
        memcpy(&word, (const uint8_t*)arguments + at, bytes - at < 8 ? bytes - at : 8);
        console_printf(at ? ",0x%lx" : "0x%lx", word);
    }
    for (uint32_t at = 0; at + 8 <= bytes; at += 8) {
        memcpy(&word, (const uint8_t*)arguments + at, 8);
        print_buffer(at, word);
    }
    console_printf("\n");
}

const struct gpu_grid* declared_launch(struct gpu_kernel kernel, const struct gpu_grid* grid, const void* arguments,
                                       uint32_t bytes) {
    unsigned i = 0;
    while (i < kernel_count && kernels[i].object != kernel.object) ++i;
    if (!measuring || i == kernel_count) return grid;
    if (printing && !kernels[i].launched) print_launch(kernels[i].name, grid, arguments, bytes);
    kernels[i].launched = true;
    return schedules ? scheduled(kernels[i].name, grid) : grid;
}
