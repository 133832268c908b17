/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_CP_PACKET_H
#define FABRICVP_CP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/aql.h"
#include "cp/queue.h"

enum progress { PROGRESS_DONE, PROGRESS_WAITS, PROGRESS_LAUNCHED, PROGRESS_FAILED };

/* Executes the packet `packet` (64 bytes, copied) of a queue; the queue's address space is selected. */
enum progress packet_execute(struct queue* q, const uint64_t packet[8], uint32_t* fault);

/* Decrements a completion signal and interrupts where it asks for that. A launch that failed stores -fault instead. */
void signal_complete(uint64_t signal, uint64_t start_ns, uint32_t fault);

/* The slot of a finished launch is free again. */
struct launch {
    bool used;
    uint64_t signal, start_ns;
    struct queue* queue;
};
struct launch* packet_launch(unsigned hart, unsigned slot);

#endif
