/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU as its host and its command processor see it: PCIe identity, BARs, registers, and the tables in the command
 * processor's memory that host driver and firmware share. Plain C99. */
#ifndef FABRICVP_ABI_GPU_H
#define FABRICVP_ABI_GPU_H

#include "abi/gpu_apertures.h"
#include "abi/registers.h"

#define GPU_VENDOR 0xfab0
#define GPU_DEVICE 0x1f10
#define GPU_CLASS 0x030200 /* 3D controller */

#define GPU_BAR_MEMORY 0    /* 64 bits, prefetchable: the device memory from offset 0; resizable */
#define GPU_BAR_DOORBELLS 2 /* 64 bits, prefetchable: 8 bytes a queue */
#define GPU_BAR_REGISTERS 4 /* 32 bits: registers, MSI-X table, and the command processor's memory */
#define GPU_DOORBELLS_SIZE 0x1000
#define GPU_REGISTERS_SIZE 0x100000
#define GPU_MSIX_TABLE 0x4000
#define GPU_SDMA_REGISTERS 0x8000 /* its copy engine's (abi/copy_engine.h): system DMA */
#define GPU_SDMA_REGISTERS_SIZE 0x1000
#define GPU_SRAM_WINDOW 0x80000 /* the command processor's memory in BAR 4; up to 512 KiB */

enum { GPU_MAX_WORKGROUP_ITEMS = 1024 }; /* of a work-group at most */
enum { GPU_QUEUES = 64, GPU_ADDRESS_SPACES = 16, GPU_VECTORS = 4 };
enum { GPU_VECTOR_SIGNAL = 0, GPU_VECTOR_FAULT = 1, GPU_VECTOR_FIRMWARE = 2, GPU_VECTOR_SDMA = 3 };

/* Registers in BAR 4, for the host. */
/* clang-format off */
#define GPU_HOST_REGISTERS(R)                                                                                          \
    R(GPU_ID, 0x000, 4, 1, 0)              /* 0x46565047 ("GPVF") */                                                   \
    R(GPU_INDEX, 0x004, 4, 1, 0)           /* of this GPU in its node */                                               \
    R(GPU_MEMORY_SIZE, 0x008, 8, 1, 0)     /* bytes of device memory */                                                \
    R(GPU_COMPUTE_UNITS, 0x010, 4, 1, 0)                                                                               \
    R(GPU_WAVEFRONT_SLOTS, 0x014, 4, 1, 0) /* a compute unit, of GPU_SLOT_LANES */                                     \
    R(GPU_CLOCK_HZ, 0x018, 8, 1, 0)                                                                                    \
    R(GPU_SRAM_SIZE, 0x020, 4, 1, 0)                                                                                   \
    R(GPU_CP_HARTS, 0x024, 4, 1, 0)                                                                                    \
    R(GPU_CP_CONTROL, 0x028, 4, 1, 0)      /* bit 0: run; cleared: hold in reset */                                    \
    R(GPU_CP_STATUS, 0x02c, 4, 1, 0)       /* written by firmware, enum gpu_firmware_state */                          \
    R(GPU_CP_ENTRY, 0x030, 8, 1, 0)        /* where the harts start: an offset in their memory */                      \
    R(GPU_HOST_REQUEST, 0x038, 4, 1, 0)    /* any write: event GPU_EVENT_HOST for the firmware */                      \
    R(GPU_PEERS, 0x040, 8, 1, 0)           /* bit n: it reaches the memory of GPU n of its node; its own is set */     \
    R(GPU_PAGE_REQUEST, 0x048, 8, 1, 0) /* read pops: page of a stalled walk; bit 0 valid, 63…60 address space */ \
    R(GPU_PAGE_RETRY, 0x050, 4, 1, 0)      /* any write: walks that wait for pages try again */                        \
    R(GPU_CP_FIRMWARE, 0x054, 4, 1, 0)  /* bytes of firmware that the GPU comes with and runs; 0: the host loads it */ \
    R(GPU_PAGE_SIZE, 0x058, 4, 1, 0)       /* bytes of pages for programs' buffers: 4 KiB or 2 MiB. It can do both */  \
    R(GPU_LDS_BYTES, 0x05c, 4, 1, 0)       /* local data share of a compute unit */                                    \
    R(GPU_REGISTER_BYTES, 0x060, 4, 1, 0)  /* vector registers of a compute unit; 0: they limit nothing */             \
    R(GPU_SLOT_LANES, 0x064, 4, 1, 0)      /* of a wavefront that takes one slot. 32: one of 64 lanes takes two */     \
    R(GPU_L2_BYTES, 0x068, 8, 1, 0)                                                                                    \
    R(GPU_MEMORY_CLOCK_HZ, 0x070, 8, 1, 0) /* two transfers a clock */                                                 \
    R(GPU_MEMORY_BUS_BITS, 0x078, 4, 1, 0) /* of all channels */                                                       \
    R(GPU_FLUSH_PAGE, 0x080, 8, 1, 0)      /* bus address in host memory. Releases of system scope read 4 bytes here   \
                                            * behind their writes to the host and to devices; 0: they do not wait */   \
    R(GPU_MIGRATION_SIZE, 0x088, 4, 1, 0)  /* bytes that first touch moves at a time: a power of two to 2 MiB */       \
    R(GPU_QUEUE_HART, 0x200, 4, 64, 4) /* its hart; reset: n % GPU_CP_HARTS. Write while the queue is free */ \
    R(GPU_INTERRUPT, 0x03c, 4, 1, 0) /* vectors raised, write 1 to clear; INTA while any is set, unless MSI-X is on */
