/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the machine it finds itself on, tests it, and powers off. Lines that start with "# " carry measured figures;
 * all others are the same on every run. */
#include "abi/goldfish_rtc.h"
#include "lib/command_line.h"
#include "lib/console.h"
#include "lib/csr.h"
#include "lib/harts.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/region.h"
#include "lib/timer.h"
#include "lib/traps.h"

static unsigned failures;

static void report(const char* test, bool passed) {
    console_printf("%-10s %s\n", test, passed ? "ok" : "FAILED");
    failures += !passed;
}

static void print_machine(void) {
    console_printf("harts      %u\n", machine.harts);
    console_printf("# isa %s\n", machine_isa(0));
    console_printf("memory     %lu MiB at 0x%lx\n", machine.memory_size >> 20, machine.memory_base);
    console_printf("timebase   %lu Hz\n", machine.timebase);
    const struct {
        const char* name;
        uintptr_t address;
    } devices[] = {{"uart", machine.uart},         {"clint", machine.clint}, {"plic", machine.plic},
                   {"finisher", machine.finisher}, {"rtc", machine.rtc},     {"pcie", machine.ecam},
                   {"marker", machine.marker}};
    for (unsigned i = 0; i < sizeof devices / sizeof *devices; ++i)
        if (devices[i].address)
            console_printf("device     %-8s 0x%08lx\n", devices[i].name, (unsigned long)devices[i].address);
}

/* ---- timer and external interrupts ---- */

enum { PERIOD_US = 100, TICKS = 10 };
static volatile unsigned ticks;
static void tick(void) {
    if (++ticks == TICKS) timer_stop();
}

static void test_timer(void) {
    const uint64_t begin = timer_now();
    ticks = 0;
    timer_start(PERIOD_US, tick);
    /* wfi wakes with interrupts off too, so that none can slip in between the look at `ticks` and the sleep. */
    while (ticks < TICKS) {
        __asm__ volatile("wfi");
        interrupts_on();
        interrupts_off();
    }
    report("timer", ticks == TICKS && timer_microseconds(timer_now() - begin) >= PERIOD_US * TICKS);
}

static volatile unsigned alarms;
static void on_alarm(unsigned source) {
    (void)source;
    mmio_write32(machine.rtc + RTC_CLEAR_INTERRUPT, 1);
    ++alarms;
}

static void test_alarm(void) {
    if (!machine.rtc) return;
    external_handle(machine.rtc_irq, on_alarm);
    interrupt_enable(11, true);
    interrupts_on();
    const uint64_t low = mmio_read32(machine.rtc + RTC_TIME_LOW);
    const uint64_t at = ((uint64_t)mmio_read32(machine.rtc + RTC_TIME_HIGH) << 32 | low) + 200000;
    mmio_write32(machine.rtc + RTC_IRQ_ENABLED, 1);
    mmio_write32(machine.rtc + RTC_ALARM_HIGH, (uint32_t)(at >> 32));
    mmio_write32(machine.rtc + RTC_ALARM_LOW, (uint32_t)at);
    const uint64_t begin = timer_now();
    while (!alarms && timer_now() - begin < machine.timebase) {
    }
    interrupts_off();
    interrupt_enable(11, false);
    external_handle(machine.rtc_irq, NULL);
    mmio_write32(machine.rtc + RTC_IRQ_ENABLED, 0);
    report("alarm", alarms == 1);
}

/* ---- traps ---- */

static void test_faults(void) {
    uint32_t value = 0;
    const bool absent = !probe_load((const void*)0x7000000, &value);
    const bool present = probe_load((const void*)(uintptr_t)machine.memory_base, &value);
    report("faults", absent && present);
}

/* ---- several harts ---- */

enum { ROUNDS = 2000 };
static struct spinlock spin;
static struct ticket_lock tickets;
static volatile uint64_t under_spin, under_tickets, by_amo;

static void contend(void* unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; ++i) {
        const unsigned long were = spin_lock(&spin);
        under_spin = under_spin + 1;
        spin_unlock(&spin, were);
        ticket_lock(&tickets);
        under_tickets = under_tickets + 1;
        ticket_unlock(&tickets);
        atomic_add(&by_amo, 1);
    }
}

