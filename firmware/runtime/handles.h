/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that programs hold handles of. A handle is looked up before it is used, so that a wrong one is an error and
 * no access to a wild address. */
#ifndef FABRICVP_RUNTIME_HANDLES_H
#define FABRICVP_RUNTIME_HANDLES_H

#include "lib/libc.h"

/* Begins every object. Kinds are the addresses of names, so that parts need no common list of them. */
struct handle {
    const void* dispatch; /* of OpenCL's objects: the calls that a loader finds here (cl_khr_icd) */
    const char* kind;
    struct handle *next, *previous;
};

/* Zeroed memory for an object of `bytes`, with its handle registered. \returns NULL without host memory */
void* handle_create(const char* kind, size_t bytes);
/* Takes back what handle_create() gave. */
void handle_destroy(void* object);
bool handle_is(const void* object, const char* kind);

#endif
