/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu/elf.h"
#include "drivers/gpu/gpu.h"
#include "drivers/gpu/images.h"
#include "drivers/gpu/lines.h"
#include "drivers/gpu/shared.h"
#include "lib/console.h"
#include "lib/mmio.h"

const char* gpu_fault_name(unsigned fault) {
    switch (fault) {
        GPU_FAULTS(GPU_FAULT_TEXT)
        case GPU_TIMED_OUT: return "timed out";
        default: return "?";
    }
}

static uintptr_t log_of(const struct gpu* g) { return g->registers + GPU_SRAM_WINDOW + GPU_SRAM_FAULTS; }

uint32_t gpu_faults_written(const struct gpu* g) {
    return mmio_read32(log_of(g) + offsetof(struct gpu_fault_log, written));
}

static bool next_record(struct gpu* g, struct gpu_fault_record* r) {
    const uintptr_t log = log_of(g);
    const uint32_t written = gpu_faults_written(g);
    if (g->faults_seen == written || written == UINT32_MAX) return false; /* ones: the GPU does not answer */
    if (written - g->faults_seen > GPU_FAULT_RECORDS) g->faults_seen = written - GPU_FAULT_RECORDS; /* overwritten */
    const uintptr_t at =
        log + offsetof(struct gpu_fault_log, record) + g->faults_seen++ % GPU_FAULT_RECORDS * sizeof *r;
    uint64_t words[sizeof *r / 8];
    for (unsigned i = 0; i < sizeof words / 8; ++i) words[i] = mmio_read64(at + 8 * i);
    memcpy(r, words, sizeof *r);
    return true;
}

bool gpu_next_fault(struct gpu* g, struct gpu_fault_record* r) {
    while (next_record(g, r))
        if (r->fault == GPU_FAULT_FIRMWARE || gpu_shared_owns_queue(g, r->queue)) return true;
    return false;
}

static void print_to(char* text, size_t room, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    format_text(text, room, format, arguments);
    va_end(arguments);
}

void gpu_fault_symbol(const struct gpu_node* node, const struct gpu* g, const struct gpu_fault_record* r, char* text,
                      size_t room) {
    const void* elf = NULL;
    uint64_t bytes = 0, offset;
    if (r->fault == GPU_FAULT_FIRMWARE) {
        const struct image* firmware = g->own_firmware ? NULL : find_image("cp");
        if (firmware) elf = firmware->start, bytes = firmware->bytes;
    } else {
        for (const struct gpu_image* i = node->images; i; i = i->next)
            if (r->image >= i->at && r->image - i->at < i->copies * i->at_bytes) elf = i->elf, bytes = i->bytes;
    }
    const char* name = elf ? elf_symbol_at(elf, bytes, r->pc, &offset) : NULL;
    print_to(text, room, "");
    if (name) print_to(text, room, "%s+0x%lx", name, offset);
    struct gpu_line line;
    if (!elf || !gpu_line_at(elf, bytes, r->pc, &line)) return;
    const size_t used = strlen(text);
    print_to(text + used, room - used, "%s%s:%lu", used ? ", " : "", line.file, line.number);
}

unsigned gpu_print_faults(const struct gpu_node* node, struct gpu* g) {
    struct gpu_fault_record r;
    unsigned printed = 0;
    for (; gpu_next_fault(g, &r); ++printed) {
        char symbol[GPU_SYMBOL_BYTES];
        gpu_fault_symbol(node, g, &r, symbol, sizeof symbol);
        console_printf("gpu%u fault: %s, ", g->index, gpu_fault_name(r.fault));
        if (r.fault == GPU_FAULT_FIRMWARE)
            console_printf("cause %u on hart %u, ", r.queue, r.lane);
        else
            console_printf("queue %u packet %lu, ", r.queue, r.packet);
        if (r.image && r.pc)
            console_printf("work-group %u,%u,%u, compute unit %u wavefront %u lane %u, ", r.group[0], r.group[1],
                           r.group[2], r.compute_unit, r.wavefront, r.lane);
        if (r.pc) console_printf("pc 0x%lx%s%s%s, ", r.pc, *symbol ? " (" : "", symbol, *symbol ? ")" : "");
        console_printf("address 0x%lx\n", r.address);
    }
    return printed;
}
