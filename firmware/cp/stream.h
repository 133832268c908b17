/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that write and wait for words between kernels (abi/stream_packet.h). */
#ifndef FABRICVP_CP_STREAM_H
#define FABRICVP_CP_STREAM_H

#include "cp/packet.h"

/* Executes a vendor packet of one of these operations; others fail. */
enum progress stream_execute(struct queue* q, const uint64_t packet[8], struct failure* failure);

#endif
