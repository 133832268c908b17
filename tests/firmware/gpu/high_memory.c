/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory up to its last byte: tables, images, rings and buffers lie at its end, and kernels of every GPU work on
 * every memory that they reach. */
#include "driver.h"
#include "drivers/gpu/images.h"
#include "lib/machine.h"
#include "lib/mmio.h"

enum { AT_THE_END = 64 << 20, ITEMS = 512 };

static struct pci_host host;

static struct gpu_kernel load(void) {
    static struct gpu_kernel good;
    const struct image* image = find_image("bad");
    good =
        gpu_find_kernel(&node, image->start, image->bytes, gpu_load_image(&node, image->start, image->bytes), "good");
    if (!good.object) panic("no kernel");
    return good;
}

static bool worked(struct gpu_queue_handle* q, struct gpu_kernel kernel, unsigned where) {
    static uint32_t seen[ITEMS];
    const gpu_address at = gpu_allocate_on(&node, where, sizeof seen);
    if ((gpu_physical(&node, at) & GPU_PA_OFFSET_MASK) < node.gpu[where].memory_bytes - AT_THE_END) return false;
    const struct gpu_grid grid = {.items = {ITEMS, 1, 1}, .group = {64, 1, 1}};
    const struct bad_arguments arguments = {at, 0};
    if (gpu_wait(q, gpu_dispatch(q, kernel, &grid, &arguments, sizeof arguments))) return false;
    gpu_read(&node, seen, at, sizeof seen);
    for (unsigned i = 0; i < ITEMS; ++i)
        if (seen[i] != 3 * i + 1) return false;
    return true;
}

/* The last word of the memory is there; the BAR has no memory behind it. */
static bool ends_where_it_says(const struct gpu* g) {
    const uint64_t pattern = UINT64_C(0x0123456789abcdef) + g->index;
    const uintptr_t end = g->memory + g->memory_bytes;
    mmio_write64(g->memory, ~pattern);
    mmio_write64(end - 8, pattern);
    if (mmio_read64(end - 8) != pattern || mmio_read64(g->memory) != ~pattern) return false;
    if (!(g->memory_bytes & (g->memory_bytes - 1))) return true;
    mmio_write64(end, pattern);
    return mmio_read64(end) != pattern && mmio_read64(end - 8) == pattern && mmio_read64(g->memory) == ~pattern;
}

int main(void) {
    if (!pci_start(&host) || !gpu_start(&node, &host)) panic("no GPU");
    gpu_print(&node);
    for (unsigned i = 0; i < node.count; ++i) {
        console_printf("gpu%u       BAR %s 4 GiB, its end %s\n", i, node.gpu[i].memory >> 32 ? "above" : "below",
                       ends_where_it_says(&node.gpu[i]) ? "ok" : "FAILED");
        node.gpu[i].free = node.gpu[i].memory_bytes - AT_THE_END;
    }
    const struct gpu_kernel kernel = load();
    for (unsigned i = 0; i < node.count; ++i) {
        struct gpu_queue_handle q;
        gpu_create_queue(&q, &node, i, 16, GPU_SMALL_SCRATCH, 1);
        bool good = true;
        for (unsigned where = 0; where < node.count; ++where) good = worked(&q, kernel, where) && good;
        console_printf("gpu%u       works at the end of %u memories: %s\n", i, node.count, good ? "ok" : "FAILED");
    }
    return 0;
}
