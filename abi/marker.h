/* SPDX-License-Identifier: Apache-2.0 */
/* Marker device ("fabricvp,marker"): firmware marks regions of interest for the machine's statistics. It has no effect
 * on simulated time beyond that of the accesses. */
#ifndef FABRICVP_ABI_MARKER_H
#define FABRICVP_ABI_MARKER_H

#include "abi/registers.h"

/* clang-format off */
#define MARKER_REGISTERS(R)                                                                  \
    R(MARKER_ID, 0x00, 4, 1, 4)      /* reads MARKER_MAGIC */                                \
    R(MARKER_COMMAND, 0x04, 4, 1, 4) /* write one of the commands below */                   \
    R(MARKER_LABEL, 0x08, 1, 1, 1)   /* write the label's characters one by one; 0 clears */ \
    R(MARKER_REGIONS, 0x0c, 4, 1, 4) /* number of dumps so far */
/* clang-format on */

enum { MARKER_REGISTERS(ABI_OFFSET) };
enum {
    MARKER_COMMAND_RESET = 1, /* statistics count from zero */
    MARKER_COMMAND_DUMP = 2,  /* statistics are recorded under the label */
    MARKER_COMMAND_NOTE = 3   /* the label is put on record as an event, statistics are left alone */
};
#define MARKER_MAGIC UINT32_C(0x4d565046) /* "FPVM" */
enum { MARKER_LABEL_LENGTH = 63 };

#endif