/* clang-format on */
enum { GPU_HOST_REGISTERS(ABI_OFFSET) };
#define GPU_ID_VALUE 0x46565047

enum gpu_firmware_state { GPU_FIRMWARE_HELD = 0, GPU_FIRMWARE_READY = 1, GPU_FIRMWARE_CRASHED = 2 };

/* The command processor's own aperture (GPU_PA_LOCAL): its memory at 0, its registers at GPU_CP_REGISTERS_BASE. */
#define GPU_LOCAL(offset) (((uint64_t)GPU_PA_LOCAL << GPU_PA_APERTURE_SHIFT) + (offset))
#define GPU_VIRTUAL(address) (((uint64_t)GPU_PA_VIRTUAL << GPU_PA_APERTURE_SHIFT) + (address))
#define GPU_CP_REGISTERS_BASE 0x10000000
#define GPU_CP_REGISTERS_SIZE 0x10000

/* clang-format off */
#define GPU_CP_REGISTERS(R)                                                                                            \
    R(CP_EVENT_PENDING, 0x0000, 4, 16, 4)     /* by hart, read-only: enum gpu_event */                                 \
    R(CP_EVENT_ENABLE, 0x0040, 4, 16, 4)      /* by hart: what drives its external interrupt */                        \
    R(CP_DOORBELL_PENDING, 0x0080, 8, 1, 0)   /* bit n: queue n was rung (event of its hart); write 1 to clear */      \
    R(CP_FIRMWARE_STATE, 0x008c, 4, 1, 0)     /* what the host reads in GPU_CP_STATUS */                               \
    R(CP_INTERRUPT, 0x0090, 4, 1, 0)          /* write: raise this MSI-X vector */                                     \
    R(CP_HARTS, 0x0094, 4, 1, 0)                                                                                       \
    R(CP_TIME_NS, 0x0098, 8, 1, 0)            /* simulated time */                                                     \
    R(CP_HOST_PENDING, 0x0100, 4, 16, 4)      /* by hart, bit 0: GPU_HOST_REQUEST was written; write 1 to clear */     \
    R(CP_ACCESS_FAULT, 0x0140, 4, 16, 4)      /* by hart: enum gpu_fault of its last access that trapped */            \
    R(CP_ADDRESS_SPACE, 0x00c0, 4, 16, 4)     /* by hart: whose tables the virtual aperture uses */                    \
    R(CP_DOORBELL_VALUE, 0x0200, 8, 64, 8)    /* last value written, by queue */                                       \
    R(CP_PAGE_TABLE, 0x0400, 8, 16, 8)        /* by address space: physical address of the root table */               \
    R(CP_TLB_INVALIDATE, 0x0480, 4, 1, 0)     /* write: drop its translations     */                                  \
    R(CP_TLB_BUSY, 0x0484, 4, 1, 0)                                                                                    \
    R(CP_ACQUIRE, 0x0488, 4, 1, 0)            /* write: compute units clear what their caches hold */                 \
    R(CP_QUEUE_HART, 0x0500, 4, 64, 4)        /* by queue: the hart of its doorbell; the host's GPU_QUEUE_HART */ \
    R(CP_HART_QUEUES, 0x0600, 8, 16, 8)       /* by hart, read-only: bit n: queue n is this hart's */                  \
    R(CP_DISPATCH_IMAGE, 0x1000, 8, 16, 0x100)    /* by hart, as all below: global address of the image */             \
    R(CP_DISPATCH_ENTRY, 0x1008, 8, 16, 0x100)                                                                         \
    R(CP_DISPATCH_KERNARG, 0x1010, 8, 16, 0x100)                                                                       \
    R(CP_DISPATCH_SCRATCH, 0x1018, 8, 16, 0x100)  /* global address of the scratch area */                             \
    R(CP_DISPATCH_SCRATCH_BYTES, 0x1020, 4, 16, 0x100)                                                                 \
    R(CP_DISPATCH_LDS_BYTES, 0x1024, 4, 16, 0x100)                                                                     \
    R(CP_DISPATCH_GRID_X, 0x1028, 4, 16, 0x100)                                                                        \
    R(CP_DISPATCH_GRID_Y, 0x102c, 4, 16, 0x100)                                                                        \
    R(CP_DISPATCH_GRID_Z, 0x1030, 4, 16, 0x100)                                                                        \
    R(CP_DISPATCH_GROUP_X, 0x1034, 4, 16, 0x100)                                                                       \
    R(CP_DISPATCH_GROUP_Y, 0x1038, 4, 16, 0x100)                                                                       \
    R(CP_DISPATCH_GROUP_Z, 0x103c, 4, 16, 0x100)                                                                       \
    R(CP_DISPATCH_SPACE, 0x1040, 4, 16, 0x100)    /* address space */                                                  \
    R(CP_DISPATCH_FIRST_GROUP, 0x1048, 8, 16, 0x100)  /* index of the first work-group of the part that runs here */   \
    R(CP_DISPATCH_GROUPS, 0x1050, 8, 16, 0x100)   /* how many work-groups run here; 0: all */                          \
    R(CP_DISPATCH_SCRATCH_SIZE, 0x1068, 8, 16, 0x100) /* bytes of the scratch area */                                  \
    R(CP_DISPATCH_CHUNK, 0x1070, 4, 16, 0x100) /* not 0: this many of each CP_DISPATCH_PERIOD work-groups run here */ \
    R(CP_DISPATCH_PERIOD, 0x1074, 4, 16, 0x100)                                                                        \
    R(CP_DISPATCH_ACQUIRE, 0x1078, 4, 16, 0x100)  /* 0: caches of compute units keep what they hold */                 \
    R(CP_DISPATCH_ABORT, 0x107c, 4, 16, 0x100)    /* write the cookie of a launch: end it */                           \
    R(CP_DISPATCH_FLAGS, 0x1080, 4, 16, 0x100)    /* of the kernel's descriptor; a launch leaves 0 */                  \
    R(CP_DISPATCH_START, 0x1058, 4, 16, 0x100)    /* write a cookie: launch */                                         \
    R(CP_DISPATCH_FREE, 0x105c, 4, 16, 0x100)     /* launches that would be taken now */                               \
    R(CP_DISPATCH_DONE, 0x1060, 8, 16, 0x100)     /* read pops: bit 63 valid, bits 39…32 enum gpu_fault, cookie */
