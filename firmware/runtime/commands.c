/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/commands.h"

#include "lib/heap.h"

/* One block of memory for a command, the events that it waits for, and its arguments. */
static struct compute_command* make(enum compute_kind kind, struct compute_stream* stream, struct compute_after after,
                                    uint32_t argument_bytes) {
    struct compute_command* c;
    const size_t events = after.count * sizeof *c->after;
    c = heap_allocate(sizeof *c + events + argument_bytes);
    if (!c) return NULL;
    memset(c, 0, sizeof *c);
    c->kind = kind;
    c->stream = stream;
    c->after = (struct compute_event**)(c + 1);
    c->arguments = (uint8_t*)(c + 1) + events;
    c->argument_bytes = argument_bytes;
    return c;
}

struct compute_event* compute_launch(struct compute_stream* s, const struct compute_kernel* k,
                                     const struct compute_grid* grid, const void* arguments,
                                     struct compute_after after) {
    struct compute_command* c = make(COMPUTE_KERNEL, s, after, k->info->argument_bytes);
    if (!c) return NULL;
    c->kernel = k->kernel;
    for (unsigned d = 0; d < 3; ++d) {
        c->grid.items[d] = (uint32_t)grid->items[d];
        c->grid.group[d] = (uint16_t)grid->group[d];
    }
    c->grid.cooperative = grid->cooperative;
    c->grid.lds_bytes = k->info->lds_bytes + (uint32_t)grid->local_bytes;
    memcpy(c->arguments, arguments, k->info->argument_bytes);
    k->program->printing |= k->program->record->block.output != PROGRAM_RECORD_NONE && k->program->block;
    if (k->info->block != PROGRAM_RECORD_NONE) memcpy(c->arguments + k->info->block, &k->program->block->at, 8);
    return compute_add(c, after);
}

struct compute_event* compute_call(struct compute_stream* s, void (*function)(void* context, unsigned fault),
                                   void* context, struct compute_after after) {
    struct compute_command* c = make(COMPUTE_CALL, s, after, 0);
    if (!c) return NULL;
    c->function = function;
    c->context = context;
    return compute_add(c, after);
}

struct compute_event* compute_mark(struct compute_stream* s, struct compute_after after) {
    struct compute_command* c = make(COMPUTE_MARK, s, after, 0);
    return c ? compute_add(c, after) : NULL;
}

static struct compute_event* transfer(enum compute_kind kind, struct compute_stream* s, uint64_t to, uint64_t from,
                                      uint64_t bytes, struct compute_after after) {
    struct compute_command* c = make(kind, s, after, 0);
    if (!c) return NULL;
    c->to = to;
    c->from = from;
    c->bytes = bytes;
    if (kind != COMPUTE_READ) c->to_memory = compute_find(to, bytes);
    if (kind != COMPUTE_WRITE) c->from_memory = compute_find(from, bytes);
    return compute_add(c, after);
}

struct compute_event* compute_write(struct compute_stream* s, gpu_address to, const void* from, uint64_t bytes,
                                    struct compute_after after) {
    return transfer(COMPUTE_WRITE, s, to, (uintptr_t)from, bytes, after);
}

struct compute_event* compute_read(struct compute_stream* s, void* to, gpu_address from, uint64_t bytes,
                                   struct compute_after after) {
    return transfer(COMPUTE_READ, s, (uintptr_t)to, from, bytes, after);
}

struct compute_event* compute_copy(struct compute_stream* s, gpu_address to, gpu_address from, uint64_t bytes,
                                   struct compute_after after) {
    return transfer(COMPUTE_COPY, s, to, from, bytes, after);
}

struct compute_event* compute_fill(struct compute_stream* s, gpu_address to, uint64_t bytes, const void* pattern,
                                   uint64_t pattern_bytes, struct compute_after after) {
    struct compute_command* c = make(COMPUTE_FILL, s, after, 0);
    if (!c) return NULL;
    c->to = to;
    c->bytes = bytes;
    c->to_memory = compute_find(to, bytes);
    c->pattern_bytes = pattern_bytes;
    memcpy(c->pattern, pattern, pattern_bytes);
    return compute_add(c, after);
}
