/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU's copy engine: inputs and results of any size, virtual addresses, what goes wrong, interrupts. */
#include "driver.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { MAX_COPY_BYTES = 2 << 20, PAGES = 8 };

static struct gpu_queue_handle queue;
static gpu_address buffer;
static uint8_t *out, *back;

static void check(const char* what, bool good) { console_printf("%-44s %s\n", what, good ? "ok" : "FAILED"); }

static uint8_t pattern(uint64_t i) { return (uint8_t)(i * 29 + (i >> 8) * 3 + 1); }

/* To the device and back, with untouched bytes on either side. */
static bool there_and_back(uint64_t bytes, unsigned to, unsigned from) {
    memset(back, 0xee, bytes + 128);
    if (gpu_copy_to(&node, buffer + to, out + from, bytes)) return false;
    if (gpu_copy_from(&node, back + 64, buffer + to, bytes)) return false;
    for (uint64_t i = 0; i < bytes; ++i)
        if (back[64 + i] != pattern(from + i)) return false;
    return back[63] == 0xee && back[64 + bytes] == 0xee;
}

static void sizes(void) {
    static const uint32_t bytes[] = {1, 63, 64, 511, 512, 4095, 4096, 4097, 65536, 1000003};
    bool good = true;
    for (unsigned i = 0; i < sizeof bytes / sizeof *bytes; ++i)
        good &=
            there_and_back(bytes[i], 0, 0) && there_and_back(bytes[i], 4093, 1) && there_and_back(bytes[i], 7, 4090);
    check("sizes and alignments", good);
    const uint64_t begin = timer_now();
    good = there_and_back(MAX_COPY_BYTES - 8192, 0, 0);
    /* Both ways at 1 GB/s at least: it is no loop of loads and stores. */
    check("two megabytes, fast", good && timer_microseconds(timer_now() - begin) < 20000);
}

/* What the host has copied, kernels see, and the other way round, without more ado. */
static void kernels(void) {
    enum { ITEMS = 256 };
    uint32_t* words = (uint32_t*)back;
    memset(words, 0, 4 * ITEMS);
    bool good = true;
    for (unsigned round = 0; round < 3; ++round) {
        for (unsigned i = 0; i < ITEMS; ++i) words[i] = 0xdead0000 + round;
        good &= gpu_copy_to(&node, buffer, words, 4 * ITEMS) == 0;
        good &= gpu_wait(&queue, driver_launch(&queue, "good", ITEMS / 64, buffer, 0)) == 0;
        good &= gpu_copy_from(&node, words, buffer, 4 * ITEMS) == 0;
        for (unsigned i = 0; i < ITEMS; ++i) good &= words[i] == 3 * i + 1;
    }
    check("kernels and copies see each other", good);
}

static uint32_t perform(uint64_t to, uint64_t from, uint32_t bytes, uint32_t flags, uint32_t space) {
    struct copy_channel* c = &node.gpu[0].copies[0];
    copy_channel_post_as(c, to, from, bytes, flags, space);
    copy_channel_ring(c);
    const enum copy_result result = copy_channel_wait(c, GPU_WAIT_LIMIT_US);
    if (result == COPY_READ_FAILED) return COPY_ENGINE_FAULT(c->failed);
    return result == COPY_OK ? GPU_FAULT_NONE : GPU_TIMED_OUT;
}

static void virtual(void) {
    const gpu_address host = gpu_map_host(&node, out, PAGES * GPU_PAGE, false);
    const uint32_t both = COPY_ENGINE_FLAG_SOURCE_VIRTUAL | COPY_ENGINE_FLAG_DESTINATION_VIRTUAL;
    memset(back, 0, PAGES * GPU_PAGE);
    bool good = perform(buffer + 100, host + 50, PAGES * GPU_PAGE - 50, both, 0) == 0;
    good &= gpu_copy_from(&node, back, buffer + 100, PAGES * GPU_PAGE - 50) == 0;
    for (uint64_t i = 0; i < PAGES * GPU_PAGE - 50; ++i) good &= back[i] == pattern(50 + i);
    check("virtual addresses, host memory among them", good);
}

static void print_result(const char* what, uint32_t fault) {
    console_printf("%-44s %s\n", what, gpu_fault_name(fault));
}

static void faults(void) {
    const uint64_t here = gpu_physical(&node, buffer);
    const gpu_address read_only = gpu_map_host(&node, out, GPU_PAGE, false);
    const uint32_t to = COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, from = COPY_ENGINE_FLAG_SOURCE_VIRTUAL;
    print_result("host memory that is not there",
                 perform(here, machine.memory_base + machine.memory_size + (1ull << 40), 64, 0, 0));
    print_result(
        "device memory that is not there",
        perform((uint64_t)GPU_PA_GPU0 << GPU_PA_APERTURE_SHIFT | node.gpu[0].memory_bytes, (uintptr_t)out, 64, 0, 0));
    print_result("a GPU that is not there",
                 perform((uint64_t)(GPU_PA_GPU0 + 7) << GPU_PA_APERTURE_SHIFT, (uintptr_t)out, 64, 0, 0));
    print_result("a page that is not mapped", perform((uintptr_t)back, node.next + GPU_PAGE, 64, from, 0));
    print_result("a page that is read-only", perform(read_only, (uintptr_t)out, 64, to, 0));
    print_result("an address space without tables", perform(buffer, (uintptr_t)out, 64, to, 5));
    print_result("a flag that is none", perform(here, (uintptr_t)out, 64, 0x100, 0));
    check("copies after that", there_and_back(5000, 0, 0));

    struct copy_channel* c = &node.gpu[0].copies[0];
    mmio_write32(c->registers + COPY_ENGINE_DOORBELL, c->posted + COPY_RING_SIZE + 1);
    for (unsigned tries = 0;
         tries < 100 && !(mmio_read32(c->registers + COPY_ENGINE_STATUS) & COPY_ENGINE_STATUS_FAILED); ++tries)
        timer_wait(1);
    check("a doorbell beyond the ring stops it",
          mmio_read32(c->registers + COPY_ENGINE_STATUS) & COPY_ENGINE_STATUS_FAILED);
    copy_channel_restart(c);
    check("copies after a restart", there_and_back(5000, 0, 0));
}

static void interrupts(void) {
    struct gpu* g = &node.gpu[0];
    console_printf("interrupts by %s\n", pci_delivery_names[gpu_use_interrupts(g, PCI_MSIX)]);
    const uint32_t before = g->interrupts[GPU_VECTOR_SDMA];
    const unsigned engines = g->shared ? 0 : 2; /* what host and GPU share, harts copy */
    bool good = there_and_back(100000, 0, 0) && g->interrupts[GPU_VECTOR_SDMA] - before == engines;
    check("a copy there and one back, two interrupts", good);
    check("a kernel interrupts as before", *driver_works(&queue) == 'o');
    gpu_use_interrupts(g, PCI_POLLED);
    check("polling again", there_and_back(100000, 0, 0));
}

int main(void) {
    driver_start();
    gpu_create_queue(&queue, &node, 0, 16, GPU_SMALL_SCRATCH, 1);
    buffer = gpu_allocate_on(&node, 0, MAX_COPY_BYTES);
    out = driver_pages(MAX_COPY_BYTES / GPU_PAGE);
    back = driver_pages(MAX_COPY_BYTES / GPU_PAGE);
    for (uint64_t i = 0; i < MAX_COPY_BYTES; ++i) out[i] = pattern(i);
    sizes();
    kernels();
    virtual();
    faults();
    interrupts();
    return 0;
}
