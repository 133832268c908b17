/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of boxes: a copy a row. */
#include "runtime/opencl/opencl.h"

/* Where a box lies in memory. */
struct box {
    uint64_t origin[3], row_pitch, slice_pitch;
};

static bool make_box(struct box* b, const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch) {
    if (!origin) return false;
    memcpy(b->origin, origin, sizeof b->origin);
    b->row_pitch = row_pitch ? row_pitch : region[0];
    if (b->row_pitch < region[0] || __builtin_mul_overflow(b->row_pitch, region[1], &b->slice_pitch)) return false;
    if (!slice_pitch) return true;
    if (slice_pitch < b->slice_pitch || slice_pitch % b->row_pitch) return false;
    b->slice_pitch = slice_pitch;
    return true;
}

/* Where a row begins. \returns false if no memory is so large */
static bool row_at(const struct box* b, uint64_t y, uint64_t z, uint64_t* at) {
    uint64_t rows, slices;
    *at = 0;
    return !__builtin_add_overflow(b->origin[1], y, &rows) && !__builtin_mul_overflow(rows, b->row_pitch, &rows) &&
           !__builtin_add_overflow(b->origin[2], z, &slices) &&
           !__builtin_mul_overflow(slices, b->slice_pitch, &slices) &&
           !__builtin_add_overflow(b->origin[0], rows, at) && !__builtin_add_overflow(*at, slices, at);
}

static bool is_region(const size_t* r) { return r && r[0] && r[1] && r[2]; }

/* The last row ends behind the others. */
static cl_int fits(cl_command_queue q, cl_mem buffer, const struct box* b, const size_t* region) {
    uint64_t last;
    if (!row_at(b, region[1] - 1, region[2] - 1, &last)) return CL_INVALID_VALUE;
    return cl_use_part(q, buffer, last, region[0]);
}

/* Rows are commands of their own, in order: the event is the last one's. */
struct rows {
    cl_command_type type;
    uint64_t to, from;
    struct box to_box, from_box;
    const size_t* region;
    struct compute_event* (*copy)(struct compute_stream* stream, uint64_t to, uint64_t from, uint64_t bytes,
                                  struct compute_after after);
};

static struct compute_event* write_row(struct compute_stream* s, uint64_t to, uint64_t from, uint64_t bytes,
                                       struct compute_after after) {
    return compute_write(s, to, (const void*)from, bytes, after);
}

static struct compute_event* read_row(struct compute_stream* s, uint64_t to, uint64_t from, uint64_t bytes,
                                      struct compute_after after) {
    return compute_read(s, (void*)to, from, bytes, after);
}

static cl_int enqueue(struct cl_wait_list* list, cl_command_queue q, const struct rows* r, bool blocking,
                      cl_event* event) {
    struct compute_event* last = NULL;
    for (uint64_t z = 0; z < r->region[2]; ++z)
        for (uint64_t y = 0; y < r->region[1]; ++y) {
            uint64_t to = 0, from = 0;
            row_at(&r->to_box, y, z, &to);
            row_at(&r->from_box, y, z, &from);
            compute_release(last);
            last = r->copy(q->stream, r->to + to, r->from + from, r->region[0], list->after);
            if (!last) return cl_abandon(list, CL_OUT_OF_HOST_MEMORY);
        }
    return cl_enqueued(list, q, r->type, last, blocking, event);
}

cl_int clEnqueueReadBufferRect(cl_command_queue q, cl_mem b, cl_bool blocking, const size_t* origin,
                               const size_t* host_origin, const size_t* region, size_t row_pitch, size_t slice_pitch,
                               size_t host_row_pitch, size_t host_slice_pitch, void* to, cl_uint count,
                               const cl_event* after, cl_event* event) {
    struct cl_wait_list list;
    struct rows r = {.type = CL_COMMAND_READ_BUFFER_RECT, .to = (uintptr_t)to, .region = region, .copy = read_row};
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure && (!to || !is_region(region) || !make_box(&r.from_box, origin, region, row_pitch, slice_pitch) ||
                     !make_box(&r.to_box, host_origin, region, host_row_pitch, host_slice_pitch)))
        failure = CL_INVALID_VALUE;
    if (!failure) failure = fits(q, b, &r.from_box, region);
    if (failure) return cl_abandon(&list, failure);
    r.from = cl_address(b);
    return enqueue(&list, q, &r, blocking, event);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue q, cl_mem b, cl_bool blocking, const size_t* origin,
                                const size_t* host_origin, const size_t* region, size_t row_pitch, size_t slice_pitch,
                                size_t host_row_pitch, size_t host_slice_pitch, const void* from, cl_uint count,
                                const cl_event* after, cl_event* event) {
    struct cl_wait_list list;
    struct rows r = {
        .type = CL_COMMAND_WRITE_BUFFER_RECT, .from = (uintptr_t)from, .region = region, .copy = write_row};
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure && (!from || !is_region(region) || !make_box(&r.to_box, origin, region, row_pitch, slice_pitch) ||
                     !make_box(&r.from_box, host_origin, region, host_row_pitch, host_slice_pitch)))
        failure = CL_INVALID_VALUE;
    if (!failure) failure = fits(q, b, &r.to_box, region);
    if (failure) return cl_abandon(&list, failure);
    r.to = cl_address(b);
    return enqueue(&list, q, &r, blocking, event);
}

/* Whether rows of one memory may lie on each other: where the boxes' ranges do, which the standard leaves to
 * implementations for rows beside each other. */
static bool overlap(cl_mem from, cl_mem to, const struct rows* r) {
    uint64_t from_first, to_first, from_last, to_last;
    if (from->memory != to->memory) return false;
    row_at(&r->from_box, 0, 0, &from_first);
    row_at(&r->to_box, 0, 0, &to_first);
    row_at(&r->from_box, r->region[1] - 1, r->region[2] - 1, &from_last);
    row_at(&r->to_box, r->region[1] - 1, r->region[2] - 1, &to_last);
    return r->from + from_first < r->to + to_last + r->region[0] &&
           r->to + to_first < r->from + from_last + r->region[0];
}

cl_int clEnqueueCopyBufferRect(cl_command_queue q, cl_mem from, cl_mem to, const size_t* from_origin,
                               const size_t* to_origin, const size_t* region, size_t from_row_pitch,
                               size_t from_slice_pitch, size_t to_row_pitch, size_t to_slice_pitch, cl_uint count,
                               const cl_event* after, cl_event* event) {
    struct cl_wait_list list;
    struct rows r = {.type = CL_COMMAND_COPY_BUFFER_RECT, .region = region, .copy = compute_copy};
    cl_int failure = cl_begin(&list, q, count, after);
    if (!failure &&
        (!is_region(region) || !make_box(&r.from_box, from_origin, region, from_row_pitch, from_slice_pitch) ||
         !make_box(&r.to_box, to_origin, region, to_row_pitch, to_slice_pitch)))
        failure = CL_INVALID_VALUE;
    if (!failure) failure = fits(q, from, &r.from_box, region);
    if (!failure) failure = fits(q, to, &r.to_box, region);
    if (!failure) {
        r.from = cl_address(from);
        r.to = cl_address(to);
        if (overlap(from, to, &r)) failure = CL_MEM_COPY_OVERLAP;
    }
    if (failure) return cl_abandon(&list, failure);
    return enqueue(&list, q, &r, false, event);
}
