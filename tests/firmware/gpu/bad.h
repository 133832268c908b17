/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the kernels in bad.c. */
#ifndef FABRICVP_TEST_BAD_H
#define FABRICVP_TEST_BAD_H

#include <stdint.h>

struct bad_arguments {
    uint64_t at;   /* what the kernel reads or writes */
    uint64_t lane; /* that does it; the other lanes do nothing */
};

#endif
