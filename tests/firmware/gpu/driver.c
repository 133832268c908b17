/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include "drivers/gpu/images.h"
#include "lib/heap.h"
#include "lib/machine.h"

enum { GROUP = 64 };

struct gpu_node node;
static gpu_address image_at, output;

void driver_start(void) {
    static struct pci_host host;
    if (!pci_start(&host) || !gpu_start(&node, &host) || !node.count) panic("no GPU");
    const struct image* image = find_image("bad");
    image_at = gpu_load_image(&node, image->start, image->bytes);
    output = gpu_allocate_on(&node, 0, GPU_PAGE);
}

struct gpu_kernel driver_kernel(const char* name) {
    const struct image* image = find_image("bad");
    const struct gpu_kernel k = gpu_find_kernel(&node, image->start, image->bytes, image_at, name);
    if (!k.object) panic("no kernel %s", name);
    return k;
}

uint64_t driver_launch(struct gpu_queue_handle* queue, const char* kernel, unsigned groups, uint64_t at,
                       uint64_t lane) {
    const struct gpu_grid grid = {.items = {GROUP * groups, 1, 1}, .group = {GROUP, 1, 1}};
    const struct bad_arguments arguments = {at, lane};
    return gpu_dispatch(queue, driver_kernel(kernel), &grid, &arguments, sizeof arguments);
}

const char* driver_works(struct gpu_queue_handle* queue) {
    enum { ITEMS = 4 * GROUP };
    static uint32_t seen[ITEMS];
    memset(seen, 0, sizeof seen);
    gpu_write(&node, output, seen, sizeof seen);
    if (gpu_wait(queue, driver_launch(queue, "good", ITEMS / GROUP, output, 0))) return "FAILED";
    gpu_read(&node, seen, output, sizeof seen);
    for (unsigned i = 0; i < ITEMS; ++i)
        if (seen[i] != 3 * i + 1) return "FAILED";
    return "ok";
}

void* driver_pages(unsigned count) {
    void* p = heap_allocate_aligned((size_t)count * GPU_PAGE, GPU_PAGE);
    if (!p) panic("no memory");
    memset(p, 0, (size_t)count * GPU_PAGE);
    return p;
}
