/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/console.h"
#include "programs/compnet/jacobi_solver.h"

enum {
    DEPTH = 4,
    WORDS_AT = 2048
}; /* iterations in the queue at a time; of the control page: words of the all-reduce, by step */

static uint64_t word_at(const struct solver* s, unsigned step) {
    return s->backend.control.lanes + WORDS_AT + 8 * step;
}
static unsigned steps(const struct solver* s) { return (unsigned)__builtin_ctz(s->nodes); }

static void put_rows(struct solver* s, struct stream* t, uint32_t iteration) {
    const struct backend* c = &s->backend;
    const uint64_t rows = s->o->rows, number = COLLECTIVE_NUMBER(iteration);
    for (unsigned below = 0; below < 2; ++below) {
        const unsigned peer = s->rank + (below ? 1 : -1u);
        if (peer >= s->nodes) continue;
        stream_put(t, peer, c->payload.lanes + row_at(s, iteration, below ? rows : 1),
                   c->remote[peer].payload + row_at(s, iteration, below ? 0 : rows + 1), (uint32_t)pitch_of(s));
        stream_put_inline(t, peer, c->remote[peer].control + halo_at(!below), number);
    }
}

static void put_word(struct solver* s, struct stream* t, unsigned step, uint32_t iteration) {
    const unsigned peer = s->rank ^ 1u << step;
    stream_put(t, peer, word_at(s, step), s->backend.remote[peer].control + change_at(step, iteration), 8);
}

/* Doorbells of all that was written and not announced. \returns their nodes, bit by bit */
static uint32_t ring(const struct solver* s, struct stream* t) {
    uint32_t announced = 0;
    for (unsigned i = 0; i < s->nodes; ++i) {
        if (t->to[i].written == t->to[i].announced) continue;
        stream_ring(t, i);
        announced |= 1u << i;
    }
    return announced;
}

static void wait_completions(const struct solver* s, struct stream* t, uint32_t announced) {
    for (unsigned i = 0; i < s->nodes; ++i)
        if (announced >> i & 1) stream_wait_completion(t, i);
}

static uint64_t received_at(const struct solver* s, unsigned step, uint32_t iteration) {
    return s->backend.control.lanes + change_at(step, iteration);
}

static struct gpu_kernel compare_kernel(struct solver* s) {
    return gpu_linked_kernel(s->backend.node, "network_compare", "network_compare");
}

static uint64_t compare(struct solver* s, struct stream* t, unsigned step, uint32_t iteration) {
    const struct network_compare_arguments a = {word_at(s, step), received_at(s, step, iteration), word_at(s, step + 1),
                                                iteration, 0};
    const struct gpu_grid grid = {.items = {64}, .group = {64}};
    return stream_launch(t, compare_kernel(s), &grid, &a, sizeof a, s->o->driver_us);
}

/* All that belongs to an iteration. What all have changed most is known when the next one begins. \returns the kernel's
 * packet */
static uint64_t iterate(struct solver* s, struct gpu_side* g, struct stream* t, uint32_t iteration) {
    const unsigned last = steps(s) - 1;
    struct network_jacobi_arguments a = jacobi_arguments(s, g, iteration, 1);
    const struct gpu_grid grid = jacobi_grid(s);
    a.words = word_at(s, 0);
    a.last_word = last;
    if (iteration > 1) a.seen = received_at(s, last, iteration - 1);
    put_rows(s, t, iteration);
    put_word(s, t, 0, iteration);
    const uint64_t kernel = stream_launch(t, jacobi_kernel(s->backend.node), &grid, &a, sizeof a, s->o->driver_us);
    uint32_t announced = ring(s, t);
    stream_clear(t, g->sync.lanes); /* for the next one, while messages are on their way */
    wait_completions(s, t, announced);
    for (unsigned step = 0; step <= last; ++step) {
        stream_wait_reached(t, received_at(s, step, iteration), iteration);
        if (step == last) break;
        compare(s, t, step, iteration);
        put_word(s, t, step + 1, iteration);
        wait_completions(s, t, ring(s, t));
    }
    for (unsigned below = 0; below < 2; ++below)
        if (below ? s->rank + 1 < s->nodes : s->rank != 0)
            stream_wait_reached(t, s->backend.control.lanes + halo_at(below), iteration);
    return kernel;
}

void jacobi_stream_begin(struct solver* s, struct gpu_side* g) {
    stream_begin(&g->stream, &s->backend, BACKEND_TIMEOUT_NS);
    stream_clear(&g->stream, g->sync.lanes);
    compare_kernel(s);
}

bool jacobi_stream(struct solver* s, struct gpu_side* g) {
    struct stream* t = &g->stream;
    const uint32_t iterations = (uint32_t)s->o->iterations;
    const volatile uint32_t* change = (const volatile uint32_t*)g->change.memory.at;
    uint64_t kernels[DEPTH], word;
    unsigned failed = NETWORK_DONE;
    for (uint32_t i = 1; i <= iterations && !failed; ++i) {
        if (i > DEPTH) failed = stream_synchronize(t, kernels[i % DEPTH]);
        if (!failed) kernels[i % DEPTH] = iterate(s, g, t, i);
    }
    if (!failed) failed = stream_synchronize(t, compare(s, t, steps(s) - 1, iterations));
    if (failed) {
        console_printf("jacobi: a request failed, status 0x%x\n", failed);
        return false;
    }
    gpu_read(s->backend.node, &word, word_at(s, steps(s)), sizeof word);
    for (uint32_t i = 1; i < iterations; ++i) s->change[i] = change[i];
    s->change[iterations] = (uint32_t)word;
    return true;
}
