/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own kernel for the application `kernel` (firmware/programs/apps/kernel_job.c): the RAM disk begins with a
 * struct kernel_job. What it refers to lies behind it; all offsets count from its first byte. The application allocates
 * device memory for the buffers, copies their contents there, runs the kernel through a queue, copies them back to
 * where they came from, and then writes `state`. Little-endian. Plain C99. */
#ifndef FABRICVP_ABI_KERNEL_JOB_H
#define FABRICVP_ABI_KERNEL_JOB_H

#include <stdint.h>

#define KERNEL_JOB_MAGIC UINT64_C(0x31424f4a4b505646) /* "FVPKJOB1" */

enum kernel_job_state {
    KERNEL_JOB_NONE = 0,      /* the application waits until there is one */
    KERNEL_JOB_READY = 1,     /* to be run */
    KERNEL_JOB_DONE = 2,      /* it has run, and the buffers are back */
    KERNEL_JOB_FAULT = 3,     /* it has ended with `fault`; the console says more */
    KERNEL_JOB_MALFORMED = 4, /* it cannot be run; the console says why */
    KERNEL_JOB_EXIT = 5       /* the application ends */
};

enum {
    KERNEL_JOB_WAIT_FOR_NEXT = 1
}; /* flags: after the job the application waits for the next state that is not its own */

enum {
    KERNEL_JOB_PAGE = 4096,
    KERNEL_JOB_MAX_ARGUMENT_BYTES = 4096,
    KERNEL_JOB_MAX_TOGETHER = 16, /* jobs of a chain; none of several may be for all GPUs */
    KERNEL_JOB_STREAMS = 8        /* of a GPU in a chain: each has a queue */
};

#define KERNEL_JOB_ALL_GPUS UINT32_C(0xffffffff)

/* Where a buffer lies: where the job runs (KERNEL_JOB_PLACE_OWN), in host memory, which kernels reach over PCIe, or on
 * GPU n of the node (KERNEL_JOB_PLACE_GPU0 + n). */
#define KERNEL_JOB_PLACE_OWN UINT32_C(0)
#define KERNEL_JOB_PLACE_GPU0 UINT32_C(1)
#define KERNEL_JOB_PLACE_HOST UINT32_C(0xffffffff)

/* KEEP: it stays when the job has ended, and `address` says where. KEPT: an earlier one's, at `address`. ALWAYS: OUT
 * also if the kernel has ended with a fault. */
enum { KERNEL_JOB_IN = 1, KERNEL_JOB_OUT = 2, KERNEL_JOB_KEEP = 4, KERNEL_JOB_KEPT = 8, KERNEL_JOB_ALWAYS = 16 };
struct kernel_job_buffer {
    uint64_t bytes;
    uint64_t contents; /* offset; needed if IN or OUT, or in host memory: then a multiple of the page. KEPT without an
                          address: bits 63…32 the number of an earlier job of the chain, or of this one, 31…0 of a
                          buffer of it, here of an earlier one */
    uint64_t argument; /* offset inside the arguments of the 8 bytes that get the buffer's address */
    uint32_t flags;    /* IN: has contents at first, zeros otherwise. OUT: is copied back */
    uint32_t place;    /* KERNEL_JOB_PLACE_… */
    uint64_t address;  /* written by the application: where kernels see it */
    uint64_t content_bytes; /* IN, OUT: of the first so many, and others are not cleared; 0: all */
    uint64_t pitch;         /* bytes: row 1 of LADM's table: of a stride; rows 2 to 5: of a row of data */
    uint32_t row;           /* of that table (MICRO 2020, Table II), 1 to 7, for the policies `lasp`; 0: unknown */
    uint32_t datablock;     /* row 1: bytes of which a work-group makes use in an iteration; 0: a page */
};

struct kernel_job {
    uint64_t magic;
    uint64_t bytes; /* of everything, this header included, without other jobs */
    uint32_t flags;
    uint32_t gpu;            /* that runs it and holds the buffers, or KERNEL_JOB_ALL_GPUS */
    uint64_t elf, elf_bytes; /* kernels of any number, linked as firmware/gpu/gpu.ld does */
    uint64_t kernel;         /* offset of the zero-terminated name of one of them; 0: the first */
    uint32_t items[3];       /* of the grid; at least 1 each */
    uint32_t group[3];       /* of a work-group */
    uint32_t lds_bytes;      /* dynamic, a work-group */
    uint32_t argument_bytes; /* at most KERNEL_JOB_MAX_ARGUMENT_BYTES */
    uint64_t arguments;      /* offset */
    uint64_t buffers;        /* offset of struct kernel_job_buffer[buffer_count], 8-byte aligned */
    uint32_t buffer_count;
    uint32_t fault;       /* written by the application: enum gpu_fault, or 256 if it ran too long */
    uint64_t nanoseconds; /* written by the application: from the launch to the kernel's end; in a chain from the start
                             of the first kernel */
    uint32_t state;       /* enum kernel_job_state: the application writes it last */
    uint32_t next;        /* pages from the first byte of this job to that of another, which runs at the same time; 0:
                             there is none. Flags and state of the first job are those of all */
    uint32_t stream;    /* jobs of a chain with the same number (below KERNEL_JOB_STREAMS) follow each other on a GPU */
    uint32_t placement; /* of buffers on all GPUs: enum gpu_placement_policy, without FIRST_TOUCH_RECORDED */
    uint64_t after;     /* bit n: begins when job n of the chain has ended; n is smaller than its own number */
    uint32_t dispatch;  /* of the grid on all GPUs: enum gpu_dispatch_policy */
    uint32_t cooperative;      /* 1: all work-groups are on the GPU at the same time, or the launch is rejected */
    uint64_t start_ns, end_ns; /* written by the application: since the machine began, by the GPU in a chain */
};

#endif
