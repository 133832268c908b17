/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LIB_CONSOLE_H
#define FABRICVP_LIB_CONSOLE_H

#include <stdarg.h>

#include "lib/libc.h"

/* The UART of the device tree, 8N1 with FIFOs. Without one, output goes nowhere. */
void console_initialize(void);
void console_putc(char c); /* "\n" becomes "\r\n" */
void console_puts(const char* s);
/* The next character, -1 if there is none yet. */
int console_getc(void);

/* %d %i %u %x %X %p %c %s %%, with -, 0, width, precision for %s, and l, ll, z. One call prints without interruption by
 * other harts. */
void console_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
void console_vprintf(const char* format, va_list arguments);
/* As vsnprintf: \returns the length that the whole text has. */
int format_text(char* to, size_t room, const char* format, va_list arguments);

#endif
