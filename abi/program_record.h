/* SPDX-License-Identifier: Apache-2.0 */
/* What callers must know of the kernels in an image of `fabricvp cc`, beyond their descriptors (kernel_descriptor.h):
 * parameters, limits of work-groups, variables of program scope. It stands in a section of the ELF file that is not
 * loaded; python/fabricvp/compiler/record.py writes and reads it, firmware/runtime reads it. Offsets count from the
 * record's first byte, texts are zero-terminated, all is little-endian. Plain C99. */
#ifndef FABRICVP_ABI_PROGRAM_RECORD_H
#define FABRICVP_ABI_PROGRAM_RECORD_H

#include <stdint.h>

#define PROGRAM_RECORD_SECTION ".fabricvp.program"
#define PROGRAM_RECORD_MAGIC UINT64_C(0x31474f5250505646) /* "FVPPROG1" */
#define PROGRAM_RECORD_NONE UINT32_C(0xffffffff)          /* there is no such thing */

/* The block of a program: device memory that its kernels keep between launches. Its first `filled` bytes begin with
 * the section .tdata, and with zeros behind that. Places in the block are PROGRAM_RECORD_NONE where there is none. */
struct program_block {
    uint64_t bytes; /* without the heap; 0: kernels need no block */
    uint64_t filled;
    uint32_t output_used, output_lost; /* 8 bytes each: of the buffer of printf(), and calls that it had no space for */
    uint32_t output;                   /* the buffer */
    uint32_t heap; /* 16 bytes: where the heap begins, counted from here, and how long it is. The host fills them in,
                      and adds the heap behind the block, at a multiple of PROGRAM_HEAP_ALIGNMENT */
};
enum { PROGRAM_HEAP_ALIGNMENT = 64 };

struct program_record {
    uint64_t magic;
    uint32_t bytes; /* of all, this header included */
    uint32_t kernel_count, parameter_count, variable_count;
    uint32_t kernels;    /* offset of struct program_kernel[kernel_count], in the order of the source */
    uint32_t parameters; /* offset of struct program_parameter[parameter_count] */
    uint32_t variables;  /* offset of struct program_variable[variable_count] */
    uint32_t reserved;
    struct program_block block;
};

enum { PROGRAM_KERNEL_BLOCKS = 1 }; /* its grids are counted in work-groups, as in HIP and CUDA */

struct program_kernel {
    uint32_t name;     /* in the source; of overloads the next one */
    uint32_t function; /* as compilers name it, "_Z3addPfi" */
    uint32_t symbol;   /* in its descriptor */
    uint32_t flags;    /* PROGRAM_KERNEL_… */
    uint32_t first_parameter, parameter_count;
    uint32_t argument_bytes; /* of the block of arguments */
    uint32_t block;          /* place among the arguments for the address of the program's block, 8 bytes */
    uint32_t lds_bytes;      /* static, a work-group */
    uint32_t stack_bytes;    /* a work-item */
    uint32_t group[3];       /* the work-group that the source requires; 0: any */
    uint32_t max_group;      /* work-items of a work-group, if the source limits them; 0: it does not */
    /* What `fabricvp cc --report` tells: instructions that save registers for a caller, that store values for which
     * there was no register, and that load them again. */
    uint32_t saved, spills, reloads;
    uint32_t descriptor_flags; /* KERNEL_… (abi/kernel_descriptor.h) */
};

enum program_parameter_kind {
    PROGRAM_VALUE = 0,    /* by value: a number, a vector, a struct */
    PROGRAM_GLOBAL = 1,   /* a pointer to device memory */
    PROGRAM_CONSTANT = 2, /* the same to __constant memory */
    PROGRAM_LOCAL = 3     /* a pointer to the local data share: the caller says how many bytes */
};

struct program_parameter {
    uint32_t name;
    uint32_t type;                    /* as the source spells it */
    uint32_t base;                    /* the same without typedefs */
    uint32_t offset, size, alignment; /* in the block of arguments */
    uint8_t kind;                     /* enum program_parameter_kind */
    uint8_t constant;                 /* 1: a pointer to const */
    uint16_t reserved;
};

struct program_variable {
    uint32_t name;
    uint32_t element;           /* "<f4", "<i8", "|u1" as numpy has it; "V12": a structure of 12 bytes */
    uint64_t offset, bytes;     /* in the block */
    uint32_t shape, dimensions; /* offset of uint64_t[dimensions] */
};

#endif
