/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in machine mode on hart 0 after start-up code, traps, console and heap are ready; returns the exit status. */
#include "lib/console.h"
#include "lib/harts.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "lib/timer.h"

static unsigned long sums[64]; /* one a hart */

static void add(void* count) {
    for (unsigned long i = hart_id(); i < *(unsigned long*)count; i += machine.harts) sums[hart_id()] += i;
}

int main(void) {
    console_printf("@NAME@ on %u harts, %lu MiB\n", machine.harts, machine.memory_size >> 20);
    const uint64_t begin = timer_now();
    region_begin("sum"); /* statistics of this part are in regions.json */
    unsigned long count = 100000;
    harts_run(add, &count);
    region_end();
    unsigned long sum = 0;
    for (unsigned h = 0; h < machine.harts; ++h) sum += sums[h];
    result_begin("sum"); /* Python reads it: fabricvp.result_lines(console.output, "sum") */
    result_u64("time_us", timer_microseconds(timer_now() - begin));
    result_end();
    console_printf("sum %lu, %s\n", sum, sum == 4999950000ul ? "ok" : "WRONG");
    return sum != 4999950000ul;
}
