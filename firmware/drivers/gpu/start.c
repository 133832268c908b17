/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu/elf.h"
#include "drivers/gpu/gpu.h"
#include "drivers/gpu/images.h"
#include "drivers/gpu/shared.h"
#include "lib/console.h"
#include "lib/dma.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { READY_WITHIN_US = 10000 };

static bool load_firmware(struct gpu* g, const struct image* image) {
    struct elf_segment segment;
    for (unsigned i = 0; elf_next_segment(image->start, image->bytes, &i, &segment);) {
        const uint64_t offset = segment.address - GPU_LOCAL(0);
        if (offset + segment.memory_bytes > mmio_read32(g->registers + GPU_SRAM_SIZE)) return false;
        const uintptr_t to = g->registers + GPU_SRAM_WINDOW + offset;
        if (offset % 8) return false;
        for (uint64_t at = 0; at < segment.file_bytes; at += 8) {
            uint64_t word = 0;
            memcpy(&word, segment.data + at, segment.file_bytes - at < 8 ? segment.file_bytes - at : 8);
            mmio_write64(to + at, word);
        }
    }
    mmio_write64(g->registers + GPU_CP_ENTRY, elf_entry(image->start) - GPU_LOCAL(0));
    return true;
}

static bool start_processor(struct gpu* g) {
    const struct image* firmware = find_image("cp");
    g->own_firmware = mmio_read32(g->registers + GPU_CP_FIRMWARE) != 0;
    if (!firmware && !g->own_firmware) {
        console_printf("gpu%u: no command-processor firmware in this program\n", g->index);
        return false;
    }
    mmio_write32(g->registers + GPU_CP_CONTROL, 0);
    g->faults_seen = 0;
    if (!g->own_firmware && !load_firmware(g, firmware)) {
        console_printf("gpu%u: the command-processor firmware does not fit\n", g->index);
        return false;
    }
    mmio_write32(g->registers + GPU_CP_CONTROL, 1);
    for (unsigned waited = 0; waited < READY_WITHIN_US; waited += 10) {
        if (mmio_read32(g->registers + GPU_CP_STATUS) == GPU_FIRMWARE_READY) return true;
        timer_wait(10);
    }
    console_printf("gpu%u: the command processor does not come up\n", g->index);
    return false;
}

bool gpu_restart(struct gpu_node* node, unsigned gpu) {
    if (!start_processor(&node->gpu[gpu])) return false;
    gpu_set_page_tables(node);
    return true;
}

/* Half of the memory is the GPU's as well as the host's, as drivers of such machines have it. */
static bool share_memory(struct gpu* g) {
    const uint64_t bytes = heap_free_bytes() / 2 & ~(uint64_t)(GPU_LARGE_PAGE - 1);
    g->shared = (uintptr_t)heap_reserve_end(bytes, GPU_LARGE_PAGE);
    g->memory_bytes = bytes;
    g->tables = GPU_PAGE;
    return bytes && g->shared;
}

static bool start(struct gpu_node* node, const struct gpu* at) {
    struct gpu found = *at;
    if (mmio_read32(found.registers + GPU_ID) != GPU_ID_VALUE) {
        console_printf("a GPU does not answer\n");
        return false;
    }
    found.index = mmio_read32(found.registers + GPU_INDEX);
    found.memory_bytes = mmio_read64(found.registers + GPU_MEMORY_SIZE);
    found.page_bytes = mmio_read32(found.registers + GPU_PAGE_SIZE);
    found.compute_units = mmio_read32(found.registers + GPU_COMPUTE_UNITS);
    found.wavefront_slots = mmio_read32(found.registers + GPU_WAVEFRONT_SLOTS);
    found.slot_lanes = mmio_read32(found.registers + GPU_SLOT_LANES);
    found.lds_bytes = mmio_read32(found.registers + GPU_LDS_BYTES);
    found.register_bytes = mmio_read32(found.registers + GPU_REGISTER_BYTES);
    found.l2_bytes = mmio_read64(found.registers + GPU_L2_BYTES);
    found.memory_clock = mmio_read64(found.registers + GPU_MEMORY_CLOCK_HZ);
    found.memory_bus_bits = mmio_read32(found.registers + GPU_MEMORY_BUS_BITS);
    found.peers = mmio_read64(found.registers + GPU_PEERS);
    found.clock = mmio_read64(found.registers + GPU_CLOCK_HZ);
    if (found.index >= MAX_GPUS) usage_error("this node has more than %u GPUs: programs take no more", MAX_GPUS);
    if (!found.function && !share_memory(&found)) {
        console_printf("gpu%u: the host has no memory to share\n", found.index);
        return false;
    }
    if (GPU_IS_SHARED) { /* its owner has started it */
        node->gpu[found.index] = found;
        node->gpu[found.index].faults_seen = gpu_faults_written(&found);
        node->gpu[found.index].queues = ~UINT64_C(0);
        ++node->count;
        return true;
    }
    /* Any word of host memory does: what it holds is not looked at. */
    const void* word = dma_reaches(node, sizeof *node) ? node : dma_allocate(sizeof(uint64_t), sizeof(uint64_t));
    if (found.function) mmio_write64(found.registers + GPU_FLUSH_PAGE, (uintptr_t)word);
    found.free = GPU_PAGE; /* offset 0 stays free, so that no table has the address 0 */
    found.top = found.memory_bytes & ~(uint64_t)(GPU_LARGE_PAGE - 1);
    node->gpu[found.index] = found;
    ++node->count;
    return start_processor(&node->gpu[found.index]);
}

