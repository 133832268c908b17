/* SPDX-License-Identifier: Apache-2.0 */
/* What the run-times of HIP and OpenCL have in common: GPUs, their memory, programs, and streams of commands. It stands
 * on the driver of GPUs. Called by hart 0.
 *
 * Commands of a stream are done in order. Kernels and markers become packets of the stream's queue at once; copies and
 * fills are done by the host's call of a copy engine when what stands before them has ended. Whatever cannot begin yet
 * waits in the stream until the next call of the run-time, so a program that never calls it again stalls. */
#ifndef FABRICVP_RUNTIME_COMPUTE_H
#define FABRICVP_RUNTIME_COMPUTE_H

#include "abi/kernel_descriptor.h"
#include "abi/program_record.h"
#include "drivers/gpu/gpu.h"
#include "runtime/handles.h"

/* Device addresses begin here, so that none is an address of the host, too. */
#define COMPUTE_DEVICE_ADDRESSES (UINT64_C(1) << 44)
#define COMPUTE_NODE_ADDRESSES (UINT64_C(1) << 42) /* a node that shares its address space with no other */
/* Behind those of all nodes, where kernels find registered memory of the host that lies below GPU_GLOBAL_BASE. */
#define COMPUTE_LOW_HOST_MEMORY (COMPUTE_DEVICE_ADDRESSES + (MAX_GPUS + 1) * COMPUTE_NODE_ADDRESSES)
/* Up to there: what lies above is the program's where it is position-independent, from two thirds of Sv48's half on. */
#define COMPUTE_ALL_DEVICE_ADDRESSES (COMPUTE_LOW_HOST_MEMORY - COMPUTE_DEVICE_ADDRESSES + GPU_GLOBAL_BASE)
static inline bool compute_is_device_address(uint64_t at) {
    return at - COMPUTE_DEVICE_ADDRESSES < COMPUTE_ALL_DEVICE_ADDRESSES;
}
enum { COMPUTE_LINE_BYTES = 64, COMPUTE_WAVEFRONT = 64, COMPUTE_HEAP_BYTES = 8 << 20 };

struct compute_stream;
struct compute_program;

struct compute_device {
    struct gpu_node* node; /* of all GPUs that reach each other's memory, or of this one alone */
    struct gpu* gpu;
    unsigned index;
    struct compute_stream* streams;
    struct compute_program* programs;
};

/* Starts all GPUs when it is called first. \returns how many there are */
unsigned compute_device_count(void);
struct compute_device* compute_device(unsigned index);
/* Whether kernels of one reach the memory of the other. */
bool compute_reaches(const struct compute_device* one, const struct compute_device* other);
/* Now, in nanoseconds since the machine began, as GPUs count them. */
uint64_t compute_now_ns(void);

/* ---- memory ---- */

struct compute_memory {
    gpu_address at;
    uint64_t bytes, mapped; /* asked for; whole pages */
    struct compute_device* device;
    bool owned; /* by a program, which frees it */
    struct compute_memory* next;
};
/* Whole pages before and behind each allocation that kernels may use, too: 0 unless the machine says otherwise. */
uint64_t compute_margin(void);
/* \returns NULL if there is no space on the device or for the note on the host */
struct compute_memory* compute_allocate(struct compute_device* device, uint64_t bytes);
/* Keeps track of memory that is no allocation, so that copies find it; compute_untrack() ends it. \returns NULL without
 * space */
struct compute_memory* compute_track(struct compute_device* device, gpu_address at, uint64_t bytes);
void compute_untrack(struct compute_memory* memory);
/* Waits until nothing of its device and of those that reach it runs. */
void compute_free(struct compute_memory* memory);
/* The allocation that has all of these bytes, NULL if none has. */
struct compute_memory* compute_find(gpu_address at, uint64_t bytes);
uint64_t compute_free_bytes(const struct compute_device* device);

/* ---- programs ---- */

struct compute_kernel;
struct compute_program {
    struct compute_device* device;
    const uint8_t* elf;
    uint64_t elf_bytes;
    uint8_t* copy; /* of the file, unless it was linked in */
    struct program_record* record;
    gpu_address image;
    struct compute_memory *block, *constants; /* NULL: it has none */
    struct compute_kernel* kernels;           /* that were asked for */
    bool printing;                            /* a kernel was launched that may print */
    struct compute_program* next;
};
struct compute_kernel {
    struct handle handle;
    struct compute_program* program;
    const struct program_kernel* info;
    const struct program_parameter* parameters;
    struct gpu_kernel kernel;
    struct compute_kernel* next;
};

/* A copy of the record of an ELF file in memory, for heap_free(); NULL if it has none, or a malformed one. */
struct program_record* compute_record(const void* elf, uint64_t bytes);
/* How long a file is; 0: it is no ELF file. */
uint64_t compute_elf_bytes(const void* elf);
const char* compute_text(const struct program_record* record, uint32_t offset);
/* Writes what kernels of the device have printed, if none of them runs. */
void compute_print(const struct compute_device* device);
/* \returns NULL without a record, or without space on the device or the host */
struct compute_program* compute_load(struct compute_device* device, const void* elf, uint64_t bytes);
void compute_unload(struct compute_program* program);
/* By the name in the source or the one that compilers give it, NULL if there is none. `kind` is that of its handle. */
struct compute_kernel* compute_find_kernel(struct compute_program* program, const char* name, const char* kind);
/* Where a variable or constant of the program lies, by the name in the source or the one that compilers give it; 0:
 * there is none. */
