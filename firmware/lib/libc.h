/* SPDX-License-Identifier: Apache-2.0 */
/* What freestanding C needs from a library, and the compiler from us. */
#ifndef FABRICVP_LIB_LIBC_H
#define FABRICVP_LIB_LIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __STDC_HOSTED__ /* unit tests on the build machine */
#include <string.h>
#else
void* memcpy(void* to, const void* from, size_t n);
void* memmove(void* to, const void* from, size_t n);
void* memset(void* to, int byte, size_t n);
int memcmp(const void* a, const void* b, size_t n);
size_t strlen(const char* s);
size_t strnlen(const char* s, size_t max);
int strcmp(const char* a, const char* b);
int strncmp(const char* a, const char* b, size_t n);
#endif

#endif