/* clang-format on */
enum { GPU_CP_REGISTERS(ABI_OFFSET) };
#define CP_DISPATCH_DONE_VALID (1ull << 63)
#define CP_DISPATCH_DONE_FAULT(value) ((uint32_t)((value) >> 32) & 0xff)

enum gpu_event { GPU_EVENT_DOORBELL = 1, GPU_EVENT_DISPATCH = 2, GPU_EVENT_HOST = 4, GPU_EVENT_FAULT = 8 };

/* Why something ended, in fault records and queue errors: F(name, number, what people read). */
/* clang-format off */
#define GPU_FAULTS(F)                                                                                                  \
    F(NONE, 0, "none")                                                                                                 \
    F(UNMAPPED, 1, "unmapped")             /* no page */                                                               \
    F(READ_ONLY, 2, "read only")                                                                                       \
    F(NOT_EXECUTABLE, 3, "not executable")                                                                             \
    F(MISALIGNED, 4, "misaligned")                                                                                     \
    F(BAD_APERTURE, 5, "bad aperture")     /* an address that no aperture holds */                                     \
    F(BUS, 6, "bus error")                 /* no device answered */                                                    \
    F(POISONED, 7, "poisoned")                                                                                         \
    F(ILLEGAL, 8, "illegal instruction")                                                                               \
    F(BARRIER, 9, "barrier")               /* lanes wait for others that wait for them */                              \
    F(RESOURCES, 10, "resources")          /* a work-group that no compute unit can hold */                            \
    F(PC, 11, "wild jump")                 /* to where no code can be */                                               \
    F(RUNAWAY, 12, "runaway")              /* more instructions than a wavefront may execute */                        \
    F(PACKET, 32, "malformed packet")      /* of AQL */                                                                \
    F(KERNEL, 33, "not a kernel")          /* no descriptor of one */                                                  \
    F(OVERFLOW, 34, "queue overflow")      /* a doorbell beyond the ring */                                            \
    F(FIRMWARE, 35, "firmware trap")       /* of the command processor: pc, address, its cause for a queue, hart for   \
                                            * a lane */                                                                \
    F(DEPENDENCY, 36, "failed dependency") /* a barrier packet waits for a signal that tells an error */               \
    F(ABORTED, 37, "aborted")              /* a launch that the firmware ended (CP_DISPATCH_ABORT) */
