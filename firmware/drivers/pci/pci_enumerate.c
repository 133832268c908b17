/* SPDX-License-Identifier: Apache-2.0 */
/* Depth-first walk over the buses. It keeps its place in the tree that it builds, so depth costs no stack. */
#include "drivers/pci/pci.h"
#include "lib/heap.h"
#include "lib/machine.h"

static void* allocate(size_t bytes) {
    void* p = heap_allocate(bytes);
    if (!p) panic("pci: out of memory");
    return memset(p, 0, bytes);
}

/* What a BAR wants is known from the address bits that stay zero when all are written. */
static void size_bars(struct pci_function* f) {
    const unsigned bars = pci_is_bridge(f)                                               ? PCI_BRIDGE_BARS
                          : (f->header_type & PCI_HEADER_TYPE_MASK) == PCI_HEADER_DEVICE ? PCI_BARS
                                                                                         : 0;
    for (unsigned b = 0; b < bars; ++b) {
        const unsigned at = PCI_BAR + 4 * b;
        pci_write32(f, at, ~0u);
        const uint32_t low = pci_read32(f, at);
        if (low == 0 || low & PCI_BAR_IO) continue;
        struct pci_resource* r = &f->bars[b];
        r->function = f;
        r->prefetchable = low & PCI_BAR_PREFETCHABLE;
        r->wide = low & PCI_BAR_WIDE;
        uint64_t bits = low & ~(uint32_t)PCI_BAR_MEMORY_FLAGS;
        if (!r->wide) {
            bits |= ~UINT64_C(0) << 32;
        } else if (b + 1 < bars) {
            pci_write32(f, at + 4, ~0u);
            bits |= (uint64_t)pci_read32(f, at + 4) << 32;
            ++b;
        }
        r->size = r->alignment = bits & -bits;
    }
}

static void read_capabilities(struct pci_function* f) {
    f->pm = (uint16_t)pci_find_capability(f, PCI_CAPABILITY_PM);
    f->msix = (uint16_t)pci_find_capability(f, PCI_CAPABILITY_MSIX);
    f->express = (uint16_t)pci_find_capability(f, PCI_CAPABILITY_EXPRESS);
    if (!f->express) return; /* without it there are only 256 bytes */
    f->port_type = pci_read16(f, f->express + PCI_EXPRESS_CAPABILITIES) >> 4 & 0xf;
    f->aer = (uint16_t)pci_find_extended_capability(f, PCI_EXTENDED_AER);
    f->acs = (uint16_t)pci_find_extended_capability(f, PCI_EXTENDED_ACS);
}

/* Functions below that are not ready yet are to say so, rather than to hold up the hart. */
static void show_retries(const struct pci_function* f) {
    if (f->port_type != PCI_PORT_ROOT || !f->express) return;
    if (!(pci_read16(f, f->express + PCI_EXPRESS_ROOT_CAPABILITIES) & PCI_EXPRESS_RETRY_CAPABLE)) return;
    const uint16_t control = pci_read16(f, f->express + PCI_EXPRESS_ROOT_CONTROL);
    pci_write16(f, f->express + PCI_EXPRESS_ROOT_CONTROL, control | PCI_EXPRESS_RETRY_VISIBLE);
}

static struct pci_function* make_function(struct pci_bus* bus, unsigned device, unsigned function, uint32_t id) {
    struct pci_function* f = allocate(sizeof *f);
    f->bus = bus;
    f->device = (uint8_t)device;
    f->function = (uint8_t)function;
    f->vendor = (uint16_t)id;
    f->device_id = (uint16_t)(id >> 16);
    f->configuration =
        bus->host->ecam + ((uintptr_t)(bus->number - bus->host->first_bus) << 20 | device << 15 | function << 12);
    f->header_type = pci_read8(f, PCI_HEADER_TYPE);
    f->class_code = pci_read32(f, PCI_CLASS_REVISION) >> 8;
    f->pin = pci_read8(f, PCI_INTERRUPT_PIN);
    pci_write16(f, PCI_COMMAND, PCI_COMMAND_INTX_DISABLE); /* silent while its addresses change */
    read_capabilities(f);
    size_bars(f);
    return f;
}

static struct pci_bus* open_bus(struct pci_function* bridge, unsigned number) {
    struct pci_bus* below = allocate(sizeof *below);
    below->host = bridge->bus->host;
    below->bridge = bridge;
    below->number = number;
    pci_write8(bridge, PCI_PRIMARY_BUS, (uint8_t)bridge->bus->number);
    pci_write8(bridge, PCI_SECONDARY_BUS, (uint8_t)number);
    pci_write8(bridge, PCI_SUBORDINATE_BUS, (uint8_t)below->host->last_bus); /* until it is known */
    bridge->below = below;
    show_retries(bridge);
    return below;
}

/* A link leads to device 0 alone. */
static unsigned devices_on(const struct pci_bus* bus) {
    const struct pci_function* b = bus->bridge;
    return b && b->express && (b->port_type == PCI_PORT_ROOT || b->port_type == PCI_PORT_DOWNSTREAM) ? 1 : PCI_DEVICES;
}

void pci_enumerate(struct pci_host* host) {
    struct pci_function** tail = &host->functions;
    struct pci_bus *bus = &host->root, *newest = &host->root;
    struct pci_function* last = NULL; /* on `bus` */
    unsigned place = 0, number = host->first_bus;
    while (bus) {
        if (place >= devices_on(bus) * PCI_FUNCTIONS) { /* up again, to behind the bridge */
            bus->last = number;
            last = bus->bridge;
            if (!last) break;
            pci_write8(last, PCI_SUBORDINATE_BUS, (uint8_t)number);
            place = last->device * PCI_FUNCTIONS + last->function + 1u;
            if (!last->function && !(last->header_type & PCI_HEADER_MULTIFUNCTION)) place += PCI_FUNCTIONS - 1;
            bus = last->bus;
            continue;
        }
        const unsigned device = place / PCI_FUNCTIONS, function = place % PCI_FUNCTIONS;
        const uint32_t id = pci_identify(host, bus->number, device, function);
        if (id == PCI_NO_FUNCTION) {
            place += function ? 1 : PCI_FUNCTIONS; /* without function 0 there are no others */
            continue;
        }
        struct pci_function* f = make_function(bus, device, function, id);
        *tail = f;
        tail = &f->next;
        ++host->count;
        if (last)
            last->sibling = f;
        else
            bus->first = f;
        last = f;
        if (pci_is_bridge(f) && number < host->last_bus) {
            bus = open_bus(f, ++number);
            newest->next = bus;
            bus->previous = newest;
            newest = bus;
            last = NULL;
            place = 0;
        } else {
            place += !function && !(f->header_type & PCI_HEADER_MULTIFUNCTION) ? PCI_FUNCTIONS : 1;
        }
    }
}
