/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/broker/kernels.h"

#include <time.h>

#include "abi/kernel_descriptor.h"
#include "lib/mmio.h"

enum { LEVELS = 4, INDEX_BITS = 9, PAGE_BITS = 12, OBJECT = 4, SIGNAL = 7 }; /* words of a dispatch packet */

/* ---- memory of a process, as its kernels see it ---- */

static bool read_physical(uint64_t at, uint64_t* word) {
    const unsigned where = (unsigned)(at >> GPU_PA_APERTURE_SHIFT);
    const uint64_t offset = at & GPU_PA_OFFSET_MASK;
    if (where - GPU_PA_GPU0 < gpus.count && offset < gpus.gpu[where - GPU_PA_GPU0].memory_bytes) {
        *word = mmio_read64(gpus.gpu[where - GPU_PA_GPU0].memory + offset);
        return true;
    }
    const void* from = where == GPU_PA_SYSTEM ? host_pages_at(at) : NULL;
    if (from) memcpy(word, from, sizeof *word);
    return from;
}

static bool translate(unsigned gpu, unsigned space, gpu_address at, uint64_t* physical) {
    uint64_t table = mmio_read64(gpus.gpu[gpu].registers + GPU_SRAM_WINDOW + GPU_SRAM_SPACES + 8 * space), entry;
    for (unsigned level = LEVELS; table && level-- > 0;) {
        const unsigned shift = PAGE_BITS + INDEX_BITS * level;
        if (!read_physical(table + 8 * (at >> shift & ((1u << INDEX_BITS) - 1)), &entry)) return false;
        if (!(entry & GPU_PTE_VALID)) return false;
        table = entry >> GPU_PTE_PPN_SHIFT << PAGE_BITS & 0x00ffffffffffffffull;
        if (entry & (GPU_PTE_READ | GPU_PTE_EXECUTE)) {
            *physical = table | (at & ((UINT64_C(1) << shift) - 1));
            return true;
        }
    }
    return false;
}

/* `at` and `bytes` are multiples of 8, in a page. */
static bool read_virtual(unsigned gpu, unsigned space, gpu_address at, void* to, size_t bytes) {
    uint64_t physical, word;
    if (at % 8 || !translate(gpu, space, at, &physical)) return false;
    for (size_t i = 0; i < bytes; i += 8) {
        if (!read_physical(physical + i, &word)) return false;
        memcpy((uint8_t*)to + i, &word, sizeof word);
    }
    return true;
}

/* ---- what a queue has ---- */

static void read_name(unsigned gpu, unsigned space, gpu_address object, char* name, size_t room) {
    struct kernel_descriptor k;
    memset(name, 0, room);
    memcpy(name, "?", 2);
    for (size_t i = 0; i < sizeof k; i += 8) /* it may lie in two pages */
        if (!read_virtual(gpu, space, object + i, (uint8_t*)&k + i, 8)) return;
    if (k.magic != KERNEL_DESCRIPTOR_MAGIC) return;
    if (k.name[0]) {
        memcpy(name, k.name, sizeof k.name);
        return;
    }
    uint64_t at;
    memcpy(&at, k.name + KERNEL_DESCRIPTOR_LONG_NAME, sizeof at);
    at += object - k.image_offset;
    for (size_t i = 0; i + 1 < room; ++i) {
        char word[8];
        if (!read_virtual(gpu, space, (at + i) & ~UINT64_C(7), word, 8)) return;
        name[i] = word[(at + i) % 8];
        if (!name[i]) return;
    }
}

static struct aql_signal signal_at(unsigned gpu, unsigned space, gpu_address at) {
    struct aql_signal s = {0};
    if (!read_virtual(gpu, space, at, &s, sizeof s)) s.value = 0;
    return s;
}

bool kernels_of(unsigned gpu, unsigned queue, struct kernels* found) {
    *found = (struct kernels){0};
    if (!queues_owner(gpu, queue)) return false;
    const unsigned space = queues_owner(gpu, queue) - 1;
    const struct gpu_queue q = queues_entry(gpu, queue);
    uint64_t last_signal = 0, packet[8];
    for (uint32_t i = 0; q.state == GPU_QUEUE_ACTIVE && i < q.packets; last_signal = packet[SIGNAL], ++i) {
        if (!read_virtual(gpu, space, q.ring + 64 * i, packet, sizeof packet)) return false;
        const bool is_kernel = packet[0] >> 16 & AQL_DIMENSIONS_MASK && packet[OBJECT] && packet[SIGNAL];
        if (!is_kernel) continue;
        if ((packet[0] & AQL_HEADER_TYPE_MASK) == AQL_TYPE_KERNEL_DISPATCH) ++found->waiting;
        /* The command processor has taken it, and has left all but the type. */
        if ((packet[0] & AQL_HEADER_TYPE_MASK) != AQL_TYPE_INVALID) continue;
        if (signal_at(gpu, space, packet[SIGNAL]).value <= 0) continue;
        read_name(gpu, space, packet[OBJECT], found->name, sizeof found->name);
        found->packet = i;
        found->before = last_signal ? signal_at(gpu, space, last_signal).end_ns : 0;
    }
    return *found->name || found->waiting;
}

/* ---- those that do not end ---- */

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void kernels_limit(uint64_t limit_ns) {
    static struct {
        struct kernels kernels;
        uint64_t since;
    } seen[MAX_GPUS][GPU_QUEUES];
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu)
        for (unsigned queue = 0; queue < GPU_QUEUES; ++queue) {
            struct kernels k;
            const bool runs = kernels_of(gpu, queue, &k) && *k.name;
            const struct kernels* last = &seen[gpu][queue].kernels;
            if (!runs || !*last->name || last->packet != k.packet || last->before != k.before) {
                seen[gpu][queue].kernels = k;
                seen[gpu][queue].since = now_ns();
            } else if (now_ns() - seen[gpu][queue].since >= limit_ns) {
                const unsigned space = queues_owner(gpu, queue) - 1;
                shared->timed_out[space] = shared->timed_out[space] + 1;
                queues_abort(gpu, queue);
            }
        }
}
