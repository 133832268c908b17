/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and results travel by the GPUs' copy engines. */
#include "drivers/gpu/shared.h"
#include "lib/dma.h"
#include "lib/machine.h"
#include "lib/mmio.h"

/* Less than this is copied by the host itself: stores are posted, but each load is a round trip. */
enum { MIN_TO_BYTES = 512, MIN_FROM_BYTES = 64 };
enum { STAGING_BYTES = 256 << 10 };
static const uint64_t max_descriptor_bytes = 1 << 30; /* of a descriptor */

static bool open_channels(struct gpu* g) {
    if (g->copy_channels) return true;
    const uintptr_t registers = g->registers + GPU_SDMA_REGISTERS;
    const unsigned there = mmio_read32(registers + COPY_ENGINE_CHANNELS), wanted = there < 2 ? there : 2;
    for (unsigned c = 0; c < wanted; ++c)
        if (!copy_channel_open(&g->copies[c], registers + c * COPY_ENGINE_CHANNEL_STRIDE, &g->delivery)) return false;
    g->copy_channels = wanted;
    return wanted != 0;
}

static struct copy_channel* channel(struct gpu* g, bool to_device) {
    return &g->copies[to_device || g->copy_channels == 1 ? 0 : 1];
}

static unsigned flush(struct copy_channel* c, uint64_t limit_us) {
    if (c->posted == c->waited) return 0;
    copy_channel_ring(c);
    const enum copy_result result = copy_channel_wait(c, limit_us);
    switch (result) {
        case COPY_OK: return 0;
        case COPY_READ_FAILED: return COPY_ENGINE_FAULT(c->failed);
        default: copy_channel_restart(c); return result == COPY_TIMED_OUT ? GPU_TIMED_OUT : GPU_FAULT_PACKET;
    }
}

unsigned gpu_copy_post(struct gpu* g, bool to_device, uint64_t to, uint64_t from, uint64_t bytes) {
    const bool other = gpu_shared_lock_copies(g, to_device);
    const unsigned opened = g->copy_channels;
    if (!open_channels(g)) panic("gpu%u has no copy engine, or no memory for its rings", g->index);
    for (unsigned i = 0; other && i < opened; ++i) copy_channel_restart(&g->copies[i]);
    struct copy_channel* c = channel(g, to_device);
    while (bytes) {
        const uint64_t part = bytes < max_descriptor_bytes ? bytes : max_descriptor_bytes;
        const unsigned fault = copy_channel_space(c) ? 0 : flush(c, GPU_WAIT_LIMIT_US);
        if (fault) {
            gpu_shared_unlock_copies(g, to_device);
            return fault;
        }
        copy_channel_post(c, to, from, (uint32_t)part);
        to += part, from += part, bytes -= part;
    }
    return 0;
}

unsigned gpu_copy_wait(struct gpu* g, bool to_device) {
    const unsigned fault = g->copy_channels ? flush(channel(g, to_device), GPU_WAIT_LIMIT_US) : 0;
    gpu_shared_unlock_copies(g, to_device);
    return fault;
}

void gpu_copy_start(struct gpu* g, bool to_device) {
    struct copy_channel* c = g->copy_channels ? channel(g, to_device) : NULL;
    if (c && c->posted != c->waited) copy_channel_ring(c);
}

void gpu_copy_interrupted(struct gpu* g) {
    for (unsigned i = 0; i < g->copy_channels; ++i) {
        struct copy_channel* c = &g->copies[i];
        const uint32_t causes = mmio_read32(c->registers + COPY_ENGINE_INTERRUPT);
        mmio_write32(c->registers + COPY_ENGINE_INTERRUPT, causes);
        if (causes) copy_channel_interrupted(c, causes);
    }
}

/* Bytes from `at` on, at most `bytes`, that lie behind each other in one memory. */
static uint64_t run(const struct gpu_node* node, gpu_address at, uint64_t bytes) {
    const uint64_t begin = gpu_physical(node, at);
    uint64_t length = GPU_PAGE - at % GPU_PAGE;
    while (length < bytes && gpu_physical(node, at + length) == begin + length) length += GPU_PAGE;
    return length < bytes ? length : bytes;
}

