/* SPDX-License-Identifier: Apache-2.0 */
/* What the device tree says about the machine; absent devices have address 0. Filled before main(). */
#ifndef FABRICVP_LIB_MACHINE_H
#define FABRICVP_LIB_MACHINE_H

#include "lib/fdt.h"
#include "lib/layout.h"

struct machine {
    struct fdt tree;
    uint64_t memory_base, memory_size;
    uint64_t initrd, initrd_end; /* initial RAM disk; 0: none */
    uint64_t timebase;           /* Hz */
    unsigned harts;              /* identifiers 0 … harts - 1 */
    unsigned nodes;              /* of the whole machine, this one included; 0: the device tree does not say */
    uintptr_t uart, clint, plic, finisher, rtc, marker, ecam;
    unsigned uart_shift; /* register n lies at n << shift */
    unsigned uart_irq, rtc_irq;
    int plic_context[MAX_HARTS]; /* machine-mode context of a hart, -1 if none */
};

extern struct machine machine;

bool machine_discover(const void* device_tree);
/* "riscv,isa" of a hart, or "?". */
const char* machine_isa(unsigned hart);

/* Ends the simulation or switches off; status 0 is success. Never returns. */
void power_off(unsigned status) __attribute__((noreturn));
/* Prints and powers off with failure. */
void panic(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The same where the user has asked for what cannot be: what, the value, what may stand there. Ends the whole run with
 * status 2. */
void usage_error(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Every firmware has it; its result is the status of the power-off. */
int main(void);

#endif
