/* SPDX-License-Identifier: Apache-2.0 */
/* What all objects of OpenCL have in common. */
#include "runtime/opencl/opencl.h"

void* cl_create(const char* kind, size_t bytes) {
    struct counted* c = handle_create(kind, bytes);
    if (!c) return NULL;
    c->handle.dispatch = cl_dispatch;
    c->references = 1;
    return c;
}

bool cl_drop(struct counted* c) { return --c->references == 0; }

void cl_retain(void* object) { ++((struct counted*)object)->references; }

cl_int cl_query(const void* found, size_t found_bytes, size_t room, void* value, size_t* bytes) {
    if (bytes) *bytes = found_bytes;
    if (!value) return CL_SUCCESS;
    if (room < found_bytes) return CL_INVALID_VALUE;
    memcpy(value, found, found_bytes);
    return CL_SUCCESS;
}

cl_int cl_query_text(const char* text, size_t room, void* value, size_t* bytes) {
    return cl_query(text, strlen(text) + 1, room, value, bytes);
}

void* cl_created(void* object, cl_int failure, cl_int* error) {
    if (error) *error = object ? CL_SUCCESS : failure;
    return object;
}
