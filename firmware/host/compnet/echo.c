/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/echo.h"
#include "host/compnet/stream.h"

#include "gpu/kernels/network.h"
#include "host/console.h"
#include "host/gpu/elf.h"
#include "host/gpu/images.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/mmio.h"
#include "host/region.h"
#include "host/timer.h"
#include "pcie_demo/pattern.h"

enum { WARM = 2, CRASHES_AFTER_US = 30, ASTRAY = 1 << 30 };

uint64_t echo_payload(unsigned groups, const struct echo_options* o) { return 2 * groups * o->most; }

static struct gpu_kernel kernel(struct gpu_node* node) { return gpu_linked_kernel(node, "network_echo", "network_echo"); }

static uint64_t seed_of(const struct scheme* s, unsigned node, unsigned group) { return 1 + node * s->groups + group; }

/* What goes out is a pattern, what comes in zeros. */
static void prepare(struct scheme* s, uint64_t pitch, uint8_t* bytes) {
    for (unsigned g = 0; g < s->groups; ++g) {
        pattern_write(bytes + 2 * g * pitch, pitch, seed_of(s, s->party->index, g));
        memset(bytes + (2 * g + 1) * pitch, 0, pitch);
    }
    place_write(s->node, &s->payload, 0, bytes, 2 * s->groups * pitch);
}

/* The other one's pattern, and the number of the last round. */
static bool is_right(struct scheme* s, unsigned with, uint64_t pitch, uint64_t size, uint64_t rounds, uint8_t* bytes) {
    bool right = true;
    place_read(s->node, bytes, &s->payload, 0, 2 * s->groups * pitch);
    for (unsigned g = 0; g < s->groups; ++g) {
        const uint8_t* in = bytes + (2 * g + 1) * pitch;
        right = right && pattern_check(in, size - 8, seed_of(s, with, g)) && *(const uint64_t*)(const void*)(in + size - 8) == rounds;
        for (uint64_t i = size; i < pitch; ++i) right = right && !in[i];
    }
    return right;
}

/* Instructions that are none, in the function that looks at queues. */
static void spoil(struct gpu_node* node) {
    const struct image* image = find_image("cp");
    const uint64_t victim = elf_symbol(image->start, image->bytes, "network_serve") - GPU_LOCAL(0);
    for (unsigned i = 4; i <= 8; i += 4) mmio_write32(node->gpu[0].registers + GPU_SRAM_WINDOW + (victim & ~3ull) + i, 0);
}

static unsigned perform(struct scheme* s, struct gpu_queue_handle* queue, const struct gpu_grid* grid, const struct network_echo_arguments* a, bool crashes) {
    const uint64_t packet = gpu_dispatch(queue, kernel(s->node), grid, a, sizeof *a);
    if (crashes) {
        timer_wait(CRASHES_AFTER_US);
        spoil(s->node);
    }
    const unsigned fault = gpu_wait(queue, packet);
    if (fault) timer_wait(2 * ECHO_PATIENCE_NS / 1000); /* nobody tells when the kernel has ended, but it gives up */
    return fault;
}

/* \param stream where the queue talks between kernels, else NULL */
static bool one(struct scheme* s, struct gpu_queue_handle* queue, struct stream* stream, const struct echo_options* o, uint64_t size, const struct place* results, uint8_t* bytes) {
    const unsigned with = s->party->index ^ 1;
    const uint64_t rounds = WARM + o->rounds;
    struct network_echo_arguments a = {.access = s->access.lanes, .results = results->lanes, .local = s->payload.lanes, .remote = s->remote[with].payload,
                                             .pitch = o->most, .patience = ECHO_PATIENCE_NS, .bytes = (uint32_t)size, .rounds = (uint32_t)rounds, .warm = WARM,
                                             .peer = with, .begins = s->party->index < with, .in_entry = size == 8 && o->in_entry};
    const struct gpu_grid grid = {.items = {64 * s->groups}, .group = {64}};
    if (o->astray && a.begins) a.remote += ASTRAY;
    prepare(s, o->most, bytes);
    scheme_meet(s);
    if (a.begins) region_begin("echo");
    unsigned fault = 0;
    if (stream) echo_stream(stream, s, &a, results);
    else fault = perform(s, queue, &grid, &a, o->crash && a.begins);
    if (a.begins) region_end();
    if (fault) gpu_print_faults(s->node, &s->node->gpu[0]);
    scheme_meet(s);
    bool right = !fault;
    uint64_t total = 0, longest = 0;
    for (unsigned g = 0; g < s->groups; ++g) {
        struct network_group group; /* one by one: stacks are small */
        place_read(s->node, &group, results, g * sizeof group, sizeof group);
        if (group.failed) console_printf("work-group %u: request failed in round %u, status 0x%x\n", g, group.rounds + 1, group.failed);
        right = right && !group.failed;
        total += group.nanoseconds;
        if (group.nanoseconds > longest) longest = group.nanoseconds;
    }
    if (right && !is_right(s, with, o->most, size, rounds, bytes)) {
        console_printf("what has come is not what was sent\n");
        right = false;
    }
    if (a.begins)
        console_printf("# echo %s %u threads %u groups %lu bytes %lu ps, slowest %lu ps\n", scheme_name(s->kind), s->threads, s->groups, size,
                       total * 1000 / s->groups / o->rounds, longest * 1000 / o->rounds);
    return right;
}

bool echo_run(struct scheme* s, struct gpu_queue_handle* queue, const struct echo_options* o) {
    const struct place results = place_take(s->node, s->groups * sizeof(struct network_group), true);
    uint8_t* bytes = heap_allocate_aligned(echo_payload(s->groups, o), GPU_PAGE);
    bool right = true;
    if (!bytes) panic("echo: out of memory");
    struct stream* stream = s->kind == SCHEME_ASYNC ? heap_allocate(sizeof *stream) : NULL;
    if (stream) {
        stream_begin(stream, s, ECHO_PATIENCE_NS);
        gpu_linked_kernel(s->node, "network_mark", "network_mark");
    }
    for (uint64_t size = o->least; right && size <= o->most; size *= 2) right = one(s, queue, stream, o, size, &results, bytes);
    heap_free(bytes);
    console_printf("echo       %s\n", right ? "ok" : "FAILED");
    return right;
}
