/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs: finds them behind the PCIe tree and, if they share the host's bus and memory (APUs), in the device tree, starts
 * their command processors, and gives them one address space, queues and kernels. Called by hart 0. Addresses that
 * kernels use are 64-bit integers of type gpu_address. */
#ifndef FABRICVP_DRIVERS_GPU_GPU_H
#define FABRICVP_DRIVERS_GPU_GPU_H

#include "abi/aql.h"
#include "abi/gpu.h"
#include "drivers/pci/copy_channel.h"
#include "drivers/pci/pci.h"

typedef uint64_t gpu_address;

enum { MAX_GPUS = 16, GPU_PAGE = 4096, GPU_LARGE_PAGE = 2 << 20 };

struct gpu_table; /* a page of the page tables, with its shadow in host memory */
struct gpu_pages;

struct gpu {
    struct pci_function* function; /* NULL: an APU */
    unsigned interrupt;            /* of an APU: source at the interrupt controller; 0: none */
    unsigned index;                /* of the node, as in physical addresses */
    uintptr_t memory;              /* CPU addresses of the BARs, of an APU's windows */
    volatile uint64_t* doorbells;
    uintptr_t registers;
    uint64_t bus_memory; /* where devices reach its memory */
    uint64_t shared;     /* of an APU: host memory that programs get for device memory; its own has page tables alone */
    uint64_t tables;     /* the same: next free offset in its own memory */
    uint64_t memory_bytes;      /* that programs get */
    uint32_t page_bytes;        /* of programs' buffers: GPU_PAGE or GPU_LARGE_PAGE */
    uint64_t free, top;         /* offsets there: pages are taken from `free` up, large ones from `top` down */
    struct gpu_pages* returned; /* pages that gpu_free() gave back (drivers/gpu/pages.h) */
    unsigned compute_units, wavefront_slots, slot_lanes; /* wavefronts of slot_lanes that a compute unit holds */
    uint32_t lds_bytes, register_bytes;                  /* of a compute unit; registers: 0 if they limit nothing */
    uint64_t l2_bytes;
    uint64_t memory_clock, clock; /* Hz */
    uint32_t memory_bus_bits;
    uint64_t peers;    /* bit n: it reaches the memory of GPU n */
    bool own_firmware; /* it runs command-processor firmware that it came with, not this program's */
    bool notifies;     /* signals ask for interrupts though delivery is PCI_POLLED: their owner takes them */
    uint64_t queues;   /* bit n: queue n is in use */
    uint32_t faults_seen;
    enum pci_delivery delivery;                /* PCI_POLLED until gpu_use_interrupts() */
    volatile uint32_t interrupts[GPU_VECTORS]; /* taken so far; pins share lines, but not these */
    struct copy_channel copies[2];             /* to and from its memory; made when they are first needed */
    unsigned copy_channels;                    /* how many of these there are */
};

/* Scratch memory for a queue whose kernels fill a compute unit. */
static inline uint64_t gpu_scratch_bytes(const struct gpu* g) {
    return (uint64_t)g->wavefront_slots * g->slot_lanes * GPU_QUEUE_SCRATCH;
}

/* A kernel image in device memory, and the ELF file that it came from. */
struct gpu_image {
    gpu_address at;
    uint64_t at_bytes; /* of a copy, in whole pages */
    unsigned copies;   /* one after the other from `at` on, each on a GPU */
    const void* elf;
    uint64_t bytes;
    struct gpu_image* next;
};

enum { GPU_WAIT_LIMIT_US = 1000000 };

/* All GPUs of the node, and the address space that they share. */
struct gpu_node {
    struct gpu gpu[MAX_GPUS];
    unsigned first, count; /* those from `first` to `count` - 1 are there; first: 0 but after gpu_isolate() */
    struct gpu_table* root;
    struct gpu_range* first_touch; /* buffers with first-touch placement */
    struct gpu_range* recorded;    /* those of an earlier pass, the oldest first: where their pages went */
    gpu_address next;              /* first free virtual address */
    uint64_t unmapped;             /* how often gpu_free() has been called: translations of before are stale */
    struct gpu_image* images;
    uint64_t limit_us; /* how long gpu_wait() waits: GPU_WAIT_LIMIT_US unless changed */
};

/* Finds and starts all GPUs. \returns false with a line on the console if one cannot be started. */
bool gpu_start(struct gpu_node* node, struct pci_host* host);
/* The same for programs that cannot do without one: refuses. */
void gpu_require(struct gpu_node* node, struct pci_host* host);
/* How many GPUs, counted from the first, all reach each other's memory: those that can share buffers. */
unsigned gpu_connected_count(const struct gpu_node* node);
void gpu_print(const struct gpu_node* node);
/* One GPU of a node with an address space of its own, as where no fabric joins it to the others. Programs then do
 * without `node`, which has to be fresh: nothing was allocated in it. */
