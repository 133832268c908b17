/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs and their memory. */
#include "drivers/gpu/shared.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/timer.h"
#include "runtime/compute.h"

static struct compute_device devices[MAX_GPUS];
static unsigned count;
static struct compute_memory* allocations;

static void start(void) {
    static struct pci_host host;
    static struct gpu_node all, alone[MAX_GPUS];
    if (!pci_start(&host) || !gpu_start(&all, &host)) return;
    const unsigned together = gpu_connected_count(&all);
    all.next = COMPUTE_DEVICE_ADDRESSES;
    for (unsigned i = 0; i < all.count; ++i) {
        struct gpu_node* node = &all;
        if (i >= together) {
            node = &alone[i];
            gpu_isolate(node, &all, i);
            node->next = COMPUTE_DEVICE_ADDRESSES + (i + 1) * COMPUTE_NODE_ADDRESSES;
        }
        devices[i] = (struct compute_device){node, &node->gpu[i], i, NULL, NULL};
        gpu_use_interrupts(devices[i].gpu, PCI_MSIX);
    }
    count = all.count;
    if (together < all.count) all.count = together;
}

unsigned compute_device_count(void) {
    static bool started;
    if (!started) {
        started = true;
        start();
    }
    return count;
}

struct compute_device* compute_device(unsigned index) {
    return index < compute_device_count() ? &devices[index] : NULL;
}

bool compute_reaches(const struct compute_device* one, const struct compute_device* other) {
    return one->node == other->node;
}

uint64_t compute_now_ns(void) {
    const uint64_t now = timer_now(), second = UINT64_C(1000000000);
    return now / machine.timebase * second + now % machine.timebase * second / machine.timebase;
}

__attribute__((weak)) uint64_t compute_margin(void) { return 0; }

struct compute_memory* compute_allocate(struct compute_device* d, uint64_t bytes) {
    struct gpu* g = d->gpu;
    const uint64_t margin = compute_margin(), wanted = bytes + 2 * margin;
    const bool large = bytes >= GPU_LARGE_PAGE && gpu_has_space(g, wanted, GPU_LARGE_PAGE);
    if (!bytes || wanted < bytes || (!large && !gpu_has_space(g, wanted, GPU_PAGE))) return NULL;
    struct compute_memory* m = heap_allocate(sizeof *m);
    if (!m) return NULL;
    const uint64_t mapped = (wanted + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1);
    const gpu_address at =
        large ? gpu_allocate_large(d->node, d->index, mapped) : gpu_allocate_on(d->node, d->index, mapped);
    gpu_shared_map(d->node, at, mapped);
    *m = (struct compute_memory){at + margin, bytes, mapped, d, false, allocations};
    return allocations = m;
}

struct compute_memory* compute_track(struct compute_device* d, gpu_address at, uint64_t bytes) {
    struct compute_memory* m = heap_allocate(sizeof *m);
    if (!m) return NULL;
    *m = (struct compute_memory){at, bytes, bytes, d, true, allocations};
    return allocations = m;
}

void compute_untrack(struct compute_memory* m) {
    struct compute_memory** at = &allocations;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    heap_free(m);
}

void compute_free(struct compute_memory* m) {
    for (unsigned i = 0; i < count; ++i)
        if (compute_reaches(&devices[i], m->device)) compute_wait_device(&devices[i]);
    gpu_shared_unmap(m->device->gpu, m->at - compute_margin(), m->mapped);
    gpu_free(m->device->node, m->at - compute_margin(), m->mapped);
    gpu_shared_give(m->device->gpu);
    compute_untrack(m);
}

struct compute_memory* compute_find(gpu_address at, uint64_t bytes) {
    for (struct compute_memory* m = allocations; m; m = m->next)
        if (at >= m->at && at - m->at <= m->bytes && bytes <= m->bytes - (at - m->at)) return m;
    return NULL;
}

uint64_t compute_free_bytes(const struct compute_device* d) { return gpu_free_bytes(d->gpu); }