gpu_address compute_find_variable(const struct compute_program* program, const char* name, uint64_t* bytes);

struct compute_grid {
    uint64_t items[3];
    uint64_t group[3];
    uint64_t local_bytes; /* dynamic */
    bool cooperative;     /* all work-groups on the GPU at the same time */
};
enum compute_limit {
    COMPUTE_FITS,
    COMPUTE_GRID_EMPTY,       /* a size is 0 */
    COMPUTE_GRID_LARGE,       /* more work-items than a packet can say */
    COMPUTE_GROUP_LARGE,      /* more work-items than a work-group can have */
    COMPUTE_GROUP_LIMITED,    /* more than the source allows */
    COMPUTE_GROUP_REQUIRED,   /* the source requires another one */
    COMPUTE_LOCAL_LARGE,      /* more local memory than a compute unit has */
    COMPUTE_COOPERATIVE_LARGE /* more work-groups than the GPU holds at a time, by slots and local memory */
};
/* Work-groups of `items` work-items, with so much dynamic local memory, that a compute unit holds at a time, by slots
 * and local memory; registers may allow fewer. */
uint64_t compute_resident_groups(const struct compute_kernel* kernel, uint64_t items, uint64_t local_bytes);
enum compute_limit compute_check(const struct compute_kernel* kernel, const struct compute_grid* grid);

/* ---- events ---- */

/* Of a command: when it was queued, submitted, started and ended. Those who hold it count. */
struct compute_event {
    unsigned holders;
    bool submitted, ended;
    unsigned fault; /* enum gpu_fault, GPU_TIMED_OUT */
    uint64_t queued_ns, submitted_ns, start_ns, end_ns;
};
void compute_hold(struct compute_event* event);
void compute_release(struct compute_event* event); /* NULL is fine */

/* ---- streams ---- */

struct compute_command;
struct compute_stream {
    struct compute_device* device;
    struct gpu_queue_handle queue;
    struct compute_command *first, *last; /* that have not ended */
    struct compute_command* next;         /* the first that was not submitted */
    unsigned in_flight;
    unsigned fault;             /* of the first command that failed since compute_take_fault() */
    struct compute_event* tail; /* of its last command */
    struct compute_stream* next_stream;
};
/* \param priority 0 low … 2 high \returns NULL without space for its queue, or if the GPU has no queue left */
struct compute_stream* compute_open(struct compute_device* device, unsigned priority);
/* Waits for its commands. */
void compute_close(struct compute_stream* stream);

/* What a command waits for beside those of its stream. */
struct compute_after {
    struct compute_event* const* events;
    unsigned count;
    bool strict; /* if one of them has failed, the command fails, too */
};
/* All of these add a command and do what can be done. \returns its event, held for the caller; NULL without host
 * memory. Arguments are copied, buffers of copies are not. */
struct compute_event* compute_launch(struct compute_stream* stream, const struct compute_kernel* kernel,
                                     const struct compute_grid* grid, const void* arguments,
                                     struct compute_after after);
struct compute_event* compute_mark(struct compute_stream* stream, struct compute_after after);
struct compute_event* compute_write(struct compute_stream* stream, gpu_address to, const void* from, uint64_t bytes,
                                    struct compute_after after);
struct compute_event* compute_read(struct compute_stream* stream, void* to, gpu_address from, uint64_t bytes,
                                   struct compute_after after);
struct compute_event* compute_copy(struct compute_stream* stream, gpu_address to, gpu_address from, uint64_t bytes,
                                   struct compute_after after);
/* Calls a function of the host in the stream's order, in a call of the run-time, which it must not call itself.
 * `fault`: of the first command that failed since compute_take_fault(). */
struct compute_event* compute_call(struct compute_stream* stream, void (*function)(void* context, unsigned fault),
                                   void* context, struct compute_after after);
enum { COMPUTE_MAX_PATTERN = 128 };
/* `pattern` again and again; its size is a power of two. */
struct compute_event* compute_fill(struct compute_stream* stream, gpu_address to, uint64_t bytes, const void* pattern,
                                   uint64_t pattern_bytes, struct compute_after after);

/* Does what can be done in all streams. */
void compute_progress(void);
/* How waits wait where no interrupt of the machine's own wakes them: by polling, in turn with other programs, or asleep
 * until an interrupt of signals comes. All do the same where the machine has interrupts of its own, or none. */
enum compute_wait_mode { COMPUTE_SPIN, COMPUTE_YIELD, COMPUTE_BLOCK };
void compute_set_wait(enum compute_wait_mode how);
/* Signals ask for interrupts from the next command on, so that compute_wait_as() can block. */
void compute_use_interrupts(void);
void compute_wait_as(struct compute_event* event, enum compute_wait_mode how);
void compute_wait(struct compute_event* event);
void compute_wait_stream(struct compute_stream* stream);
void compute_wait_device(struct compute_device* device);
bool compute_idle(struct compute_stream* stream);
/* Why a command has failed, once; 0: none has. */
unsigned compute_take_fault(struct compute_stream* stream);
unsigned compute_take_device_fault(struct compute_device* device);

#endif