static unsigned copy(struct gpu_node* node, gpu_address at, uintptr_t host, uint64_t bytes, bool to_device) {
    unsigned fault = 0;
    __asm__ volatile("fence rw, rw" ::: "memory");
    while (bytes && !fault) {
        const uint64_t part = run(node, at, bytes), physical = gpu_physical(node, at);
        const unsigned where = (unsigned)(physical >> GPU_PA_APERTURE_SHIFT);
        if (!physical) panic("no device memory at 0x%lx", at);
        if (where == GPU_PA_SYSTEM) {
            memcpy(to_device ? (void*)physical : (void*)host, to_device ? (void*)host : (void*)physical, part);
        } else {
            struct gpu* g = &node->gpu[where - GPU_PA_GPU0];
            fault = to_device ? gpu_copy_post(g, true, physical, host, part)
                              : gpu_copy_post(g, false, host, physical, part);
        }
        at += part, host += part, bytes -= part;
    }
    for (unsigned i = 0; i < MAX_GPUS; ++i) {
        if (!node->gpu[i].copy_channels) continue;
        const unsigned other = gpu_copy_wait(&node->gpu[i], to_device);
        if (!fault) fault = other;
    }
    return fault;
}

/* Where devices have memory elsewhere, or by way of memory that they reach. */
static unsigned copy_staged(struct gpu_node* node, gpu_address at, uintptr_t host, uint64_t bytes, bool to_device) {
    static void* staging;
    if (!staging) staging = dma_allocate(STAGING_BYTES, GPU_PAGE);
    if (!staging) panic("no memory that devices reach is left for a copy");
    unsigned fault = 0;
    for (uint64_t part; bytes && !fault; at += part, host += part, bytes -= part) {
        part = bytes;
        const uintptr_t pinned = dma_pinned(host, &part);
        if (pinned) {
            fault = copy(node, at, pinned, part, to_device);
            continue;
        }
        if (part > STAGING_BYTES) part = STAGING_BYTES;
        if (to_device) memcpy(staging, (const void*)host, part);
        fault = copy(node, at, (uintptr_t)staging, part, to_device);
        if (!to_device && !fault) memcpy((void*)host, staging, part);
    }
    return fault;
}

static unsigned copy_any(struct gpu_node* node, gpu_address at, uintptr_t host, uint64_t bytes, bool to_device) {
    return (dma_reaches((const void*)host, bytes) ? copy : copy_staged)(node, at, host, bytes, to_device);
}

unsigned gpu_copy_to(struct gpu_node* node, gpu_address to, const void* from, uint64_t bytes) {
    if (bytes >= MIN_TO_BYTES) return copy_any(node, to, (uintptr_t)from, bytes, true);
    gpu_write(node, to, from, bytes);
    return 0;
}

unsigned gpu_copy_from(struct gpu_node* node, void* to, gpu_address from, uint64_t bytes) {
    if (bytes >= MIN_FROM_BYTES) return copy_any(node, from, (uintptr_t)to, bytes, false);
    gpu_read(node, to, from, bytes);
    return 0;
}

/* The engine that reaches both places: of the GPU that has the source, since writes need no round trips. */
static unsigned copy_within(struct gpu_node* node, uint64_t to, uint64_t from, uint64_t bytes) {
    struct gpu *source = gpu_owner(node, from), *target = gpu_owner(node, to);
    struct gpu* g = source ? source : target;
    if (!g) panic("a copy between addresses of the host");
    const unsigned fault = gpu_copy_post(g, false, to, from, bytes);
    return fault ? fault : gpu_copy_wait(g, false);
}

unsigned gpu_copy(struct gpu_node* node, gpu_address to, gpu_address from, uint64_t bytes) {
    unsigned fault = 0;
    __asm__ volatile("fence rw, rw" ::: "memory");
    while (bytes && !fault) {
        const uint64_t readable = run(node, from, bytes), part = run(node, to, readable);
        const uint64_t target = gpu_physical(node, to), source = gpu_physical(node, from);
        if (!target || !source) panic("no device memory at 0x%lx", target ? from : to);
        fault = copy_within(node, target, source, part);
        to += part, from += part, bytes -= part;
    }
    return fault;
}