/* clang-format on */
#define GPU_FAULT_NUMBER(name, number, text) GPU_FAULT_##name = number,
enum gpu_fault { GPU_FAULTS(GPU_FAULT_NUMBER) };
#define GPU_FAULT_TEXT(name, number, text) \
    case GPU_FAULT_##name: return text;

/* Tables in the command processor's memory, by offset there. The firmware clears them before it is GPU_FIRMWARE_READY;
 * until then the host leaves them alone. */
#define GPU_SRAM_QUEUES 0x1000   /* struct gpu_queue[GPU_QUEUES] */
#define GPU_SRAM_FAULTS 0x3000   /* struct gpu_fault_log */
#define GPU_SRAM_SPACES 0x2800   /* uint64_t[GPU_ADDRESS_SPACES]: physical addresses of page-table roots, 0: none */
#define GPU_SRAM_FIRMWARE 0x4000 /* the firmware image is linked to start here */

/* Scratch that host drivers provide: bytes a lane of every wavefront slot. */
enum { GPU_QUEUE_SCRATCH = 1024 };

/* The host writes `state` (ACTIVE, FREE) and then GPU_HOST_REQUEST. FREE aborts what runs; a queue becomes ACTIVE, from
 * its first packet on, when FREE has been taken. */
enum gpu_queue_state { GPU_QUEUE_FREE = 0, GPU_QUEUE_ACTIVE = 1, GPU_QUEUE_ERROR = 2 };
struct gpu_queue {
    uint32_t state;    /* enum gpu_queue_state, never ERROR */
    uint32_t priority; /* 0 low … 2 high */
    uint32_t packets;  /* size of the ring, a power of two */
    uint32_t address_space;
    uint64_t ring;       /* global virtual address */
    uint64_t read_index; /* where the firmware publishes how many packets it has taken; virtual, 0: nowhere */
    uint64_t scratch;    /* global virtual address of scratch for all wavefront slots */
    uint64_t scratch_bytes;
    uint32_t error; /* enum gpu_fault */
    uint32_t
        acknowledged; /* by the firmware: the `state` it has acted on, or ERROR; FREE once nothing of the queue runs */
    uint64_t stopped_at; /* by the firmware, with ERROR: packets from this one on are not looked at any more */
};

/* The firmware appends; the host reads `written` and the records. */
enum { GPU_FAULT_RECORDS = 32 };
struct gpu_fault_record {
    uint32_t fault; /* enum gpu_fault */
    uint32_t queue;
    uint64_t packet; /* index in the queue */
    uint64_t pc;
    uint64_t address;
    uint32_t compute_unit, wavefront; /* slot */
    uint32_t lane, reserved;
    uint32_t group[3], reserved2;
    uint64_t image; /* of the kernel, global virtual address: what pc counts from GPU_CODE_BASE in; 0: none */
};
struct gpu_fault_log {
    uint32_t written; /* records ever written; the newest is at (written - 1) % GPU_FAULT_RECORDS */
    uint32_t reserved[15];
    struct gpu_fault_record record[GPU_FAULT_RECORDS];
};

/* Faults of dispatches, a FIFO: what stands here is the oldest record. */
/* clang-format off */
#define GPU_CP_FAULT_REGISTERS(R)                                      \
    R(CP_FAULT_KIND, 0x3000, 4, 1, 0)       /* 0: the FIFO is empty */ \
    R(CP_FAULT_LANE, 0x3004, 4, 1, 0)                                  \
    R(CP_FAULT_COMPUTE_UNIT, 0x3008, 4, 1, 0)                          \
    R(CP_FAULT_WAVEFRONT, 0x300c, 4, 1, 0)                             \
    R(CP_FAULT_PC, 0x3010, 8, 1, 0)                                    \
    R(CP_FAULT_ADDRESS, 0x3018, 8, 1, 0)                               \
    R(CP_FAULT_COOKIE, 0x3020, 4, 1, 0)                                \
    R(CP_FAULT_GROUP_X, 0x3024, 4, 1, 0)                               \
    R(CP_FAULT_GROUP_Y, 0x3028, 4, 1, 0)                               \
    R(CP_FAULT_GROUP_Z, 0x302c, 4, 1, 0)                               \
    R(CP_FAULT_POP, 0x3030, 4, 1, 0)        /* write: next record */
/* clang-format on */
enum { GPU_CP_FAULT_REGISTERS(ABI_OFFSET) };

#endif
