/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LIB_TRAPS_H
#define FABRICVP_LIB_TRAPS_H

#include "lib/libc.h"

/* Registers at the trap; x[0] is the pc to return to. */
struct trap_frame {
    uint64_t x[32];
};

/* Handlers of interrupts, by mcause code (3 software, 7 timer, 11 external), shared by all harts. */
typedef void (*interrupt_handler)(struct trap_frame* frame);
void interrupt_handle(unsigned code, interrupt_handler handler);
/* Enables or disables interrupts of this hart: all, or one line. */
void interrupts_on(void);
void interrupts_off(void);
void interrupt_enable(unsigned code, bool on);

/* External interrupts through the PLIC or APLIC, to this hart. */
bool external_available(unsigned source);
void external_handle(unsigned source, void (*handler)(unsigned source));

/* Loads a word; false if nothing answers there. */
bool probe_load(const void* address, uint32_t* value);

#endif
