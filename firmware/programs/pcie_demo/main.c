/* SPDX-License-Identifier: Apache-2.0 */
/* Finds whatever PCI Express tree the machine has, gives it bus numbers and addresses, and moves data with every copy
 * engine in it: from and to host memory, and from engine to engine. All bytes are checked. Lines that start with "# "
 * carry measured figures; all others depend on the tree alone. */
#include "drivers/pci/copy_engine.h"
#include "lib/command_line.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/pattern.h"
#include "lib/region.h"
#include "lib/timer.h"

enum { MAX_ENGINES = 64, MATRIX = 8, BLOCK = 1 << 20, CHUNK = 256 << 10, TIMEOUT_US = 1000000, GUARD = 64 };

static struct pci_host host;
static struct copy_engine engines[MAX_ENGINES];
static unsigned count, failures;
static uint8_t *out, *in; /* BLOCK + 2 * GUARD bytes each, in host memory */

static void report(const char* test, bool passed) {
    console_printf("%-10s %s\n", test, passed ? "ok" : "FAILED");
    failures += !passed;
}

static void name_of(const struct copy_engine* e, char* to) {
    const struct pci_function* f = e->function;
    static const char digits[] = "0123456789abcdef";
    to[0] = digits[f->bus->number >> 4], to[1] = digits[f->bus->number & 15], to[2] = ':';
    to[3] = digits[f->device >> 4], to[4] = digits[f->device & 15], to[5] = '.', to[6] = digits[f->function], to[7] = 0;
}

static bool expect(const struct copy_engine* e, const char* what, enum copy_result result, enum copy_result expected) {
    if (result == expected) return true;
    char name[8];
    name_of(e, name);
    console_printf("%s: %s: %s\n", name, what, copy_result_names[result]);
    return false;
}

static bool copy(struct copy_engine* e, uint64_t to, uint64_t from, size_t bytes) {
    const enum copy_result result = copy_channel_copy(&e->channel[0], to, from, (uint32_t)bytes);
    if (result == COPY_STOPPED || result == COPY_TIMED_OUT) copy_channel_restart(&e->channel[0]);
    return expect(e, "copy", result, COPY_OK);
}

/* In hundredths of GB/s. */
static unsigned long rate(uint64_t bytes, uint64_t counts) {
    return counts ? bytes * (machine.timebase / 1000) / counts / 10000 : 0;
}

static void find_engines(void) {
    for (struct pci_function* f = NULL;
         (f = pci_find_id(&host, f, COPY_ENGINE_VENDOR, COPY_ENGINE_DEVICE)) && count < MAX_ENGINES;) {
        struct copy_engine* e = &engines[count];
        if (!copy_engine_open(e, f, PCI_MSIX)) {
            console_printf("%02x:%02x.%x cannot be used\n", f->bus->number, f->device, f->function);
            ++failures;
            continue;
        }
        char name[8];
        name_of(e, name);
        console_printf("engine %-3u %s, %lu KiB of memory, %u channels, %s\n", count++, name,
                       (unsigned long)(e->memory_size >> 10), e->channels, pci_delivery_names[e->delivery]);
    }
    /* The class leads to them as well. */
    unsigned by_class = 0;
    for (struct pci_function* f = NULL; (f = pci_find_class(&host, f, COPY_ENGINE_CLASS, 0xffffff));)
        by_class += f->vendor == COPY_ENGINE_VENDOR && f->device_id == COPY_ENGINE_DEVICE;
    console_printf("engines    %u\n", count);
    if (by_class < count) report("classes", false);
}

static size_t half_of(const struct copy_engine* e, size_t max) {
    return e->memory_size / 2 < max ? e->memory_size / 2 : max;
}

/* ---- the processor's own loads and stores ---- */

static void test_aperture(void) {
    bool ok = true;
    for (unsigned i = 0; i < count; ++i) {
        const struct copy_engine* e = &engines[i];
        const size_t places[] = {0, 8, 1024, e->memory_size / 2, e->memory_size - 8};
        for (unsigned p = 0; p < sizeof places / sizeof *places; ++p)
            mmio_write64(e->aperture + places[p], pattern_word(i, p));
        for (unsigned p = 0; p < sizeof places / sizeof *places; ++p)
            ok = ok && mmio_read64(e->aperture + places[p]) == pattern_word(i, p);
        mmio_write8(e->aperture + 3, 0x5a);
        mmio_write16(e->aperture + 6, 0xc3c3);
        ok = ok && mmio_read8(e->aperture + 3) == 0x5a && mmio_read16(e->aperture + 6) == 0xc3c3 &&
             mmio_read8(e->aperture + 2) == (uint8_t)(pattern_word(i, 0) >> 16);
    }
    report("aperture", ok);
}

