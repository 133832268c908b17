/* SPDX-License-Identifier: Apache-2.0 */
/* The error record of the host's memory (abi/memory_errors.h), which machines with `host.dram.ecc` have. */
#ifndef FABRICVP_LIB_MEMORY_ERRORS_H
#define FABRICVP_LIB_MEMORY_ERRORS_H

#include "abi/memory_errors.h"
#include "lib/libc.h"

struct memory_errors {
    uint64_t corrected;   /* words with one wrong bit since power-on */
    uint64_t uncorrected; /* words with two that a hart or a device has reached */
    uint64_t status;      /* MEMORY_ERRORS_STATUS_…: what came since memory_errors_clear() */
    uint64_t address;     /* physical, of the word that `status` is of; the uncorrected one's if there is one */
};

/* False where memory has no error record. */
bool memory_errors_read(struct memory_errors* found);
/* Clears status and address, so that the next error's is told; counts stay. */
void memory_errors_clear(void);
/* Prints a line if something has come since memory_errors_clear(). False if a word could not be corrected: what was
 * calculated from memory since then is not to be trusted. */
bool memory_errors_report(void);

#endif
