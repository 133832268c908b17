/* SPDX-License-Identifier: Apache-2.0 */
/* Several harts: locks, barriers, and work for harts other than 0. */
#ifndef FABRICVP_LIB_HARTS_H
#define FABRICVP_LIB_HARTS_H

#include "lib/libc.h"

static inline unsigned hart_id(void) {
    unsigned long id;
    __asm__ volatile("mv %0, tp" : "=r"(id));
    return (unsigned)id;
}

/* Held with interrupts off. unlock() takes what lock() returned. */
struct spinlock {
    volatile uint32_t held;
};
unsigned long spin_lock(struct spinlock* lock);
void spin_unlock(struct spinlock* lock, unsigned long interrupts);

/* First come, first served; built on LR/SC. */
struct ticket_lock {
    volatile uint32_t next, serving;
};
void ticket_lock(struct ticket_lock* lock);
void ticket_unlock(struct ticket_lock* lock);

static inline uint64_t atomic_add(volatile uint64_t* p, uint64_t n) {
    return __atomic_fetch_add(p, n, __ATOMIC_ACQ_REL);
}

/* `pause` of Zihintpause; a hint that older harts ignore. */
static inline void relax(void) { __asm__ volatile(".word 0x0100000f" ::: "memory"); }

/* Starts `work(argument)` on a hart other than 0 that has nothing to do. \returns false if there is no such hart. */
bool hart_start(unsigned hart, void (*work)(void*), void* argument);
/* Waits until the hart's work is done. */
void hart_join(unsigned hart);
/* Runs work(argument) on all harts, this one included, and waits for all. Called by hart 0. */
void harts_run(void (*work)(void*), void* argument);

#endif
