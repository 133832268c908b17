/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of OpenCL's run-time share. */
#ifndef FABRICVP_RUNTIME_OPENCL_H
#define FABRICVP_RUNTIME_OPENCL_H

#include "runtime/compute.h"
#include "runtime/include/CL/cl.h"

/* Begins the objects that are counted. */
struct counted {
    struct handle handle;
    cl_uint references;
};

struct _cl_context {
    struct counted counted;
    cl_uint device_count;
    struct compute_device* devices[MAX_GPUS];
};
struct _cl_command_queue {
    struct counted counted;
    cl_context context;
    struct compute_stream* stream;
    bool profiled;
};
/* Lies on the device of the first command that uses it, where a context has several. */
struct _cl_mem {
    struct counted counted;
    cl_context context;
    cl_mem_flags flags;
    uint64_t bytes;
    struct compute_memory* memory; /* NULL: not yet */
    void* contents;                /* that it gets then */
};
struct _cl_program {
    struct counted counted;
    cl_context context;
    uint8_t* elf[MAX_GPUS]; /* of each device of the context; NULL: none */
    uint64_t elf_bytes[MAX_GPUS];
    struct compute_program* built[MAX_GPUS];
    bool is_built;
};
struct cl_argument {
    bool set;
    cl_mem buffer;        /* of a pointer to device memory; NULL: a null pointer */
    uint64_t local_bytes; /* of a pointer to local memory */
};
struct _cl_kernel {
    struct counted counted;
    cl_program program;
    struct compute_kernel* kernels[MAX_GPUS]; /* one a device */
    const struct compute_kernel* any;         /* the first of these */
    uint8_t* values;                          /* the block of arguments */
    struct cl_argument arguments[];
};
struct _cl_event {
    struct counted counted;
    cl_command_queue queue;
    cl_command_type type;
    struct compute_event* event;
};

extern const char cl_context_kind[], cl_queue_kind[], cl_mem_kind[], cl_program_kind[], cl_kernel_kind[],
    cl_event_kind[], cl_function_kind[];

/* Zeroed, with one reference. */
void* cl_create(const char* kind, size_t bytes);
/* \returns whether that was the last reference */
bool cl_drop(struct counted* counted);
void cl_retain(void* object);

/* The device behind an identifier, NULL if it is none. */
struct compute_device* cl_device(cl_device_id id);
cl_device_id cl_device_identifier(const struct compute_device* device);
/* Where a device stands in a context; device_count if it does not. */
cl_uint cl_place(cl_context context, const struct compute_device* device);

/* What the queries of all objects end with. */
cl_int cl_query(const void* found, size_t found_bytes, size_t room, void* value, size_t* bytes);
/* Stores what a creation ends with. */
void* cl_created(void* object, cl_int failure, cl_int* error);

/* Gives a buffer its place. */
cl_int cl_place_buffer(cl_mem buffer, struct compute_device* device);

/* The arguments of commands: a queue, events of its context. */
struct cl_wait_list {
    struct compute_event** events;
    struct compute_after after;
};
cl_int cl_begin(struct cl_wait_list* list, cl_command_queue queue, cl_uint count, const cl_event* after);
/* Ends what cl_begin() began: the program gets the command's event, if it asks for it. */
cl_int cl_enqueued(struct cl_wait_list* list, cl_command_queue queue, cl_command_type type, struct compute_event* done,
                   bool blocking, cl_event* event);

#endif
