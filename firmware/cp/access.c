/* SPDX-License-Identifier: Apache-2.0 */
#include "cp/access.h"

#include <stdbool.h>

#include "abi/gpu_apertures.h"
#include "cp/launch.h"
#include "cp/registers.h"

enum { LOAD_MISALIGNED = 4, STORE_MISALIGNED = 6 };

/* cp/guarded.S: 0, or mcause. */
uint64_t guarded_load(uint64_t from, uint64_t* to, uint64_t doublewords);
uint64_t guarded_store(uint64_t to, uint64_t value);
uint64_t guarded_store16(uint64_t to, uint64_t value);
uint64_t guarded_add(uint64_t to, int64_t addend);
uint64_t guarded_copy_words(uint64_t from, uint64_t to, uint64_t bytes);
uint64_t guarded_copy_bytes(uint64_t from, uint64_t to, uint64_t bytes);

/* What lies outside would reach the processor's own memory. */
static bool outside(uint64_t at, uint64_t bytes) {
    return at < GPU_GLOBAL_BASE || at > GPU_PA_OFFSET_MASK || bytes > GPU_PA_OFFSET_MASK - at;
}

static uint32_t reason(uint64_t cause) {
    if (cause == 0) return GPU_FAULT_NONE;
    if (cause == LOAD_MISALIGNED || cause == STORE_MISALIGNED) return GPU_FAULT_MISALIGNED;
    uint64_t hart;
    __asm__("csrr %0, mhartid" : "=r"(hart));
    const uint32_t fault = register_read(banked(CP_ACCESS_FAULT, (unsigned)hart, WORD_STRIDE));
    return fault ? fault : GPU_FAULT_BUS;
}

void virtual_select(unsigned hart, uint32_t space) {
    static uint32_t selected[MAX_HARTS];
    if (selected[hart] == space) return;
    selected[hart] = space;
    register_write(banked(CP_ADDRESS_SPACE, hart, WORD_STRIDE), space);
}

uint32_t virtual_load(uint64_t from, uint64_t* to, unsigned doublewords) {
    if (outside(from, 8ull * doublewords)) return GPU_FAULT_BAD_APERTURE;
    return reason(guarded_load(GPU_VIRTUAL(from), to, doublewords));
}

uint32_t virtual_store(uint64_t to, uint64_t value) {
    return outside(to, 8) ? GPU_FAULT_BAD_APERTURE : reason(guarded_store(GPU_VIRTUAL(to), value));
}

uint32_t virtual_store16(uint64_t to, uint16_t value) {
    return outside(to, 2) ? GPU_FAULT_BAD_APERTURE : reason(guarded_store16(GPU_VIRTUAL(to), value));
}

uint32_t virtual_add(uint64_t to, int64_t addend) {
    return outside(to, 8) ? GPU_FAULT_BAD_APERTURE : reason(guarded_add(GPU_VIRTUAL(to), addend));
}

uint32_t virtual_copy(uint64_t to, uint64_t from, uint64_t bytes) {
    if (outside(to, bytes) || outside(from, bytes)) return GPU_FAULT_BAD_APERTURE;
    if ((to | from | bytes) % 8) return reason(guarded_copy_bytes(GPU_VIRTUAL(from), GPU_VIRTUAL(to), bytes));
    return reason(guarded_copy_words(GPU_VIRTUAL(from), GPU_VIRTUAL(to), bytes));
}
