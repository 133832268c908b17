/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/aplic.h"

#include "abi/aplic.h"
#include "abi/imsic.h"
#include "lib/harts.h"
#include "lib/imsic.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/traps.h"

enum { EXTERNAL = 11, SUPERVISOR_EXTERNAL = 9, MAX_SOURCES = 1024, PAGE_SHIFT = 12 };

static struct {
    void (*handler)(unsigned);
    unsigned identity; /* with messages */
} lines[MAX_SOURCES];
static uintptr_t base;
static unsigned sources;
static bool sends_messages, searched;
static int index_of[MAX_HARTS]; /* hart index in this domain, -1 if none */

static uint32_t line_of(fdt_node node) { return fdt_cell(&machine.tree, node, "interrupts-extended", 1, 0); }

/* The root domain is the one whose harts, or whose IMSICs' harts, are signalled at machine level. */
static void search(void) {
    if (searched) return;
    searched = true;
    const struct fdt* t = &machine.tree;
    for (int h = 0; h < MAX_HARTS; ++h) index_of[h] = -1;
    for (fdt_node n = -1; (n = fdt_find_compatible(t, n, "riscv,aplic")) >= 0;) {
        const fdt_node files = fdt_find_phandle(t, fdt_cell(t, n, "msi-parent", 0, 0));
        const fdt_node harts = files >= 0 ? files : n;
        uint64_t address = 0, length = 0;
        if (line_of(harts) != EXTERNAL || !fdt_reg(t, n, 0, &address, &length)) continue;
        base = (uintptr_t)address;
        sources = fdt_cell(t, n, "riscv,num-sources", 0, 0);
        sends_messages = files >= 0;
        uint32_t size = 0;
        fdt_property(t, harts, "interrupts-extended", &size);
        for (uint32_t k = 0; k < size / 8; ++k) {
            const fdt_node controller = fdt_find_phandle(t, fdt_cell(t, harts, "interrupts-extended", 2 * k, 0));
            const uint32_t hart = fdt_cell(t, fdt_parent(t, controller), "reg", 0, ~0u);
            if (hart < MAX_HARTS) index_of[hart] = (int)k;
        }
    }
}

bool aplic_available(unsigned source) {
    search();
    return base && index_of[hart_id()] >= 0 && source > 0 && source <= sources && source < MAX_SOURCES;
}

static uint64_t first_page(uint32_t line) {
    const struct fdt* t = &machine.tree;
    uint64_t address = 0, length = 0;
    for (fdt_node n = -1; (n = fdt_find_compatible(t, n, "riscv,imsics")) >= 0;)
        if (line_of(n) == line && fdt_reg(t, n, 0, &address, &length)) return address >> PAGE_SHIFT;
    return 0;
}

void aplic_set_message_addresses(void) {
    search();
    if (!base || mmio_read32(base + APLIC_MMSIADDRCFGH) & APLIC_MSIADDR_LOCK) return;
    unsigned width = 0;
    while (1u << width < machine.harts) ++width;
    const uint64_t machine_page = first_page(EXTERNAL), supervisor_page = first_page(SUPERVISOR_EXTERNAL);
    mmio_write32(base + APLIC_MMSIADDRCFG, (uint32_t)machine_page);
    mmio_write32(base + APLIC_MMSIADDRCFGH, (uint32_t)(machine_page >> 32) | width << APLIC_MSIADDR_LHXW_SHIFT);
    mmio_write32(base + APLIC_SMSIADDRCFG, (uint32_t)supervisor_page);
    mmio_write32(base + APLIC_SMSIADDRCFGH, (uint32_t)(supervisor_page >> 32));
}

/* Directly signalled. */
static void external(struct trap_frame* frame) {
    (void)frame;
    const uintptr_t claim = base + APLIC_CLAIMI + (uintptr_t)index_of[hart_id()] * APLIC_IDC_STRIDE;
    for (uint32_t top; (top = mmio_read32(claim)) != 0;) {
        const unsigned source = top >> APLIC_TOPI_SOURCE_SHIFT;
        if (source < MAX_SOURCES && lines[source].handler) lines[source].handler(source);
    }
}

/* By message. A line that is still high sends no other by itself. */
static void on_message(unsigned identity, void* context) {
    (void)identity;
    const unsigned source = (unsigned)(uintptr_t)context;
    if (lines[source].handler) lines[source].handler(source);
    if (mmio_read32(base + APLIC_IN_CLRIP + source / 32 * 4) >> source % 32 & 1)
        mmio_write32(base + APLIC_SETIPNUM, source);
}

/* Reset promises nothing about sources. */
static void disable_all(void) {
    static bool done;
    if (done) return;
    done = true;
    for (unsigned w = 0; w <= sources / 32; ++w) mmio_write32(base + APLIC_CLRIE + 4 * w, ~0u);
    for (unsigned s = 1; s <= sources; ++s) mmio_write32(base + APLIC_SOURCECFG + 4 * (s - 1), APLIC_SOURCE_INACTIVE);
}

static void disconnect(unsigned source) {
    mmio_write32(base + APLIC_CLRIENUM, source);
    mmio_write32(base + APLIC_SOURCECFG + 4 * (source - 1), APLIC_SOURCE_INACTIVE);
    if (!lines[source].identity) return;
    imsic_enable(lines[source].identity, false);
    imsic_free(lines[source].identity);
    lines[source].identity = 0;
}

void aplic_handle(unsigned source, void (*handler)(unsigned)) {
    if (!aplic_available(source)) panic("no interrupt source %u", source);
    lines[source].handler = handler;
    if (!handler) {
        disconnect(source);
        return;
    }
    disable_all();
    const uint32_t hart = (uint32_t)index_of[hart_id()];
    uint32_t target = hart << APLIC_TARGET_HART_SHIFT;
    if (sends_messages) {
        if (!lines[source].identity) lines[source].identity = imsic_allocate(on_message, (void*)(uintptr_t)source);
        if (!lines[source].identity) panic("no interrupt identity is left for source %u", source);
        target |= lines[source].identity;
        aplic_set_message_addresses();
        imsic_enable(lines[source].identity, true);
    } else {
        target |= 1; /* priority */
        interrupt_handle(EXTERNAL, external);
        mmio_write32(base + APLIC_ITHRESHOLD + hart * APLIC_IDC_STRIDE, 0);
        mmio_write32(base + APLIC_IDELIVERY + hart * APLIC_IDC_STRIDE, 1);
    }
    mmio_write32(base + APLIC_SOURCECFG + 4 * (source - 1), APLIC_SOURCE_LEVEL1);
    mmio_write32(base + APLIC_TARGET + 4 * (source - 1), target);
    mmio_write32(base + APLIC_SETIENUM, source);
    mmio_write32(base + APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE | (sends_messages ? APLIC_DOMAINCFG_DM : 0));
}
