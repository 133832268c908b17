/* SPDX-License-Identifier: Apache-2.0 */
/* Register maps are lists, one R(name, offset, bytes, count, stride) a register, which models, firmware and audits
 * expand as they need: into offsets, into tables. `count` equal registers lie `stride` bytes apart. Plain C99. */
#ifndef FABRICVP_ABI_REGISTERS_H
#define FABRICVP_ABI_REGISTERS_H

#include <stdint.h>

/* Names become enumeration constants that hold the offset. */
#define ABI_OFFSET(name, offset, bytes, count, stride) name = (offset),

/* One row of a table of registers. */
struct abi_register {
    const char* name;
    uint64_t offset;
    uint64_t bytes;
    uint64_t count;
    uint64_t stride;
};
#define ABI_ROW(name, offset, bytes, count, stride) {#name, (offset), (bytes), (count), (stride)},

#endif
