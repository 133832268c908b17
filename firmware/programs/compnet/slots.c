/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/slots.h"

#include "drivers/gpu/elf.h"
#include "drivers/gpu/images.h"
#include "gpu/kernels/network.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/pattern.h"
#include "lib/timer.h"

static uint64_t seed_of(unsigned node, const struct slots* t, unsigned slot) { return 1 + node * t->count + slot; }
static uint64_t* number_of(uint8_t* message, const struct slots* t) {
    return (uint64_t*)(void*)(message + t->size - 8);
}

void slots_prepare(struct backend* s, const struct slots* t, bool numbered) {
    for (unsigned i = 0; i < t->count; ++i) {
        uint8_t* out = t->bytes + 2 * i * t->pitch;
        pattern_write(out, t->pitch, seed_of(s->bootstrap->comm.rank, t, i));
        if (numbered) *number_of(out, t) = t->first + i % t->cycle;
        memset(out + t->pitch, 0, t->pitch);
    }
    rdma_buffer_write(s->node, &s->payload, 0, t->bytes, slots_bytes(t->count, t->pitch));
}

bool slots_are_correct(struct backend* s, unsigned with, const struct slots* t) {
    bool ok = true;
    rdma_buffer_read(s->node, t->bytes, &s->payload, 0, slots_bytes(t->count, t->pitch));
    for (unsigned i = 0; i < t->count; ++i) {
        uint8_t* in = t->bytes + (2 * i + 1) * t->pitch;
        ok = ok && pattern_check(in, t->size - 8, seed_of(with, t, i)) && *number_of(in, t) == t->first + i % t->cycle;
        for (uint64_t k = t->size; k < t->pitch; ++k) ok = ok && !in[k];
    }
    return ok;
}

struct slots_times slots_times(struct backend* s, const struct rdma_buffer* results) {
    struct slots_times all = {true, 0, 0};
    for (unsigned g = 0; g < s->groups; ++g) {
        struct network_group_result group; /* one by one: stacks are small */
        rdma_buffer_read(s->node, &group, results, g * sizeof group, sizeof group);
        if (group.failed)
            console_printf("work-group %u: request failed in round %u, status 0x%x\n", g, group.rounds + 1,
                           group.failed);
        all.ok = all.ok && !group.failed;
        all.total += group.nanoseconds;
        if (group.nanoseconds > all.longest) all.longest = group.nanoseconds;
    }
    return all;
}

/* Instructions that are none, in the function that looks at queues. */
static void corrupt_firmware(struct gpu_node* node) {
    const struct image* image = find_image("cp");
    const uint64_t victim = elf_symbol(image->start, image->bytes, "network_service_poll") - GPU_LOCAL(0);
    for (unsigned i = 4; i <= 8; i += 4)
        mmio_write32(node->gpu[0].registers + GPU_SRAM_WINDOW + (victim & ~3ull) + i, 0);
}

unsigned slots_perform(struct backend* s, struct gpu_queue_handle* queue, const char* kernel, const void* arguments,
                       size_t bytes, unsigned crash_us, uint64_t timeout_ns) {
    const struct gpu_grid grid = {.items = {64 * s->groups}, .group = {64}};
    const uint64_t packet = gpu_dispatch(queue, gpu_linked_kernel(s->node, kernel, kernel), &grid, arguments, bytes);
    if (crash_us) {
        timer_wait(crash_us);
        corrupt_firmware(s->node);
    }
    const unsigned fault = gpu_wait(queue, packet);
    if (!fault) return 0;
    timer_wait(2 * timeout_ns / 1000); /* the kernel's end is not signalled, but its waits time out */
    gpu_print_faults(s->node, &s->node->gpu[0]);
    return fault;
}
