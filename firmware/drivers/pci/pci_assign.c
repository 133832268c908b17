/* SPDX-License-Identifier: Apache-2.0 */
/* Address space: buses are measured from the leaves to the root, then placed from the root to the leaves. On each bus
 * what needs the largest alignment comes first, so powers of two leave no gaps. */
#include "drivers/pci/pci.h"

#define MIB (UINT64_C(1) << 20) /* bridge windows begin and end on such */

static uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) & ~(to - 1); }

static bool has_wide_window(const struct pci_function* bridge) {
    return (pci_read16(bridge, PCI_PREFETCHABLE_BASE) & 0xf) == PCI_WINDOW_WIDE;
}

/* What may be prefetched and takes 64-bit addresses goes high, if all bridges above let it; directly below the host
 * bridge nothing prefetches. */
static enum pci_region region_of(const struct pci_resource* r) {
    const struct pci_bus* bus = r->function->bus;
    if (!r->wide || bus->host->windows[PCI_HIGH].size == 0) return PCI_LOW;
    if (!r->prefetchable && bus->bridge) return PCI_LOW;
    for (; bus->bridge; bus = bus->bridge->bus)
        if (!has_wide_window(bus->bridge)) return PCI_LOW;
    return PCI_HIGH;
}

/* Behind those of the same alignment, or before them. */
static void insert(struct pci_resource** list, struct pci_resource* r, bool before) {
    while (*list && ((*list)->alignment > r->alignment || (!before && (*list)->alignment == r->alignment)))
        list = &(*list)->next;
    r->next = *list;
    *list = r;
}

static void measure(struct pci_bus* bus, enum pci_region region) {
    struct pci_resource* window = &bus->windows[region];
    uint64_t size = 0;
    window->alignment = MIB;
    for (const struct pci_resource* r = bus->resources[region]; r; r = r->next) {
        size = align(size, r->alignment) + r->size;
        if (r->alignment > window->alignment) window->alignment = r->alignment;
    }
    window->size = align(size, MIB);
    window->function = bus->bridge;
    /* Buses come in reverse: so they stand in order again. */
    if (size) insert(&bus->bridge->bus->resources[region], window, true);
}

static void place(struct pci_bus* bus, enum pci_region region) {
    const struct pci_window* whole = &bus->host->windows[region];
    uint64_t at = bus->bridge ? bus->windows[region].address : whole->bus;
    uint64_t room = bus->bridge ? (bus->windows[region].assigned ? bus->windows[region].size : 0) : whole->size;
    if (!bus->bridge && at == 0) at = MIB, room -= room > MIB ? MIB : room; /* address 0 would look like "none" */
    const uint64_t end = at + room;
    for (struct pci_resource* r = bus->resources[region]; r; r = r->next) {
        const uint64_t begin = align(at, r->alignment);
        r->assigned = begin >= at && begin <= end && r->size <= end - begin;
        if (!r->assigned) continue;
        r->address = begin;
        at = begin + r->size;
    }
}

/* Memory space is on from here; requests of its own are for a driver to allow. */
static void program_bars(struct pci_function* f) {
    bool all = true;
    for (unsigned b = 0; b < PCI_BARS; ++b) {
        const struct pci_resource* r = &f->bars[b];
        if (!r->size) continue;
        all = all && r->assigned;
        f->bus->host->unassigned += !r->assigned;
        pci_write32(f, PCI_BAR + 4 * b, (uint32_t)r->address);
        if (r->wide) pci_write32(f, PCI_BAR + 4 * b + 4, (uint32_t)(r->address >> 32));
    }
    pci_write16(f, PCI_COMMAND, PCI_COMMAND_INTX_DISABLE | (all ? PCI_COMMAND_MEMORY : 0));
}

