/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupt lines through an APLIC's machine-level domain, which signals harts itself or sends messages to their
 * IMSICs, as the device tree says. external_handle() uses it where there is no PLIC. */
#ifndef FABRICVP_LIB_APLIC_H
#define FABRICVP_LIB_APLIC_H

#include "lib/libc.h"

/* False if there is no such line, or none that reaches this hart. */
bool aplic_available(unsigned source);
/* Leads a level-sensitive line to `handler` on this hart, as interrupt 11; NULL: to none. */
void aplic_handle(unsigned source, void (*handler)(unsigned source));
/* In a machine with IMSICs: tells the APLIC where they are. aplic_handle() has done it. */
void aplic_set_message_addresses(void);

#endif
