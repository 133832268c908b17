/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/console.h"

#include "abi/uart16550.h"
#include "lib/harts.h"
#include "lib/machine.h"
#include "lib/mmio.h"

static struct spinlock console_lock;

static uintptr_t uart(unsigned offset) { return machine.uart + ((uintptr_t)offset << machine.uart_shift); }

void console_initialize(void) {
    if (!machine.uart) return;
    mmio_write8(uart(UART_IER), 0);
    mmio_write8(uart(UART_LCR), UART_LCR_WORD_8);
    mmio_write8(uart(UART_FCR), UART_FCR_ENABLE);
}

static void put_raw(char c) {
    while (!(mmio_read8(uart(UART_LSR)) & UART_LSR_THRE)) {
    }
    mmio_write8(uart(UART_THR), (uint8_t)c);
}

void console_putc(char c) {
    if (!machine.uart) return;
    if (c == '\n') put_raw('\r');
    put_raw(c);
}

void console_puts(const char* s) {
    while (*s) console_putc(*s++);
}

int console_getc(void) {
    if (!machine.uart || !(mmio_read8(uart(UART_LSR)) & UART_LSR_DR)) return -1;
    return mmio_read8(uart(UART_RBR));
}

void console_vprintf(const char* format, va_list arguments) {
    char text[256];
    format_text(text, sizeof text, format, arguments);
    const unsigned long were = spin_lock(&console_lock);
    console_puts(text);
    spin_unlock(&console_lock, were);
}

void console_printf(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    console_vprintf(format, arguments);
    va_end(arguments);
}
