// SPDX-License-Identifier: Apache-2.0
// Console and power switch.
#include "report.h"

#include "abi/finisher.h"
#include "abi/memory_map.h"
#include "abi/uart16550.h"

void print(const char* text) {
    volatile uint8_t* uart = (volatile uint8_t*)VIRT_UART_BASE;
    for (; *text; ++text) {
        while (!(uart[UART_LSR] & UART_LSR_THRE)) {
        }
        uart[UART_THR] = (uint8_t)*text;
    }
}

void print_hex(uint64_t value) {
    char text[19] = "0x";
    for (int i = 0; i < 16; ++i) text[2 + i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    print(text);
}

void print_decimal(uint64_t value) {
    char text[21];
    char* at = text + 20;
    *at = 0;
    do *--at = (char)('0' + value % 10);
    while (value /= 10);
    print(at);
}

static _Noreturn void power_off(uint64_t code) {
    volatile uint32_t* finisher = (volatile uint32_t*)VIRT_FINISHER_BASE;
    *finisher = code ? FINISHER_FAIL | (uint32_t)(code << 16) : FINISHER_PASS;
    for (;;) {
    }
}

void report(uint64_t number, const char* suite, const char* group) {
    if (number) {
        print("FAIL ");
        print(suite);
        print(" test ");
        print_decimal(number);
        print(": ");
        print(group ? group : "?");
        print("\n");
    } else {
        print("PASS ");
        print(suite);
        print("\n");
    }
    power_off(number ? (number & 0xffff ? number & 0xffff : 1) : 0);
}

void report_trap(uint64_t number, const char* suite, const char* group, uint64_t cause, uint64_t pc, uint64_t value) {
    print("trap: mcause ");
    print_hex(cause);
    print(" mepc ");
    print_hex(pc);
    print(" mtval ");
    print_hex(value);
    print("\n");
    report(number ? number : 0xffff, suite, group);
}
