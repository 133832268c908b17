/* SPDX-License-Identifier: Apache-2.0 */
/* Locks between harts, in their own memory. */
#ifndef FABRICVP_CP_LOCK_H
#define FABRICVP_CP_LOCK_H

#include <stdbool.h>
#include <stdint.h>

static inline bool lock_try(uint32_t* lock) {
    uint32_t old;
    __asm__ volatile("amoswap.w.aq %0, %2, %1" : "=r"(old), "+A"(*lock) : "r"(1) : "memory");
    return !old;
}
static inline void lock_acquire(uint32_t* lock) {
    while (!lock_try(lock)) __asm__ volatile("pause");
}
static inline void lock_release(uint32_t* lock) {
    __asm__ volatile("amoswap.w.rl zero, zero, %0" : "+A"(*lock)::"memory");
}

#endif