static void test_locks(void) {
    harts_run(contend, NULL);
    const uint64_t all = (uint64_t)machine.harts * ROUNDS;
    report("locks", under_spin == all && under_tickets == all && by_amo == all);
}

/* ---- memory ---- */

static bool check_pattern(uint64_t* words, size_t count, uint64_t seed) {
    uint64_t x = seed;
    for (size_t i = 0; i < count; ++i) words[i] = x = x * 6364136223846793005ull + 1442695040888963407ull;
    x = seed;
    for (size_t i = 0; i < count; ++i)
        if (words[i] != (x = x * 6364136223846793005ull + 1442695040888963407ull)) return false;
    return true;
}

/* First and last word of each power of two from the image to the end of the heap must be different cells. */
static bool check_address_lines(uint8_t* block, size_t size) {
    for (size_t i = 8; i < size; i *= 2) *(uint64_t*)(void*)(block + i) = i;
    *(uint64_t*)(void*)block = ~0ull;
    for (size_t i = 8; i < size; i *= 2)
        if (*(uint64_t*)(void*)(block + i) != i) return false;
    return true;
}

static void test_memory(void) {
    enum { BLOCK = 256 * 1024 };
    const size_t before = heap_free_bytes();
    size_t max = before / 2;
    uint64_t* block = heap_allocate_aligned(BLOCK, 4096);
    uint8_t* large = heap_allocate(max);
    bool ok = block && large && ((uintptr_t)block & 4095) == 0;
    ok = ok && check_pattern(block, BLOCK / 8, 0x5eed) && check_address_lines(large, max);
    uint8_t* bytes = (uint8_t*)block;
    for (unsigned i = 0; i < 64; ++i) bytes[i] = (uint8_t)i;
    memmove(bytes + 3, bytes, 32);
    ok = ok && bytes[3] == 0 && bytes[34] == 31 && bytes[35] == 35;
    heap_free(large);
    heap_free(block);
    ok = ok && heap_free_bytes() == before && heap_allocate(before + 1) == NULL;
    report("memory", ok);
}

/* ---- benchmark ---- */

static uint64_t sieve(uint8_t* composite, unsigned limit) {
    uint64_t primes = 0;
    memset(composite, 0, limit);
    for (unsigned n = 2; n < limit; ++n) {
        if (composite[n]) continue;
        ++primes;
        for (unsigned m = 2 * n; m < limit; m += n) composite[m] = 1;
    }
    return primes;
}

static uint64_t mix(unsigned rounds) {
    uint64_t a = 0x9e3779b97f4a7c15ull, b = 1;
    for (unsigned i = 0; i < rounds; ++i) {
        a ^= a << 13;
        a ^= a >> 7;
        a ^= a << 17;
        b = b * a + i;
    }
    return b;
}

static void benchmark(const char* label, uint64_t (*work)(void), uint64_t expected) {
    region_begin(label);
    const uint64_t time = timer_now(), cycles = csr_read(mcycle), instructions = csr_read(minstret);
    const uint64_t result = work();
    const uint64_t took = timer_now() - time, took_cycles = csr_read(mcycle) - cycles;
    const uint64_t retired = csr_read(minstret) - instructions;
    region_end();
    report(label, result == expected);
    console_printf("# %s: %lu us, %lu cycles, %lu instructions\n", label, timer_microseconds(took), took_cycles,
                   retired);
}

static uint8_t flags[20000];
static uint64_t run_sieve(void) { return sieve(flags, sizeof flags); }
static uint64_t run_mix(void) { return mix(20000); }

int main(void) {
    command_line_only(fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs"), NULL, 0);
    console_printf("\nFabricVP host firmware\n");
    print_machine();
    test_timer();
    test_alarm();
    test_faults();
    test_locks();
    test_memory();
    benchmark("sieve", run_sieve, 2262);
    benchmark("mix", run_mix, 0xccd3b9c5cfb4809eull);
    if (machine.marker) console_printf("regions    %u\n", region_count());
    console_printf("%s\n", failures ? "FAILED" : "all ok, powering off");
    return failures ? 1 : 0;
}