void gpu_isolate(struct gpu_node* one, const struct gpu_node* node, unsigned gpu);
/* Loads the command processor's firmware again, after a crash say. Its queues are gone; gpu_reset_queue() brings each
 * back. */
bool gpu_restart(struct gpu_node* node, unsigned gpu);
/* Waits sleep until an interrupt comes, by the best way that the machine has, at most `best`. PCI_POLLED: they poll. An
 * APU's line counts as PCI_INTX. */
enum pci_delivery gpu_use_interrupts(struct gpu* gpu, enum pci_delivery best);

/* ---- memory ---- */

/* Which GPU holds page `page` of `pages`. */
typedef unsigned (*gpu_placement)(const struct gpu_node* node, uint64_t page, uint64_t pages, void* context);
unsigned gpu_place_interleaved(const struct gpu_node* node, uint64_t page, uint64_t pages, void* context);
unsigned gpu_place_contiguous(const struct gpu_node* node, uint64_t page, uint64_t pages, void* context);
unsigned gpu_place_on(const struct gpu_node* node, uint64_t page, uint64_t pages, void* gpu_index);

/* Device memory, zeroed only where the simulation's memory is fresh; page aligned. Panics if there is no room. */
gpu_address gpu_allocate(struct gpu_node* node, uint64_t bytes, gpu_placement place, void* context);
/* Device memory of one GPU. */
gpu_address gpu_allocate_on(struct gpu_node* node, unsigned gpu, uint64_t bytes);
/* The same over several GPUs in pages of `page` bytes: GPU_PAGE, or GPU_LARGE_PAGE as far as it fills them. `place` is
 * asked for pages of that size; what remains goes to the last page's GPU. */
gpu_address gpu_allocate_pages(struct gpu_node* node, uint64_t bytes, uint64_t page, gpu_placement place,
                               void* context);
/* In pages of 2 MiB, as far as it fills them. */
gpu_address gpu_allocate_large(struct gpu_node* node, unsigned gpu, uint64_t bytes);
/* Device memory in one piece, of whole pages of 2 MiB: for devices that know nothing of page tables. */
gpu_address gpu_allocate_contiguous(struct gpu_node* node, unsigned gpu, uint64_t bytes);
/* Unmaps an allocation, or host memory that gpu_map_host() has mapped; the pages of GPUs can be allocated again.
 * Nothing may use it any more. Queues drop the translations that their GPU holds before their next packet. Virtual
 * addresses are never used again, so a late access is a fault. */
void gpu_free(struct gpu_node* node, gpu_address at, uint64_t bytes);
uint64_t gpu_free_bytes(const struct gpu* gpu);
/* Whether an allocation of so many bytes in pages of `page` bytes (GPU_PAGE, GPU_LARGE_PAGE) fits, page tables
 * included. Where programs share the GPU, what is missing is taken. */
bool gpu_has_space(struct gpu* gpu, uint64_t bytes, uint32_t page);
/* Where devices reach what is mapped there; contiguous to the end of the page. Panics if nothing is. */
uint64_t gpu_bus_address(const struct gpu_node* node, gpu_address at);
/* Lets kernels reach host memory; `memory` is page aligned. */
gpu_address gpu_map_host(struct gpu_node* node, void* memory, uint64_t bytes, bool writable);
/* The same at an address of the caller's, from GPU_GLOBAL_BASE on: that of the host, say, so that both can use its
 * pointers. `bus` is where devices reach it. Where that is another address, and all are multiples of 2 MiB, pages are
 * large. */
void gpu_map_host_there(struct gpu_node* node, gpu_address at, uintptr_t bus, uint64_t bytes);
/* Lets kernels reach registers of a device, as a page of an adapter's doorbells; `at` is page aligned. Nothing is
 * cached or merged: each lane's load or store goes there by itself, those of a line in lane order. */
gpu_address gpu_map_device(struct gpu_node* node, uintptr_t at, uint64_t bytes);
/* The next allocation begins a stretch of 2 MiB of its own. */
void gpu_align(struct gpu_node* node, uint64_t alignment);
/* The GPU whose memory a physical address is in, NULL if it is no GPU's. */
struct gpu* gpu_owner(const struct gpu_node* node, uint64_t physical);
/* Physical address behind a virtual one, 0 if unmapped; of a withdrawn page, where its contents lie. */
uint64_t gpu_physical(const struct gpu_node* node, gpu_address at);

