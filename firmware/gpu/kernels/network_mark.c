/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "network.h"

/* A message of each work-group: its last 8 bytes become the round's number. */
KERNEL(network_mark, struct network_mark_arguments) {
    if (local_id(0)) return;
    *(volatile uint64_t*)(uintptr_t)(args->local + group_id(0) * 2 * args->pitch + args->bytes - 8) = args->round;
}
