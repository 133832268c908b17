/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

/* What main.c hands over to the kernel. */
struct arguments {
    const uint32_t* in;
    uint32_t* out;
    uint64_t n;
};
