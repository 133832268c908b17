/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of a process of Linux, whose interrupts are the kernel's; stands before firmware/lib/harts.h. */
#ifndef FABRICVP_LIB_HARTS_H
#define FABRICVP_LIB_HARTS_H

#include "lib/libc.h"

/* `pause` of Zihintpause; a hint that older harts ignore. */
static inline void relax(void) { __asm__ volatile(".word 0x0100000f" ::: "memory"); }

struct spinlock {
    volatile uint32_t held;
};
static inline unsigned long spin_lock(struct spinlock* lock) {
    while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE)) relax();
    return 0;
}
static inline void spin_unlock(struct spinlock* lock, unsigned long interrupts) {
    (void)interrupts;
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

#endif