static void program_bridge(struct pci_function* f) {
    const struct pci_resource *low = &f->below->windows[PCI_LOW], *high = &f->below->windows[PCI_HIGH];
    /* A base above the limit closes a window. */
    const uint64_t low_last = low->address + low->size - 1, high_last = high->address + high->size - 1;
    pci_write16(f, PCI_MEMORY_BASE, low->assigned ? (uint16_t)(low->address >> 16) : PCI_WINDOW_MASK);
    pci_write16(f, PCI_MEMORY_LIMIT, low->assigned ? (uint16_t)(low_last >> 16) & PCI_WINDOW_MASK : 0);
    pci_write16(f, PCI_PREFETCHABLE_BASE, high->assigned ? (uint16_t)(high->address >> 16) : PCI_WINDOW_MASK);
    pci_write16(f, PCI_PREFETCHABLE_LIMIT, high->assigned ? (uint16_t)(high_last >> 16) & PCI_WINDOW_MASK : 0);
    pci_write32(f, PCI_PREFETCHABLE_BASE_UPPER, high->assigned ? (uint32_t)(high->address >> 32) : 0);
    pci_write32(f, PCI_PREFETCHABLE_LIMIT_UPPER, high->assigned ? (uint32_t)(high_last >> 32) : 0);
    pci_write8(f, PCI_IO_BASE, 0xf0);
    pci_write8(f, PCI_IO_LIMIT, 0);
    pci_write16(f, PCI_COMMAND, pci_read16(f, PCI_COMMAND) | PCI_COMMAND_MASTER);
}

void pci_assign(struct pci_host* host) {
    struct pci_bus* leaf = &host->root;
    for (struct pci_function* f = host->functions; f; f = f->next)
        for (unsigned b = 0; b < PCI_BARS; ++b)
            if (f->bars[b].size) insert(&f->bus->resources[region_of(&f->bars[b])], &f->bars[b], false);
    while (leaf->next) leaf = leaf->next;
    for (struct pci_bus* bus = leaf; bus->bridge; bus = bus->previous)
        for (unsigned region = 0; region < PCI_REGIONS; ++region) measure(bus, region);
    for (struct pci_bus* bus = &host->root; bus; bus = bus->next)
        for (unsigned region = 0; region < PCI_REGIONS; ++region) place(bus, region);
    host->unassigned = 0;
    for (struct pci_function* f = host->functions; f; f = f->next) {
        program_bars(f);
        if (f->below) program_bridge(f);
    }
}

/* ---- payloads ---- */

void pci_tune(struct pci_host* host) {
    unsigned code = 5, any = 0; /* 4096 bytes */
    bool tags = true;
    for (const struct pci_function* f = host->functions; f; f = f->next) {
        if (!f->express) continue;
        const uint32_t able = pci_read32(f, f->express + PCI_EXPRESS_DEVICE_CAPABILITIES);
        if ((able & PCI_EXPRESS_PAYLOAD_SUPPORTED) < code) code = able & PCI_EXPRESS_PAYLOAD_SUPPORTED;
        tags = tags && able & PCI_EXPRESS_EXTENDED_TAG_SUPPORTED;
        any = 1;
    }
    if (!any) return;
    const unsigned read_code = code > 2 ? code : 2; /* 512 bytes, the reset value, or a whole payload */
    for (const struct pci_function* f = host->functions; f; f = f->next) {
        if (!f->express) continue;
        uint16_t control = pci_read16(f, f->express + PCI_EXPRESS_DEVICE_CONTROL);
        control &= (uint16_t) ~(PCI_EXPRESS_PAYLOAD_MASK | PCI_EXPRESS_READ_REQUEST_MASK | PCI_EXPRESS_EXTENDED_TAG |
                                PCI_EXPRESS_RESET);
        control |= (uint16_t)(code << PCI_EXPRESS_PAYLOAD_SHIFT | read_code << PCI_EXPRESS_READ_REQUEST_SHIFT |
                              (tags ? PCI_EXPRESS_EXTENDED_TAG : 0));
        pci_write16(f, f->express + PCI_EXPRESS_DEVICE_CONTROL, control);
    }
    host->max_payload = 128u << code;
    host->max_read_request = 128u << read_code;
}
