/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/machine.h"

#include <stdarg.h>

#include "abi/finisher.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/mmio.h"

struct machine machine;
extern char __image_end[];

static uintptr_t device_address(fdt_node node) {
    uint64_t address = 0, size = 0;
    return node >= 0 && fdt_reg(&machine.tree, node, 0, &address, &size) ? (uintptr_t)address : 0;
}

static uintptr_t find_device(const char* compatible) {
    return device_address(fdt_find_compatible(&machine.tree, -1, compatible));
}

static void find_console(void) {
    const struct fdt* t = &machine.tree;
    const char* path = fdt_text(t, fdt_find_path(t, "/chosen"), "stdout-path");
    fdt_node node = path ? fdt_find_path(t, path) : -1;
    if (node < 0) node = fdt_find_compatible(t, -1, "ns16550a");
    machine.uart = device_address(node);
    machine.uart_shift = fdt_cell(t, node, "reg-shift", 0, 0);
    machine.uart_irq = fdt_cell(t, node, "interrupts", 0, 0);
}

static void count_harts(void) {
    const struct fdt* t = &machine.tree;
    const fdt_node cpus = fdt_find_path(t, "/cpus");
    machine.timebase = fdt_cell(t, cpus, "timebase-frequency", 0, 0);
    for (fdt_node n = fdt_first_child(t, cpus); n >= 0; n = fdt_next_sibling(t, n)) {
        const char* type = fdt_text(t, n, "device_type");
        if (type && !strcmp(type, "cpu") && fdt_cell(t, n, "reg", 0, ~0u) < MAX_HARTS) ++machine.harts;
    }
}

/* Context k of a PLIC is entry k of interrupts-extended: (interrupt controller of a hart, 11 for machine mode). */
static void find_plic_contexts(void) {
    const struct fdt* t = &machine.tree;
    const fdt_node plic = fdt_find_compatible(t, -1, "riscv,plic0");
    uint32_t size = 0;
    fdt_property(t, plic, "interrupts-extended", &size);
    for (int h = 0; h < MAX_HARTS; ++h) machine.plic_context[h] = -1;
    for (uint32_t k = 0; k < size / 8; ++k) {
        const fdt_node controller = fdt_find_phandle(t, fdt_cell(t, plic, "interrupts-extended", 2 * k, 0));
        const uint32_t hart = fdt_cell(t, fdt_parent(t, controller), "reg", 0, ~0u);
        if (fdt_cell(t, plic, "interrupts-extended", 2 * k + 1, 0) == 11 && hart < MAX_HARTS)
            machine.plic_context[hart] = (int)k;
    }
}

static uint64_t initrd_edge(const char* property) {
    const struct fdt* t = &machine.tree;
    const fdt_node chosen = fdt_find_path(t, "/chosen");
    uint64_t edge = 0;
    uint32_t size = 0;
    if (!fdt_property(t, chosen, property, &size) || (size != 4 && size != 8)) return 0;
    for (uint32_t c = 0; c < size / 4; ++c) edge = edge << 32 | fdt_cell(t, chosen, property, c, 0);
    return edge;
}

bool machine_discover(const void* device_tree) {
    if (!fdt_open(&machine.tree, device_tree)) return false;
    const struct fdt* t = &machine.tree;
    find_console();
    count_harts();
    machine.nodes = fdt_cell(t, fdt_root(t), "fabricvp,nodes", 0, 0);
    fdt_reg(t, fdt_find_path(t, "/memory"), 0, &machine.memory_base, &machine.memory_size);
    machine.initrd = initrd_edge("linux,initrd-start");
    machine.initrd_end = initrd_edge("linux,initrd-end");
    if (machine.initrd_end <= machine.initrd) machine.initrd = machine.initrd_end = 0;
    machine.clint = find_device("riscv,clint0");
    machine.plic = find_device("riscv,plic0");
    machine.finisher = find_device("sifive,test0");
    machine.rtc = find_device("google,goldfish-rtc");
    machine.rtc_irq = fdt_cell(t, fdt_find_compatible(t, -1, "google,goldfish-rtc"), "interrupts", 0, 0);
    machine.marker = find_device("fabricvp,marker");
    machine.ecam = find_device("pci-host-ecam-generic");
    find_plic_contexts();
    return true;
}

const char* machine_isa(unsigned hart) {
    const struct fdt* t = &machine.tree;
    const fdt_node cpus = fdt_find_path(t, "/cpus");
    for (fdt_node n = fdt_first_child(t, cpus); n >= 0; n = fdt_next_sibling(t, n))
        if (fdt_cell(t, n, "reg", 0, ~0u) == hart && fdt_text(t, n, "riscv,isa")) return fdt_text(t, n, "riscv,isa");
    return "?";
}

void power_off(unsigned status) {
    if (machine.finisher)
        mmio_write32(machine.finisher + FINISHER_COMMAND,
                     status ? FINISHER_FAIL | (status & 0xffff) << 16 : FINISHER_PASS);
    for (;;) __asm__ volatile("wfi");
}

static void __attribute__((noreturn)) end_with(unsigned status, const char* format, va_list arguments) {
    console_vprintf(format, arguments);
    console_puts("\n");
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
    end_with(FINISHER_REFUSED, format, arguments);
}

/* Memory from the end of the image up to the device tree or the RAM disk, or to its own end if those lie elsewhere. */
static void make_heap(void) {
    uintptr_t from = (uintptr_t)__image_end, to = (uintptr_t)(machine.memory_base + machine.memory_size);
    const uintptr_t tree = (uintptr_t)machine.tree.blob;
    if (tree >= from && tree < to) to = tree;
    if (machine.initrd >= from && machine.initrd < to) to = machine.initrd;
    heap_initialize(from, to);
}

void firmware_start(uintptr_t hart, const void* device_tree) {
    (void)hart;
    if (!machine_discover(device_tree)) return; /* nothing is known, not even a console to say so */
    console_initialize();
    make_heap();
    power_off((unsigned)main());
}
