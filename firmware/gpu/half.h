/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of half precision (IEEE 754 binary16) as their bits: lanes compute with float and double. For OpenCL C and
 * C++; HALF_FUNCTION is what a function begins with there. */
#ifndef FABRICVP_GPU_HALF_H
#define FABRICVP_GPU_HALF_H

/* How the bits below a half's last one are rounded. */
#define HALF_TO_EVEN 0
#define HALF_TO_ZERO 1
#define HALF_UP 2
#define HALF_DOWN 3

HALF_FUNCTION float half_to_float(unsigned short h) {
    const unsigned sign = (unsigned)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
    union {
        unsigned bits;
        float number;
    } to;
    if (e == 31) {
        to.bits = 0x7f800000 | m << 13;
    } else if (e) {
        to.bits = (e + 112) << 23 | m << 13;
    } else {
        to.number = (float)m * 0x1p-24f;
    }
    to.bits |= sign;
    return to.number;
}

HALF_FUNCTION unsigned short half_from(double x, int mode) {
    union {
        double number;
        unsigned long bits;
    } from;
    from.number = x;
    const unsigned long magnitude = from.bits & 0x7fffffffffffffffUL;
    const unsigned short sign = (unsigned short)(from.bits >> 48 & 0x8000);
    if (magnitude > 0x7ff0000000000000UL) return sign | 0x7e00 | (unsigned short)(magnitude >> 42 & 0x1ff);
    if (magnitude == 0x7ff0000000000000UL) return sign | 0x7c00;
    const long e = (long)(magnitude >> 52) - 1023;
    /* The significand with its hidden bit, and how many of its bits a half does not hold. */
    const unsigned long m = (magnitude & 0xfffffffffffffUL) | (magnitude >> 52 ? 0x10000000000000UL : 0);
    const long drop = e >= -14 ? 42 : 42 + (-14 - e);
    const unsigned long kept = drop < 64 ? m >> drop : 0;
    const unsigned long rest = drop < 64 ? m << (64 - drop) : m != 0;
    const int away = (sign != 0) == (mode == HALF_DOWN);
    const unsigned long up = mode == HALF_TO_EVEN   ? rest > 1UL << 63 || (rest == 1UL << 63 && (kept & 1))
                             : mode == HALF_TO_ZERO ? 0
                                                    : rest != 0 && away;
    const unsigned long result = (e >= -14 ? ((unsigned long)(e + 14) << 10) : 0) + kept + up;
    if (e > 15 || result >= 0x7c00)
        return sign | (mode == HALF_TO_EVEN || (mode != HALF_TO_ZERO && away) ? 0x7c00 : 0x7bff);
    return sign | (unsigned short)result;
}

#endif
