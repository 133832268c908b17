/* SPDX-License-Identifier: Apache-2.0 */
/* A service of the command processor: numbers the words of a buffer. It does a few words a step, so that the queues of
 * kernels, which are another service of the same hart, go on meanwhile. */
#include "abi/gpu.h"
#include "cp/access.h"
#include "cp/registers.h"
#include "cp/service.h"

#include "mailbox.h"

enum { WORDS_PER_STEP = 16 };

static volatile struct mailbox* const box = SRAM(struct mailbox, MAILBOX);
static uint64_t done; /* words of the present request */

static void start(unsigned hart) {
    if (hart == 0) box->state = MAILBOX_EMPTY;
}

/* The host has written GPU_HOST_REQUEST, for whatever service it means; step() looks. */
static void handle(unsigned hart, uint32_t events) {
    (void)hart, (void)events;
}

static enum work step(unsigned hart) {
    if (hart != 0 || box->state != MAILBOX_FULL) return WORK_NONE;
    virtual_select(hart, box->address_space);
    for (unsigned i = 0; i < WORDS_PER_STEP && done < box->words; ++i, ++done) {
        box->fault = virtual_store(box->at + 8 * done, box->value + done);
        if (box->fault) break;
    }
    if (done < box->words && !box->fault) return WORK_DONE;
    release(); /* what was written is seen before the state */
    box->state = box->fault ? MAILBOX_FAILED : MAILBOX_DONE;
    done = 0;
    return WORK_DONE;
}

const struct service @NAME@_service = {GPU_EVENT_HOST, start, handle, step};
