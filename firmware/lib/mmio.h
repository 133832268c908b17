/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LIB_MMIO_H
#define FABRICVP_LIB_MMIO_H

#include <stdint.h>

/* Device accesses, ordered before and after everything else this hart does. */
static inline uint8_t mmio_read8(uintptr_t a) {
    uint8_t v = *(volatile uint8_t*)a;
    __asm__ volatile("fence i, ior" ::: "memory");
    return v;
}
static inline uint16_t mmio_read16(uintptr_t a) {
    uint16_t v = *(volatile uint16_t*)a;
    __asm__ volatile("fence i, ior" ::: "memory");
    return v;
}
static inline uint32_t mmio_read32(uintptr_t a) {
    uint32_t v = *(volatile uint32_t*)a;
    __asm__ volatile("fence i, ior" ::: "memory");
    return v;
}
static inline uint64_t mmio_read64(uintptr_t a) {
    uint64_t v = *(volatile uint64_t*)a;
    __asm__ volatile("fence i, ior" ::: "memory");
    return v;
}
static inline void mmio_write8(uintptr_t a, uint8_t v) {
    __asm__ volatile("fence iorw, o" ::: "memory");
    *(volatile uint8_t*)a = v;
}
static inline void mmio_write16(uintptr_t a, uint16_t v) {
    __asm__ volatile("fence iorw, o" ::: "memory");
    *(volatile uint16_t*)a = v;
}
static inline void mmio_write32(uintptr_t a, uint32_t v) {
    __asm__ volatile("fence iorw, o" ::: "memory");
    *(volatile uint32_t*)a = v;
}
static inline void mmio_write64(uintptr_t a, uint64_t v) {
    __asm__ volatile("fence iorw, o" ::: "memory");
    *(volatile uint64_t*)a = v;
}

#endif
