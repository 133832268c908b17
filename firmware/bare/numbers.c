/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in texts. picolibc's functions tell of overflow in errno, a variable of a thread, and harts have none. */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned digit_of(char c) {
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : isalpha((unsigned char)c) ? (c | 32) - 'a' + 10u : UINT_MAX;
}

/* \returns the absolute value, ULONG_MAX if it does not fit */
static unsigned long whole(const char* text, char** end, int base, bool* negative) {
    const char *at = text, *last = text;
    while (isspace((unsigned char)*at)) ++at;
    *negative = *at == '-';
    if (*at == '-' || *at == '+') ++at;
    const bool hexadecimal = at[0] == '0' && (at[1] | 32) == 'x' && digit_of(at[2]) < 16;
    if (!base) base = hexadecimal ? 16 : *at == '0' ? 8 : 10;
    if (base == 16 && hexadecimal) at += 2;
    unsigned long value = 0;
    bool fits = true;
    for (unsigned digit; (digit = digit_of(*at)) < (unsigned)base; last = ++at)
        fits &= !__builtin_mul_overflow(value, (unsigned long)base, &value) &&
                !__builtin_add_overflow(value, (unsigned long)digit, &value);
    if (end) *end = (char*)last;
    return fits ? value : ULONG_MAX;
}

long strtol(const char* text, char** end, int base) {
    bool negative;
    const unsigned long value = whole(text, end, base, &negative);
    if (value > LONG_MAX) return negative ? LONG_MIN : LONG_MAX;
    return negative ? -(long)value : (long)value;
}

unsigned long strtoul(const char* text, char** end, int base) {
    bool negative;
    const unsigned long value = whole(text, end, base, &negative);
    return negative && value != ULONG_MAX ? -value : value;
}

long long strtoll(const char* text, char** end, int base) { return strtol(text, end, base); }
unsigned long long strtoull(const char* text, char** end, int base) { return strtoul(text, end, base); }

double strtod(const char* text, char** end) {
    double value = 0;
    int bytes = 0;
    if (sscanf(text, "%lf%n", &value, &bytes) != 1) bytes = 0, value = 0;
    if (end) *end = (char*)text + bytes;
    return value;
}

float strtof(const char* text, char** end) { return (float)strtod(text, end); }

int atoi(const char* text) { return (int)strtol(text, NULL, 10); }
long atol(const char* text) { return strtol(text, NULL, 10); }
long long atoll(const char* text) { return strtol(text, NULL, 10); }
double atof(const char* text) { return strtod(text, NULL); }
