/* SPDX-License-Identifier: Apache-2.0 */
/* Error record of a host's memory, where that has ECC ("fabricvp,memory-errors" in the device tree). Registers of 64
 * bits. */
#ifndef FABRICVP_ABI_MEMORY_ERRORS_H
#define FABRICVP_ABI_MEMORY_ERRORS_H

enum {
    MEMORY_ERRORS_CORRECTED = 0x00,   /* words with one wrong bit, corrected; read only */
    MEMORY_ERRORS_UNCORRECTED = 0x08, /* words with two that were reached; read only */
    MEMORY_ERRORS_STATUS = 0x10,      /* what `ADDRESS` is of; ones clear */
    MEMORY_ERRORS_ADDRESS = 0x18      /* physical address of the word; an uncorrected one stays until it is cleared */
};
enum { MEMORY_ERRORS_STATUS_CORRECTED = 1, MEMORY_ERRORS_STATUS_UNCORRECTED = 2 };

#endif