/* Where the host's loads and stores reach it; contiguous to the end of the page. Panics if it is unmapped. */
uintptr_t gpu_host_address(const struct gpu_node* node, gpu_address at);
/* Tells command processors where the page tables are. */
void gpu_set_page_tables(const struct gpu_node* node);

/* Unmaps the page at `at`: an access to it waits for gpu_migrate_page(). Translations that GPUs hold must be
 * invalidated. */
void gpu_unmap_page(struct gpu_node* node, gpu_address at);
/* Moves such a page to a GPU, with its contents, and maps it. */
void gpu_migrate_page(struct gpu_node* node, gpu_address at, unsigned gpu);

/* Copies by the host's own loads and stores through the BAR: for small things. */
void gpu_write(struct gpu_node* node, gpu_address to, const void* from, uint64_t bytes);
void gpu_read(struct gpu_node* node, void* to, gpu_address from, uint64_t bytes);

/* Copies by the GPUs' copy engines, each for what lies in its own memory; of little, by the host. \returns 0, the enum
 * gpu_fault that ended it, or GPU_TIMED_OUT */
unsigned gpu_copy_to(struct gpu_node* node, gpu_address to, const void* from, uint64_t bytes);
unsigned gpu_copy_from(struct gpu_node* node, void* to, gpu_address from, uint64_t bytes);
/* Between addresses of kernels; GPUs reach each other's memory. */
unsigned gpu_copy(struct gpu_node* node, gpu_address to, gpu_address from, uint64_t bytes);
/* What the engine of one GPU copies between physical addresses (abi/gpu_apertures.h); those of the host are bus
 * addresses. Only posted: gpu_copy_wait() starts it and waits for all. \param to_device which of its channels */
unsigned gpu_copy_post(struct gpu* gpu, bool to_device, uint64_t to, uint64_t from, uint64_t bytes);
unsigned gpu_copy_wait(struct gpu* gpu, bool to_device);
/* Starts what was posted, for several GPUs to copy at the same time. */
void gpu_copy_start(struct gpu* gpu, bool to_device);
/* To be called when GPU_VECTOR_SDMA has been raised. */
void gpu_copy_interrupted(struct gpu* gpu);

/* ---- kernels and queues ---- */

struct gpu_kernel {
    gpu_address object; /* of its descriptor in the first copy; 0: not found */
    uint32_t kernarg_bytes;
    unsigned copies;     /* of its image, one a GPU from the node's first on; 1: all GPUs run the same */
    uint64_t copy_bytes; /* from a copy to the next one */
};
/* Places a kernel image (an ELF file in host memory): a copy on each of the GPUs of gpu_connected_count(). \returns the
 * address of the first, 0 if the file is malformed */
gpu_address gpu_load_image(struct gpu_node* node, const void* elf, uint64_t bytes);
/* The same on one GPU alone. */
gpu_address gpu_load_image_on(struct gpu_node* node, unsigned gpu, const void* elf, uint64_t bytes);
/* Frees its memory. None of its kernels may run. */
void gpu_unload_image(struct gpu_node* node, gpu_address image);
/* \param image where it was placed \param name empty: the first kernel of the file */
struct gpu_kernel gpu_find_kernel(const struct gpu_node* node, const void* elf, uint64_t bytes, gpu_address image,
                                  const char* name);

/* The kernel of a file that was linked into this program (drivers/gpu/images.h), which is placed when it is first asked
 * for; one kernel a file. Panics if there is no such file or kernel. */
struct gpu_kernel gpu_linked_kernel(struct gpu_node* node, const char* file, const char* name);

enum gpu_queue_flags {
    GPU_RING_IN_HOST = 1,
    GPU_SIGNALS_ON_DEVICE = 2,
    GPU_SMALL_SCRATCH = 4 /* for as many wavefronts as a compute unit holds; otherwise for all of the GPU */
};

enum { GPU_KNOWN_SLOTS = 256 }; /* of a queue, of which its handle knows whether they can be used again */
struct gpu_queue_handle {
    struct gpu_node* node;
    struct gpu* gpu;
    unsigned index, flags;
    uint32_t packets;
    gpu_address ring, kernargs, signals_at;
    gpu_address large_kernargs;          /* GPU_LARGE_KERNARG_BYTES a packet, once one has needed them; 0: not yet */
    uint64_t unmapped;                   /* of the node, when the GPU's translations were last dropped */
    uint64_t next;                       /* index of the next packet */
    struct aql_signal* signals;          /* of host memory, one a packet slot; NULL: on the device */
    uint64_t done[GPU_KNOWN_SLOTS / 64]; /* bit n: the last packet of slot n had no signal, or was seen to have ended */
    bool notifies;                       /* the signals ask for an interrupt */
    struct gpu_queue description;
};
/* A queue of `packets` (a power of two). Ring in device memory and signals in host memory, unless `flags` say
 * otherwise. */
