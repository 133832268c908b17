// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

void print(const char* text);
void print_hex(uint64_t value);
void print_decimal(uint64_t value);

/// Prints the outcome and powers off; `number` 0 is success, anything else names the test that failed.
_Noreturn void report(uint64_t number, const char* suite, const char* group);
_Noreturn void report_trap(uint64_t number, const char* suite, const char* group, uint64_t cause, uint64_t pc,
                           uint64_t value);
