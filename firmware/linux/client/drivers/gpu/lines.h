/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the source of kernels that `fabricvp cc` has compiled; stands before firmware/drivers/gpu/lines.h, which
 * says what each of these is. */
#ifndef FABRICVP_DRIVERS_GPU_LINES_H
#define FABRICVP_DRIVERS_GPU_LINES_H

#include "lib/libc.h"

enum { GPU_SYMBOL_BYTES = 320 };

struct gpu_line {
    const char* file;
    uint64_t number;
};

bool gpu_line_at(const void* elf, uint64_t bytes, uint64_t address, struct gpu_line* line);

#endif
