/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_CP_PACKET_H
#define FABRICVP_CP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/aql.h"
#include "cp/queue.h"

enum progress {
    PROGRESS_DONE,
    PROGRESS_WAITS, /* for the end of a kernel of this hart, which makes an event */
    PROGRESS_POLLS, /* for memory or for other harts */
    PROGRESS_LAUNCHED,
    PROGRESS_FAILED
};

/* Why a packet failed: enum gpu_fault, and the address that it is about. */
struct failure {
    uint32_t fault;
    uint64_t address;
};

/* Executes the packet `packet` (64 bytes, copied) of a queue; the queue's address space is selected. */
enum progress packet_execute(struct queue* q, const uint64_t packet[8], struct failure* failure);

/* Whether a signal asks for an interrupt when it has been decremented. */
bool signal_notifies(uint64_t signal);
/* Decrements a completion signal, and interrupts if asked to. What failed stores -fault instead.
 * \returns 0, or the enum gpu_fault of a signal that cannot be reached */
uint32_t signal_complete(uint64_t signal, uint64_t start_ns, uint32_t fault, bool notify);

#endif
