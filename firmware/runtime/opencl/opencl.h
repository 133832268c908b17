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
    cl_platform_id platform; /* that the program has named; NULL: none */
    cl_uint device_count;
    struct compute_device* devices[MAX_GPUS];
};
struct _cl_command_queue {
    struct counted counted;
    cl_context context;
    struct compute_stream* stream;
    bool profiled;
};
/* What a buffer is told about at its end. */
struct cl_destructor {
    fabricvp_cl_mem_notify notify;
    void* user;
    struct cl_destructor* next;
};
/* A part of a buffer that the program has as memory of the host. */
struct cl_mapping {
    uint8_t* at;
    uint64_t offset, bytes;
    bool written;
    struct cl_mapping* next;
};
/* Lies on the device of the first command that uses it, where a context has several. */
struct _cl_mem {
    struct counted counted;
    cl_context context;
    cl_mem_flags flags;
    uint64_t bytes;
    struct compute_memory* memory; /* NULL: not yet; of a part, the whole buffer's */
    void* contents;                /* that it gets then */
    cl_mem whole;                  /* NULL, unless it is a part of this buffer */
    uint64_t origin;               /* of the part */
    uint8_t* host;                 /* the program's memory that it stands for (CL_MEM_USE_HOST_PTR) */
    struct cl_mapping* mappings;
    struct cl_destructor* destructors;
};
struct _cl_program {
    struct counted counted;
    cl_context context;
    char* source;           /* NULL: from binaries */
    const char* log;        /* of the last build; NULL: there was none */
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
    cl_context context;
    cl_command_queue queue; /* NULL: the program ends it */
    cl_command_type type;
    struct compute_event* event;
    cl_int failure; /* that the program has ended it with */
};

extern const char cl_context_kind[], cl_queue_kind[], cl_mem_kind[], cl_program_kind[], cl_kernel_kind[],
    cl_event_kind[], cl_function_kind[];

/* The calls that stand first in every object, for a loader of drivers; NULL where programs are linked with the
 * run-time.
 */
extern const void* cl_dispatch;
/* Gives platform, devices and all objects to come their calls, and what a loader finds the platform by. */
void cl_serve_loader(const void* dispatch, void* get_platforms);

/* Zeroed, with one reference. */
void* cl_create(const char* kind, size_t bytes);
/* \returns whether that was the last reference */
bool cl_drop(struct counted* counted);
void cl_retain(void* object);

/* The device behind an identifier, NULL if it is none. */
struct compute_device* cl_device(cl_device_id id);
cl_device_id cl_device_identifier(const struct compute_device* device);
/* Properties that do not depend on the machine. */
cl_int cl_query_fixed(const struct compute_device* device, cl_device_info what, size_t room, void* value,
                      size_t* bytes);
/* Where a device stands in a context; device_count if it does not. */
cl_uint cl_place(cl_context context, const struct compute_device* device);

/* Gives a device of the program's context, by its place, a copy of a binary. */
cl_int cl_take_binary(cl_program program, cl_uint place, const void* binary, size_t bytes);
/* Gives all devices of a program from its source the image that stands for it. */
cl_int cl_find_image(cl_program program, const char* options);
/* Of a program that is built; NULL: it is not. */
const struct program_record* cl_program_record(cl_program program);

/* What the queries of all objects end with. */
cl_int cl_query(const void* found, size_t found_bytes, size_t room, void* value, size_t* bytes);
cl_int cl_query_text(const char* text, size_t room, void* value, size_t* bytes);
/* The same of a number or handle, in a function that has `room`, `value` and `bytes`. */
#define cl_query_number(number, type) cl_query(&(const type){(type)(number)}, sizeof(type), room, value, bytes)
/* Stores what a creation ends with. */
void* cl_created(void* object, cl_int failure, cl_int* error);

/* Gives a buffer its place. */
cl_int cl_place_buffer(cl_mem buffer, struct compute_device* device);
/* Of a buffer that has its place. */
uint64_t cl_address(cl_mem buffer);
void cl_drop_mapping(cl_mem buffer, struct cl_mapping* mapping);
enum { CL_PART_ALIGNMENT = 128 }; /* of parts of buffers, that of the largest vector */
/* Whether a command of a queue may use a part of a buffer, which gets its place. */
cl_int cl_use_part(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes);

/* The arguments of commands: a queue, events of its context. */
struct cl_wait_list {
    struct compute_event** events;
    struct compute_after after;
};
cl_int cl_begin(struct cl_wait_list* list, cl_command_queue queue, cl_uint count, const cl_event* after);
/* In place of a command. \returns the failure */
cl_int cl_abandon(struct cl_wait_list* list, cl_int failure);
/* Ends what cl_begin() began: the program gets the command's event, if it asks for it. */
cl_int cl_enqueued(struct cl_wait_list* list, cl_command_queue queue, cl_command_type type, struct compute_event* done,
                   bool blocking, cl_event* event);
cl_int cl_status(cl_event event);
/* Calls the program's functions that wait for what has ended. */
void cl_notify(void);

#endif
