/* SPDX-License-Identifier: Apache-2.0 */
/* What lib/machine.h, lib/console.h and lib/timer.h promise, in a process of Linux. Messages go to standard error. */
#include "lib/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/console.h"
#include "lib/harts.h"
#include "lib/timer.h"

struct machine machine; /* without a device tree: what of it counts, the kernel has in files */

static void print_message(const char* format, va_list arguments) {
    fflush(stdout);
    vfprintf(stderr, format, arguments);
}

void console_vprintf(const char* format, va_list arguments) { print_message(format, arguments); }

void console_printf(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
}

void power_off(unsigned status) {
    fflush(NULL);
    _exit((int)status);
}

static void __attribute__((noreturn)) end_with(unsigned status, const char* format, va_list arguments) {
    fputs("fabricvp: ", stderr);
    print_message(format, arguments);
    fputc('\n', stderr);
    power_off(status);
}

void panic(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end_with(1, format, arguments);
}

void usage_error(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end_with(2, format, arguments);
}

/* ---- time ---- */

static void read_timebase(void) {
    uint8_t cell[4] = {0};
    FILE* file = fopen("/proc/device-tree/cpus/timebase-frequency", "rb");
    const bool read = file && fread(cell, sizeof cell, 1, file) == 1;
    if (file) fclose(file);
    machine.timebase = read ? (uint32_t)cell[0] << 24 | cell[1] << 16 | cell[2] << 8 | cell[3] : 0;
    if (!machine.timebase) panic("/proc/device-tree/cpus/timebase-frequency cannot be read: is /proc mounted?");
}

static uint64_t timebase(void) {
    if (!machine.timebase) read_timebase();
    return machine.timebase;
}

/* The counter that GPUs use, too. */
uint64_t timer_now(void) {
    uint64_t now;
    timebase();
    __asm__ volatile("rdtime %0" : "=r"(now));
    return now;
}

uint64_t timer_microseconds(uint64_t counts) { return counts * 1000000 / timebase(); }

void timer_wait(uint64_t microseconds) {
    const uint64_t end = timer_now() + microseconds * timebase() / 1000000;
    while (timer_now() < end) relax();
}

void timer_sleep(uint64_t microseconds) { usleep((useconds_t)microseconds); }

bool timer_wait_for(bool (*done)(void*), void* context, uint64_t microseconds) {
    const uint64_t end = timer_now() + microseconds * timebase() / 1000000;
    bool is_done;
    while (!(is_done = done(context)) && timer_now() < end) relax();
    return is_done;
}