void gpu_create_queue(struct gpu_queue_handle* queue, struct gpu_node* node, unsigned gpu, uint32_t packets,
                      unsigned flags, unsigned priority);
/* Takes a queue from the command processor, which aborts what runs, and gives it back empty: after an error, or a
 * kernel that does not end. \returns false if the command processor does not answer */
bool gpu_reset_queue(struct gpu_queue_handle* queue);
/* Gives it to a hart of the command processor, empty; queue n belongs to hart n % harts at first. \returns false if
 * there is no such hart, and the queue stays where it was, or if the command processor does not answer */
bool gpu_assign_queue(struct gpu_queue_handle* queue, unsigned hart);
/* Takes it away for good, and frees its memory. */
bool gpu_destroy_queue(struct gpu_queue_handle* queue);

/* How LASP spreads a grid over GPUs. */
enum gpu_binding {
    GPU_BIND_KERNEL, /* contiguous parts of the whole */
    GPU_BIND_ROWS,   /* rows of work-groups stay together */
    GPU_BIND_COLUMNS,
    GPU_BIND_ALIGNED /* `batch` work-groups touch what one GPU holds of a strided buffer */
};

struct gpu_grid {
    uint32_t items[3];
    uint16_t group[3];
    uint32_t lds_bytes;           /* dynamic */
    uint32_t first_group, groups; /* the part of the grid that runs here; groups 0: all */
    uint16_t chunk;               /* not 0: from first_group on, this many of every `period` work-groups, to the end */
    uint32_t period;
    bool cooperative;         /* all work-groups at the same time on one GPU */
    enum gpu_binding binding; /* for gpu_grid_part() */
    uint32_t batch;
};
/* Of arguments at most; each packet slot of a queue has room for GPU_KERNARG_BYTES. */
enum { GPU_KERNARG_BYTES = 256, GPU_LARGE_KERNARG_BYTES = 4096 };
/* Writes arguments and packet, rings the doorbell. \returns the packet's number, for gpu_wait() */
uint64_t gpu_dispatch(struct gpu_queue_handle* queue, struct gpu_kernel kernel, const struct gpu_grid* grid,
                      const void* arguments, uint32_t bytes);
/* What a queue's next packet begins with after gpu_free(), now: where that packet's time counts. */
void gpu_drop_stale_translations(struct gpu_queue_handle* queue);
/* Any packet, with acquire and release of system scope; its type and completion signal are filled in. */
uint64_t gpu_submit(struct gpu_queue_handle* queue, const uint64_t packet[8], unsigned type);
/* The same with a header of the caller's. A completion signal that the packet names stays; GPU_UNSIGNALLED: it has none
 * (in queues of up to 256 packets), and the caller waits for a later packet before the ring comes round. */
#define GPU_UNSIGNALLED (~UINT64_C(0))
uint64_t gpu_submit_as(struct gpu_queue_handle* queue, const uint64_t packet[8], uint16_t header);
/* The completion signal of a packet, for kernels and barrier packets, and for the host. */
gpu_address gpu_signal_address(const struct gpu_queue_handle* queue, uint64_t packet);
volatile struct aql_signal* gpu_signal(const struct gpu_queue_handle* queue, uint64_t packet);
/* Waits until a packet has completed. \returns 0, the enum gpu_fault that ended it or its queue, or GPU_TIMED_OUT after
 * the node's limit_us */
enum { GPU_TIMED_OUT = 256 };
unsigned gpu_wait(struct gpu_queue_handle* queue, uint64_t packet);
/* The packet's signal was seen at 0 or below: its slot can be used again. gpu_wait() does this. */
void gpu_note_completed(struct gpu_queue_handle* queue, uint64_t packet);

/* ---- faults ---- */

/* Records that a GPU has ever written. */
uint32_t gpu_faults_written(const struct gpu* gpu);
/* Takes the oldest record of this program's queues or the firmware that was not taken. \returns false if there is none
 */
bool gpu_next_fault(struct gpu* gpu, struct gpu_fault_record* record);
/* "kernel+0x1c" of the kernel or firmware that a record of a GPU is about, and ", kernels.hip:12" where the line of the
 * source is known (drivers/gpu/lines.h); empty if no ELF file here tells. */
void gpu_fault_symbol(const struct gpu_node* node, const struct gpu* gpu, const struct gpu_fault_record* record,
                      char* text, size_t room);
/* Prints and clears new fault records of a GPU. \returns how many */
unsigned gpu_print_faults(const struct gpu_node* node, struct gpu* gpu);
const char* gpu_fault_name(unsigned fault);

#endif