/* ---- between host and device ---- */

static bool there_and_back(struct copy_engine* e, uint64_t seed, size_t bytes, uint64_t* to_device, uint64_t* to_host) {
    pattern_write(out, bytes, seed);
    memset(in, 0, BLOCK);
    const uint64_t begin = timer_now();
    bool ok = copy(e, e->memory, (uintptr_t)out, bytes);
    const uint64_t middle = timer_now();
    ok = ok && copy(e, (uintptr_t)in, e->memory, bytes);
    *to_host = timer_now() - middle;
    *to_device = middle - begin;
    return ok && pattern_check(in, bytes, seed);
}

static void test_copies(void) {
    bool ok = true;
    region_begin("copies");
    for (unsigned i = 0; i < count; ++i) {
        uint64_t to_device, to_host;
        char name[8];
        const size_t bytes = half_of(&engines[i], BLOCK);
        ok = there_and_back(&engines[i], 100 + i, bytes, &to_device, &to_host) && ok;
        name_of(&engines[i], name);
        const unsigned long d = rate(bytes, to_device), h = rate(bytes, to_host);
        console_printf("# %s %lu KiB: to device %lu.%02lu GB/s, to host %lu.%02lu GB/s\n", name,
                       (unsigned long)(bytes >> 10), d / 100, d % 100, h / 100, h % 100);
    }
    region_end();
    report("copies", ok);
}

/* Odd addresses and lengths: nothing beside them changes. */
static void test_odd(void) {
    static const struct {
        unsigned from, to, bytes;
    } cases[] = {{0, 0, 1}, {1, 2, 3}, {3, 61, 7}, {5, 0, 64}, {63, 1, 129}, {127, 255, 1000}, {4093, 7, 5000}};
    enum { SPAN = 16 << 10 };
    bool ok = true;
    for (unsigned i = 0; i < count; ++i) {
        struct copy_engine* e = &engines[i];
        if (e->memory_size < SPAN) continue;
        for (unsigned c = 0; c < sizeof cases / sizeof *cases && ok; ++c) {
            pattern_write(out, SPAN, c);
            memset(in, 0xa5, SPAN);
            ok = copy(e, e->memory + cases[c].to, (uintptr_t)out + cases[c].from, cases[c].bytes);
            ok = ok && copy(e, (uintptr_t)in + GUARD + cases[c].from, e->memory + cases[c].to, cases[c].bytes);
            for (unsigned b = 0; b < SPAN && ok; ++b) {
                const unsigned first = GUARD + cases[c].from;
                ok = in[b] == (b >= first && b < first + cases[c].bytes ? out[b - GUARD] : 0xa5);
            }
        }
    }
    report("odd", ok);
}

/* ---- every way to learn that a copy is done ---- */

static void test_deliveries(void) {
    bool ok = true;
    for (unsigned i = 0; i < count; ++i) {
        struct pci_function* f = engines[i].function;
        for (enum pci_delivery best = PCI_POLLED; best <= PCI_MSIX; ++best) {
            struct copy_engine* e = &engines[i];
            uint64_t unused;
            copy_engine_close(e);
            ok = ok && copy_engine_open(e, f, best) && there_and_back(e, 200 + best, 4096, &unused, &unused);
            ok = ok && (e->delivery == PCI_POLLED) == (e->channel[0].interrupts == 0);
        }
    }
    report("interrupts", ok);
}

/* ---- errors, and the way out of them ---- */

static void test_errors(void) {
    struct copy_engine* e = &engines[0];
    struct copy_channel* c = &e->channel[0];
    uint64_t unused;
    /* No device has the address: the copy fails, the one behind it does not. */
    copy_channel_post(c, e->memory, machine.memory_base + machine.memory_size + (UINT64_C(1) << 40), 64);
    copy_channel_post(c, e->memory, (uintptr_t)out, 64);
    copy_channel_ring(c);
    bool ok = expect(e, "read of nothing", copy_channel_wait(c, TIMEOUT_US), COPY_READ_FAILED);
    ok = ok && c->ring[(c->posted - 1) % COPY_RING_SIZE].status == COPY_ENGINE_DONE;
    /* More descriptors than the ring has. */
    c->posted += COPY_RING_SIZE + 1;
    copy_channel_ring(c);
    ok = expect(e, "overrun ring", copy_channel_wait(c, TIMEOUT_US), COPY_STOPPED) && ok;
    copy_channel_restart(c);
    report("errors", there_and_back(e, 300, 4096, &unused, &unused) && ok);
}

