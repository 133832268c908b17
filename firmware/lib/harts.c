/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/harts.h"

#include "abi/clint.h"
#include "lib/csr.h"
#include "lib/machine.h"
#include "lib/mmio.h"

static struct {
    void (*work)(void*);
    void* argument;
    volatile uint32_t busy;
} jobs[MAX_HARTS];

unsigned long spin_lock(struct spinlock* lock) {
    unsigned long were;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(were)::"memory");
    while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE))
        while (lock->held) relax();
    return were & MSTATUS_MIE;
}

void spin_unlock(struct spinlock* lock, unsigned long interrupts) {
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
    csr_set(mstatus, interrupts);
}

void ticket_lock(struct ticket_lock* lock) {
    uint32_t ticket, failed, next;
    __asm__ volatile(
        "1: lr.w.aq %0, %3\n"
        "   addiw   %2, %0, 1\n"
        "   sc.w    %1, %2, %3\n"
        "   bnez    %1, 1b\n"
        : "=&r"(ticket), "=&r"(failed), "=&r"(next), "+A"(lock->next)::"memory");
    while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket) relax();
}

void ticket_unlock(struct ticket_lock* lock) { __atomic_store_n(&lock->serving, lock->serving + 1, __ATOMIC_RELEASE); }

bool hart_start(unsigned hart, void (*work)(void*), void* argument) {
    if (hart == 0 || hart >= machine.harts || !machine.clint || jobs[hart].busy) return false;
    jobs[hart].work = work;
    jobs[hart].argument = argument;
    __atomic_store_n(&jobs[hart].busy, 1, __ATOMIC_RELEASE);
    mmio_write32(machine.clint + CLINT_MSIP + 4 * hart, 1);
    return true;
}

/* Where a waiting hart goes after its software interrupt (start.S). */
void hart_entry(void) {
    const unsigned hart = hart_id();
    mmio_write32(machine.clint + CLINT_MSIP + 4 * hart, 0);
    if (!__atomic_load_n(&jobs[hart].busy, __ATOMIC_ACQUIRE)) return;
    jobs[hart].work(jobs[hart].argument);
    __atomic_store_n(&jobs[hart].busy, 0, __ATOMIC_RELEASE);
}

void hart_join(unsigned hart) {
    while (__atomic_load_n(&jobs[hart].busy, __ATOMIC_ACQUIRE)) relax();
}

void harts_run(void (*work)(void*), void* argument) {
    for (unsigned h = 1; h < machine.harts; ++h) hart_start(h, work, argument);
    work(argument);
    for (unsigned h = 1; h < machine.harts; ++h) hart_join(h);
}
