/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the source that a kernel's image was made of. Here none are known: images that are linked into programs have
 * no debug information. Those of programs on Linux have (firmware/linux/client/drivers/gpu/lines.h). */
#ifndef FABRICVP_DRIVERS_GPU_LINES_H
#define FABRICVP_DRIVERS_GPU_LINES_H

#include "lib/libc.h"

enum { GPU_SYMBOL_BYTES = 80 }; /* of the text about a fault's program counter */

struct gpu_line {
    const char* file; /* without folders */
    uint64_t number;
};

/* The line of an address of an ELF file. \returns false if it is not known */
static inline bool gpu_line_at(const void* elf, uint64_t bytes, uint64_t address, struct gpu_line* line) {
    (void)elf, (void)bytes, (void)address, (void)line;
    return false;
}

#endif
