/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/libc.h"

void* memcpy(void* to, const void* from, size_t n) {
    uint8_t* t = to;
    const uint8_t* f = from;
    if ((((uintptr_t)t | (uintptr_t)f) & 7) == 0) {
        for (; n >= 8; n -= 8, t += 8, f += 8) *(uint64_t*)(void*)t = *(const uint64_t*)(const void*)f;
    }
    while (n--) *t++ = *f++;
    return to;
}

void* memmove(void* to, const void* from, size_t n) {
    uint8_t* t = to;
    const uint8_t* f = from;
    if (t <= f || t >= f + n) return memcpy(to, from, n);
    while (n--) t[n] = f[n];
    return to;
}

void* memset(void* to, int byte, size_t n) {
    uint8_t* t = to;
    while (n && ((uintptr_t)t & 7)) *t++ = (uint8_t)byte, --n;
    const uint64_t wide = 0x0101010101010101ull * (uint8_t)byte;
    for (; n >= 8; n -= 8, t += 8) *(uint64_t*)(void*)t = wide;
    while (n--) *t++ = (uint8_t)byte;
    return to;
}

int memcmp(const void* a, const void* b, size_t n) {
    const uint8_t *x = a, *y = b;
    for (; n; --n, ++x, ++y)
        if (*x != *y) return *x - *y;
    return 0;
}

size_t strlen(const char* s) {
    size_t n = 0;
    while (s[n]) ++n;
    return n;
}

size_t strnlen(const char* s, size_t max) {
    size_t n = 0;
    while (n < max && s[n]) ++n;
    return n;
}

int strcmp(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return (uint8_t)*a - (uint8_t)*b;
}

int strncmp(const char* a, const char* b, size_t n) {
    for (; n; --n, ++a, ++b)
        if (*a != *b || !*a) return (uint8_t)*a - (uint8_t)*b;
    return 0;
}
