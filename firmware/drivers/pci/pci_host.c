/* SPDX-License-Identifier: Apache-2.0 */
/* The host bridge as the device tree describes it (Devicetree Specification 0.4, 2.4.3; PCI Bus Binding to IEEE 1275).
 */
#include "drivers/pci/pci.h"
#include "lib/machine.h"

enum { SPACE_SHIFT = 24, SPACE_MASK = 3, SPACE_MEMORY32 = 2, SPACE_MEMORY64 = 3, CHILD_CELLS = 3, SIZE_CELLS = 2 };

static uint64_t two_cells(fdt_node node, const char* property, unsigned at) {
    const struct fdt* t = &machine.tree;
    return (uint64_t)fdt_cell(t, node, property, at, 0) << 32 | fdt_cell(t, node, property, at + 1, 0);
}

/* Of several windows of a kind, the largest. */
static void find_windows(struct pci_host* host) {
    const struct fdt* t = &machine.tree;
    const unsigned parent_cells = fdt_cell(t, fdt_parent(t, host->node), "#address-cells", 0, 2);
    const unsigned entry = CHILD_CELLS + parent_cells + SIZE_CELLS;
    uint32_t bytes = 0;
    if (parent_cells != 1 && parent_cells != 2) return;
    fdt_property(t, host->node, "ranges", &bytes);
    for (unsigned at = 0; at + entry <= bytes / 4; at += entry) {
        const unsigned space = fdt_cell(t, host->node, "ranges", at, 0) >> SPACE_SHIFT & SPACE_MASK;
        struct pci_window w;
        w.bus = two_cells(host->node, "ranges", at + 1);
        w.cpu = parent_cells == 2 ? two_cells(host->node, "ranges", at + CHILD_CELLS)
                                  : fdt_cell(t, host->node, "ranges", at + CHILD_CELLS, 0);
        w.size = two_cells(host->node, "ranges", at + CHILD_CELLS + parent_cells);
        if (space != SPACE_MEMORY32 && space != SPACE_MEMORY64) continue;
        struct pci_window* kept = &host->windows[space == SPACE_MEMORY64 ? PCI_HIGH : PCI_LOW];
        if (w.size > kept->size) *kept = w;
    }
}

bool pci_find_host(struct pci_host* host) {
    const struct fdt* t = &machine.tree;
    uint64_t base = 0, size = 0;
    *host = (struct pci_host){.node = fdt_find_compatible(t, -1, "pci-host-ecam-generic")};
    if (host->node < 0 || !fdt_reg(t, host->node, 0, &base, &size) || size < (1u << 20)) return false;
    host->ecam = (uintptr_t)base;
    host->first_bus = fdt_cell(t, host->node, "bus-range", 0, 0);
    host->last_bus = fdt_cell(t, host->node, "bus-range", 1, PCI_BUSES - 1);
    const uint64_t room = size >> 20; /* buses that ECAM has room for */
    if (host->last_bus - host->first_bus >= room) host->last_bus = host->first_bus + (unsigned)room - 1;
    host->root = (struct pci_bus){.host = host, .number = host->first_bus, .last = host->first_bus};
    find_windows(host);
    return true;
}

bool pci_start(struct pci_host* host) {
    if (!pci_find_host(host)) return false;
    pci_enumerate(host);
    pci_assign(host);
    pci_tune(host);
    return true;
}

/* Each bridge on the way up turns the pin by the device number below it. */
static unsigned pin_at_root(const struct pci_function** f) {
    unsigned pin = (*f)->pin;
    for (; (*f)->bus->bridge; *f = (*f)->bus->bridge) pin = (pin - 1 + (*f)->device) % 4 + 1;
    return pin;
}

unsigned pci_intx_source(const struct pci_function* f) {
    const struct fdt* t = &machine.tree;
    const fdt_node node = f->bus->host->node;
    if (f->pin == 0) return 0;
    const unsigned pin = pin_at_root(&f);
    const uint32_t address = (f->bus->number << 16 | (uint32_t)f->device << 11 | (uint32_t)f->function << 8) &
                             fdt_cell(t, node, "interrupt-map-mask", 0, 0);
    uint32_t bytes = 0;
    fdt_property(t, node, "interrupt-map", &bytes);
    /* An entry: address (3), pin, controller, and that controller's own address and specifier. */
    for (unsigned at = 0; at + CHILD_CELLS + 2 < bytes / 4;) {
        const fdt_node controller = fdt_find_phandle(t, fdt_cell(t, node, "interrupt-map", at + CHILD_CELLS + 1, 0));
        const unsigned specifier = at + CHILD_CELLS + 2 + fdt_cell(t, controller, "#address-cells", 0, 0);
        if (fdt_cell(t, node, "interrupt-map", at, 0) == address &&
            fdt_cell(t, node, "interrupt-map", at + CHILD_CELLS, 0) ==
                (pin & fdt_cell(t, node, "interrupt-map-mask", 3, 7)))
            return fdt_cell(t, node, "interrupt-map", specifier, 0);
        at = specifier + fdt_cell(t, controller, "#interrupt-cells", 0, 1);
    }
    return 0;
}
