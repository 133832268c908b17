/* SPDX-License-Identifier: Apache-2.0 */
/* What service and host agree on: a mailbox in the command processor's memory, below the tables of abi/gpu.h. */
#include <stdint.h>

#define MAILBOX 0x100

enum mailbox_state { MAILBOX_EMPTY = 0, MAILBOX_FULL = 1, MAILBOX_DONE = 2, MAILBOX_FAILED = 3 };
struct mailbox {
    uint64_t at;    /* device memory, as kernels see it */
    uint64_t words; /* of 64 bits */
    uint64_t value; /* of the first one; each next one is greater by 1 */
    uint32_t address_space;
    uint32_t state; /* the host writes FULL last */
    uint32_t fault; /* enum gpu_fault, with FAILED */
    uint32_t reserved;
};
