/* SPDX-License-Identifier: Apache-2.0 */
/* Message-signalled interrupts to machine mode, through the harts' IMSICs. An identity belongs to one user on all
 * harts; lower identities come first. Messages arrive as interrupt 11: interrupt_enable(11, true). */
#ifndef FABRICVP_LIB_IMSIC_H
#define FABRICVP_LIB_IMSIC_H

#include "lib/libc.h"

/* Called with interrupts off, on the hart that took the message; it has been claimed. */
typedef void (*imsic_handler)(unsigned identity, void* context);

/* False if this hart has no interrupt file at machine level. */
bool imsic_available(void);
/* Highest identity; 0 without IMSICs. */
unsigned imsic_identities(void);
/* Where a message to `hart` is written, as one 32-bit word that is the identity. */
uintptr_t imsic_message_address(unsigned hart);

/* A free identity, with its handler, disabled on every hart; 0 if all are taken. */
unsigned imsic_allocate(imsic_handler handler, void* context);
/* Must be disabled everywhere. */
void imsic_free(unsigned identity);
/* On this hart. Disabling drops a pending message. */
void imsic_enable(unsigned identity, bool on);

#endif
