/* SPDX-License-Identifier: Apache-2.0 */
/* trunc() and truncf() in place of picolibc 1.8's, which shift by more bits than a word has: from 2**32 (float) and
 * 2**64 (double) on they lose bits of integers. */
#include <stdint.h>

double trunc(double x) {
    union {
        double value;
        uint64_t bits;
    } u = {x};
    const int exponent = (int)(u.bits >> 52 & 0x7ff) - 1023;
    if (exponent >= 52) return x + 0; /* an integer; a signalling NaN gets quiet */
    u.bits &= exponent < 0 ? UINT64_C(1) << 63 : ~(UINT64_C(0xfffffffffffff) >> exponent);
    return u.value;
}

float truncf(float x) {
    union {
        float value;
        uint32_t bits;
    } u = {x};
    const int exponent = (int)(u.bits >> 23 & 0xff) - 127;
    if (exponent >= 23) return x + 0;
    u.bits &= exponent < 0 ? UINT32_C(1) << 31 : ~(UINT32_C(0x7fffff) >> exponent);
    return u.value;
}