static void test_reset(void) {
    bool ok = true;
    for (unsigned i = 0; i < count; ++i) {
        struct pci_function* f = engines[i].function;
        uint64_t unused;
        copy_engine_close(&engines[i]);
        ok = ok && pci_reset_function(f) && copy_engine_open(&engines[i], f, PCI_MSIX);
        ok = ok && there_and_back(&engines[i], 400 + i, 4096, &unused, &unused);
    }
    report("reset", ok);
}

/* ---- from engine to engine ---- */

static bool load(struct copy_engine* e, uint64_t seed, size_t bytes) {
    pattern_write(out, bytes, seed);
    return copy(e, e->memory, (uintptr_t)out, bytes);
}

static uint64_t destination_of(const struct copy_engine* e) { return e->memory + e->memory_size / 2; }

static void post_to_peer(struct copy_engine* from, const struct copy_engine* to, size_t bytes) {
    copy_channel_post(&from->channel[0], destination_of(to), from->memory, (uint32_t)bytes);
    copy_channel_post_flush(&from->channel[0], destination_of(to), (uint32_t)bytes);
    copy_channel_ring(&from->channel[0]);
}

static bool arrived(struct copy_engine* at, uint64_t seed, size_t bytes) {
    memset(in, 0, bytes);
    return copy(at, (uintptr_t)in, destination_of(at), bytes) && pattern_check(in, bytes, seed);
}

static void test_peers(void) {
    const unsigned n = count < MATRIX ? count : MATRIX;
    bool ok = true;
    if (n < 2) return;
    region_begin("peers");
    console_printf("# GB/s    ");
    for (unsigned j = 0; j < n; ++j) console_printf(" to %2u", j);
    console_puts("\n");
    for (unsigned i = 0; i < n; ++i) {
        ok = load(&engines[i], 500 + i, half_of(&engines[i], CHUNK)) && ok;
        console_printf("# from %-3u", i);
        for (unsigned j = 0; j < n; ++j) {
            const size_t mine = half_of(&engines[i], CHUNK), theirs = half_of(&engines[j], CHUNK),
                         bytes = mine < theirs ? mine : theirs;
            if (i == j) {
                console_printf("     -");
                continue;
            }
            const uint64_t begin = timer_now();
            post_to_peer(&engines[i], &engines[j], bytes);
            ok = expect(&engines[i], "peer", copy_channel_wait(&engines[i].channel[0], TIMEOUT_US), COPY_OK) && ok;
            const unsigned long r = rate(bytes, timer_now() - begin);
            console_printf(" %2lu.%02lu", r / 100, r % 100);
            ok = arrived(&engines[j], 500 + i, bytes) && ok;
        }
        console_puts("\n");
    }
    region_end();
    report("peers", ok);
}

/* Each to the next, all at the same time. */
static void test_together(void) {
    size_t bytes = BLOCK;
    bool ok = true;
    if (count < 2) return;
    for (unsigned i = 0; i < count; ++i) bytes = half_of(&engines[i], bytes);
    for (unsigned i = 0; i < count; ++i) ok = load(&engines[i], 600 + i, bytes) && ok;
    region_begin("together");
    const uint64_t begin = timer_now();
    for (unsigned i = 0; i < count; ++i) post_to_peer(&engines[i], &engines[(i + 1) % count], bytes);
    for (unsigned i = 0; i < count; ++i)
        ok = expect(&engines[i], "peer", copy_channel_wait(&engines[i].channel[0], TIMEOUT_US), COPY_OK) && ok;
    const unsigned long r = rate(bytes * count, timer_now() - begin);
    region_end();
    for (unsigned i = 0; i < count; ++i) ok = arrived(&engines[(i + 1) % count], 600 + i, bytes) && ok;
    console_printf("# each to the next, together: %lu.%02lu GB/s\n", r / 100, r % 100);
    report("together", ok);
}

int main(void) {
    command_line_only(fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs"), NULL, 0);
    console_printf("\nFabricVP PCI Express\n");
    if (!pci_start(&host)) {
        console_printf("pcie       no host bridge\nall ok, powering off\n");
        return 0;
    }
    pci_print(&host);
    out = heap_allocate_aligned(BLOCK + 2 * GUARD, 4096);
    in = heap_allocate_aligned(BLOCK + 2 * GUARD, 4096);
    if (!out || !in) panic("out of memory");
    find_engines();
    if (count) {
        test_aperture();
        test_copies();
        test_odd();
        test_deliveries();
        test_errors();
        test_reset();
        test_peers();
        test_together();
    }
    failures += host.unassigned != 0;
    console_printf("%s\n", failures ? "FAILED" : "all ok, powering off");
    return failures ? 1 : 0;
}
