/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_HOST_TIMER_H
#define FABRICVP_HOST_TIMER_H

#include "host/libc.h"

/* The machine's real-time counter, at machine.timebase. */
uint64_t timer_now(void);
uint64_t timer_microseconds(uint64_t counts);
void timer_wait(uint64_t microseconds);

/* Calls `tick` on this hart every `microseconds`, in an interrupt, until timer_stop(). Interrupts must be on. */
void timer_start(uint64_t microseconds, void (*tick)(void));
void timer_stop(void);

#endif
