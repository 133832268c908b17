/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/cluster/exchange.h"

#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/pattern.h"
#include "lib/region.h"
#include "lib/result.h"

enum { MAX_EXCHANGE_GPUS = 4 }; /* GPUs: an order of more has too many digits */

/* Of each GPU: what it sends to each other one, and where that arrives. */
struct sender {
    gpu_address out, in;
    uint64_t out_at, in_bus; /* as its engine has it; as others have it */
    unsigned to[MAX_EXCHANGE_GPUS - 1];
};

/* \returns false if it is no order */
static bool read_order(struct sender* s, unsigned gpus, uint64_t order) {
    for (unsigned g = gpus; g-- > 0;) {
        unsigned seen = 0;
        for (unsigned k = gpus - 1; k-- > 0; order /= 10) {
            const unsigned to = (unsigned)(order % 10);
            if (to >= gpus || to == g || seen >> to & 1) return false;
            seen |= 1u << to;
            s[g].to[k] = to;
        }
    }
    return order == 0;
}

static void natural_order(struct sender* s, unsigned gpus) {
    for (unsigned g = 0; g < gpus; ++g)
        for (unsigned k = 0; k + 1 < gpus; ++k) s[g].to[k] = k < g ? k : k + 1;
}

static uint64_t seed_of(unsigned from, unsigned to, unsigned run) { return 1000 * run + 10 * from + to + 1; }

static void prepare(struct gpu_node* node, struct sender* s, uint64_t bytes, unsigned run, uint8_t* buffer) {
    for (unsigned g = 0; g < node->count; ++g) {
        for (unsigned to = 0; to < node->count; ++to) pattern_write(buffer + to * bytes, bytes, seed_of(g, to, run));
        if (gpu_copy_to(node, s[g].out, buffer, node->count * bytes))
            panic("exchange: the GPU's memory cannot be written");
        memset(buffer, 0, node->count * bytes);
        if (gpu_copy_to(node, s[g].in, buffer, node->count * bytes))
            panic("exchange: the GPU's memory cannot be written");
    }
}

/* What is read behind the last byte shows that it has arrived. */
static bool send_all(struct gpu_node* node, const struct sender* s, uint64_t bytes) {
    bool ok = true;
    for (unsigned k = 0; k + 1 < node->count; ++k) {
        for (unsigned g = 0; g < node->count; ++g) {
            const unsigned to = s[g].to[k];
            const uint64_t there = s[to].in_bus + g * bytes;
            ok = !gpu_copy_post(&node->gpu[g], false, there, s[g].out_at + to * bytes, bytes) && ok;
            copy_channel_post_flush(&node->gpu[g].copies[node->gpu[g].copy_channels - 1], there, (uint32_t)bytes);
        }
        for (unsigned g = 0; g < node->count; ++g) gpu_copy_start(&node->gpu[g], false);
        for (unsigned g = 0; g < node->count; ++g) ok = !gpu_copy_wait(&node->gpu[g], false) && ok;
    }
    return ok;
}

static bool arrived(struct gpu_node* node, const struct sender* s, uint64_t bytes, unsigned run, uint8_t* buffer) {
    bool ok = true;
    for (unsigned g = 0; g < node->count; ++g) {
        if (gpu_copy_from(node, buffer, s[g].in, node->count * bytes))
            panic("exchange: the GPU's memory cannot be read");
        for (unsigned from = 0; from < node->count; ++from)
            if (from != g && !pattern_check(buffer + from * bytes, bytes, seed_of(from, g, run))) {
                console_printf("exchange: what GPU %u has from GPU %u is not what was sent\n", g, from);
                ok = false;
            }
    }
    return ok;
}

static bool run(struct gpu_node* node, struct sender* s, const struct exchange* o, unsigned number, const char* name,
                uint8_t* buffer) {
    prepare(node, s, o->bytes, number, buffer);
    region_begin(name);
    const uint64_t begin = clock_cycles();
    const bool sent = send_all(node, s, o->bytes);
    const uint64_t cycles = clock_cycles() - begin;
    region_end();
    result_begin("exchange");
    result_u64("gpus", node->count);
    result_u64("bytes", o->bytes);
    result_text("order", name);
    result_u64("time_ps", clock_picoseconds(cycles));
    result_end();
    return arrived(node, s, o->bytes, number, buffer) && sent;
}

void exchange_check(const struct gpu_node* node, const struct exchange* o) {
    struct sender s[MAX_EXCHANGE_GPUS];
    if (node->count > MAX_EXCHANGE_GPUS)
        usage_error("bytes=%lu: with up to %u GPUs; 0: nothing is exchanged", o->bytes, MAX_EXCHANGE_GPUS);
    if (o->bytes % GPU_PAGE || node->count * o->bytes > GPU_LARGE_PAGE)
        usage_error("bytes=%lu: messages of whole pages of %u, that of all %u GPUs fill up to 2 MiB", o->bytes,
                    GPU_PAGE, node->count);
    for (unsigned i = 0; i < 2; ++i)
        if (o->order[i] && !read_order(s, node->count, o->order[i]))
            usage_error("%s=%lu is no order of %u GPUs' messages", o->name[i], o->order[i], node->count);
}

bool exchange_run(struct gpu_node* node, const struct exchange* o) {
    struct sender s[MAX_EXCHANGE_GPUS];
    const uint64_t all = node->count * o->bytes;
    uint8_t* buffer = heap_allocate_aligned(all, GPU_PAGE);
    if (!buffer) panic("exchange: out of memory");
    for (unsigned g = 0; g < node->count; ++g) {
        s[g].out = gpu_allocate_contiguous(node, g, all);
        s[g].in = gpu_allocate_contiguous(node, g, all);
        s[g].out_at = gpu_physical(node, s[g].out);
        s[g].in_bus = gpu_bus_address(node, s[g].in);
    }
    natural_order(s, node->count);
    bool ok = run(node, s, o, 0, "natural", buffer);
    for (unsigned i = 0; i < 2; ++i) {
        if (!o->order[i]) continue;
        read_order(s, node->count, o->order[i]);
        ok = run(node, s, o, i + 1, o->name[i], buffer) && ok;
    }
    heap_free(buffer);
    console_printf("exchange   %s\n", ok ? "ok" : "FAILED");
    return ok;
}
