/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LIB_TIMER_H
#define FABRICVP_LIB_TIMER_H

#include "lib/libc.h"

/* The machine's real-time counter, at machine.timebase. */
uint64_t timer_now(void);
uint64_t timer_microseconds(uint64_t counts);
void timer_wait(uint64_t microseconds);
/* The same asleep. Interrupts stay as they are. */
void timer_sleep(uint64_t microseconds);
/* Sleeps until `done` or the time is over, which is looked at after every interrupt; these are taken even if they were
 * off. \returns done(context) */
bool timer_wait_for(bool (*done)(void* context), void* context, uint64_t microseconds);

/* Whether a loop that looks for something since `begin` (timer_now()) may go on: for so many microseconds. It looks
 * without a pause for RESTS_AFTER_US, and then sleeps for REST_US between two looks: what takes so long need not be
 * seen at once. */
enum { RESTS_AFTER_US = 20000, REST_US = 100 };
static inline bool timer_wait_more(uint64_t begin, uint64_t microseconds) {
    const uint64_t waited = timer_microseconds(timer_now() - begin);
    if (waited > microseconds) return false;
    if (waited > RESTS_AFTER_US) timer_sleep(REST_US);
    return true;
}

/* Calls `tick` on this hart every `microseconds`, in an interrupt, until timer_stop(). Interrupts must be on. */
void timer_start(uint64_t microseconds, void (*tick)(void));
void timer_stop(void);

#endif
