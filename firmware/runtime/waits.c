/* SPDX-License-Identifier: Apache-2.0 */
/* How the host waits for commands: by looking at signals, or asleep until an interrupt comes. */
#include "drivers/gpu/shared.h"
#include "lib/harts.h"
#include "lib/timer.h"
#include "runtime/commands.h"

enum {
    WAKE_US = 100,     /* after so long a wait looks for queues that have stopped */
    BLOCKED_US = 10000 /* the same while an interrupt should come first */
};

static enum compute_wait_mode mode;

static bool any_head_ended(void* unused) {
    (void)unused;
    for (unsigned i = 0; i < compute_device_count(); ++i)
        for (struct compute_stream* s = compute_device(i)->streams; s; s = s->next_stream)
            if (s->first != s->next && gpu_signal(&s->queue, s->first->packet)->value <= 0) return true;
    return false;
}

/* Queues that have stopped without a word in a signal. */
static void look_for_stopped(void) {
    for (unsigned i = 0; i < compute_device_count(); ++i)
        for (struct compute_stream* s = compute_device(i)->streams; s; s = s->next_stream) {
            if (s->first == s->next) continue;
            const uint64_t limit = s->device->node->limit_us;
            s->device->node->limit_us = 0;
            const unsigned fault = gpu_wait(&s->queue, s->first->packet);
            s->device->node->limit_us = limit;
            if (fault && fault != GPU_TIMED_OUT) compute_fail(s, fault);
        }
}

/* Whether an interrupt comes when the first command of any stream ends: some may have been submitted before signals
 * asked for it. */
static bool will_interrupt(void) {
    for (unsigned i = 0; i < compute_device_count(); ++i)
        for (struct compute_stream* s = compute_device(i)->streams; s; s = s->next_stream)
            if (s->first != s->next && !s->first->notifies) return false;
    return true;
}

/* Until a command may have ended. The number of interrupts is read before signals are, so none is missed. */
static void block(void) {
    const uint32_t interrupts = gpu_shared_interrupts();
    if (any_head_ended(NULL)) return;
    gpu_shared_sleep(interrupts, BLOCKED_US);
    if (!any_head_ended(NULL)) look_for_stopped();
}

/* The same by polling, or by the machine's own interrupts. */
static void poll(enum compute_wait_mode how) {
    bool polls = false;
    for (unsigned i = 0; i < compute_device_count(); ++i) polls |= compute_device(i)->gpu->delivery == PCI_POLLED;
    const uint64_t begin = timer_now();
    bool ended = false;
    if (!polls)
        ended = timer_wait_for(any_head_ended, NULL, WAKE_US);
    else
        while (!(ended = any_head_ended(NULL)) && timer_microseconds(timer_now() - begin) < WAKE_US) {
            relax();
            if (how == COMPUTE_YIELD) gpu_shared_yield();
        }
    if (!ended) look_for_stopped();
}

static void sleep(enum compute_wait_mode how) {
    if (how == COMPUTE_BLOCK && gpu_shared_has_interrupts() && will_interrupt())
        block();
    else
        poll(how);
}

static void print_all(void) {
    for (unsigned i = 0; i < compute_device_count(); ++i) compute_print(compute_device(i));
}

void compute_use_interrupts(void) {
    for (unsigned i = 0; i < compute_device_count(); ++i)
        compute_device(i)->gpu->notifies = gpu_shared_has_interrupts();
}

void compute_set_wait(enum compute_wait_mode how) {
    mode = how;
    if (how == COMPUTE_BLOCK) compute_use_interrupts();
}

void compute_wait_as(struct compute_event* e, enum compute_wait_mode how) {
    for (compute_progress(); !e->ended; compute_progress()) sleep(how);
    print_all();
}

void compute_wait(struct compute_event* e) { compute_wait_as(e, mode); }

void compute_wait_stream(struct compute_stream* s) {
    for (compute_progress(); s->first; compute_progress()) sleep(mode);
    print_all();
}

void compute_wait_device(struct compute_device* d) {
    for (struct compute_stream* s = d->streams; s; s = s->next_stream) compute_wait_stream(s);
}