static bool start_endpoints(struct gpu_node* node, struct pci_host* host) {
    for (struct pci_function* f = NULL; (f = pci_find_id(host, f, GPU_VENDOR, GPU_DEVICE));) {
        if (!pci_enable(f)) {
            console_printf("a GPU found no address space\n");
            return false;
        }
        const struct gpu found = {.function = f,
                                  .memory = pci_bar(f, GPU_BAR_MEMORY),
                                  .doorbells = (volatile uint64_t*)pci_bar(f, GPU_BAR_DOORBELLS),
                                  .registers = pci_bar(f, GPU_BAR_REGISTERS),
                                  .bus_memory = f->bars[GPU_BAR_MEMORY].address};
        if (!start(node, &found)) return false;
    }
    return true;
}

static bool start_apus(struct gpu_node* node) {
    const struct fdt* t = &machine.tree;
    for (fdt_node n = -1; (n = fdt_find_compatible(t, n, "fabricvp,apu")) >= 0;) {
        uint64_t range[3], bytes;
        for (unsigned i = 0; i < 3; ++i)
            if (!fdt_reg(t, n, i, &range[i], &bytes)) {
                console_printf("an APU lacks a range of addresses\n");
                return false;
            }
        const struct gpu found = {.interrupt = fdt_cell(t, n, "interrupts", 0, 0),
                                  .registers = range[0],
                                  .doorbells = (volatile uint64_t*)range[1],
                                  .memory = range[2],
                                  .bus_memory = range[2]};
        if (!start(node, &found)) return false;
    }
    return true;
}

bool gpu_start(struct gpu_node* node, struct pci_host* host) {
    memset(node, 0, sizeof *node);
    node->limit_us = GPU_WAIT_LIMIT_US;
    if (!start_endpoints(node, host) || !start_apus(node)) return false;
    node->next = GPU_GLOBAL_BASE;
    for (unsigned i = 0; i < node->count; ++i)
        if (!node->gpu[i].registers) {
            console_printf("gpu%u is missing\n", i);
            return false;
        }
    return true;
}

void gpu_require(struct gpu_node* node, struct pci_host* host) {
    if (!gpu_start(node, host) || !node->count) usage_error("there is no GPU that can be used: this program needs one");
}

/* Whether the first `count` GPUs all reach each other's memory. */
static bool all_linked(const struct gpu_node* node, unsigned count) {
    const uint64_t all = ((uint64_t)1 << count) - 1;
    for (unsigned i = 0; i < count; ++i)
        if (~node->gpu[i].peers & all) return false;
    return true;
}

unsigned gpu_connected_count(const struct gpu_node* node) {
    if (node->first) return 1; /* after gpu_isolate() */
    unsigned count = node->count;
    while (count > 1 && !all_linked(node, count)) --count;
    return count;
}

void gpu_isolate(struct gpu_node* one, const struct gpu_node* node, unsigned gpu) {
    *one = (struct gpu_node){.first = gpu, .count = gpu + 1, .next = node->next, .limit_us = node->limit_us};
    one->gpu[gpu] = node->gpu[gpu];
}

void gpu_print(const struct gpu_node* node) {
    for (unsigned i = 0; i < node->count; ++i) {
        const struct gpu* g = &node->gpu[i];
        console_printf("gpu%u       %u compute units at %lu MHz, %lu MiB\n", i, g->compute_units, g->clock / 1000000,
                       g->memory_bytes >> 20);
    }
}
