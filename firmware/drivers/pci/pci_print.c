/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pci/pci.h"
#include "lib/console.h"

static const char* name_of(const struct pci_function* f) {
    static const struct {
        uint32_t class_code, mask;
        const char* name;
    } classes[] = {
        {0x010802, 0xffffff, "NVMe controller"},
        {0x010000, 0xff0000, "storage controller"},
        {0x020700, 0xffff00, "InfiniBand controller"},
        {0x020000, 0xff0000, "network controller"},
        {0x030200, 0xffff00, "3D controller"},
        {0x030000, 0xff0000, "display controller"},
        {0x060000, 0xffff00, "host bridge"},
        {0x060400, 0xffff00, "PCI bridge"},
        {0x070000, 0xff0000, "communication controller"},
        {0x080000, 0xff0000, "system peripheral"},
        {0x0c0300, 0xffff00, "USB controller"},
        {0x120000, 0xff0000, "processing accelerator"},
    };
    if (pci_is_bridge(f) && f->express) {
        if (f->port_type == PCI_PORT_ROOT) return "root port";
        if (f->port_type == PCI_PORT_UPSTREAM) return "switch, upstream port";
        if (f->port_type == PCI_PORT_DOWNSTREAM) return "switch, downstream port";
    }
    for (unsigned i = 0; i < sizeof classes / sizeof *classes; ++i)
        if (((f->class_code ^ classes[i].class_code) & classes[i].mask) == 0) return classes[i].name;
    return "function";
}

static void print_size(uint64_t bytes) {
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;
    for (; unit < 4 && bytes % 1024 == 0 && bytes; ++unit) bytes /= 1024;
    console_printf("%lu %s", (unsigned long)bytes, units[unit]);
}

static void print_range(unsigned indent, const char* name, const struct pci_resource* r) {
    console_printf("%*s%s ", (int)indent, "", name);
    if (r->assigned)
        console_printf("0x%lx, ", (unsigned long)r->address);
    else
        console_printf("no room for ");
    print_size(r->size);
}

static void print_link(const struct pci_function* f) {
    const unsigned status = pci_read16(f, f->express + PCI_EXPRESS_LINK_STATUS);
    const unsigned width = (status & PCI_EXPRESS_LINK_WIDTH) >> PCI_EXPRESS_LINK_WIDTH_SHIFT;
    if (f->port_type != PCI_PORT_INTEGRATED && width)
        console_printf(", Gen%u x%u", status & PCI_EXPRESS_LINK_SPEED, width);
}

static void print_function(const struct pci_function* f, unsigned depth) {
    const unsigned indent = 2 * depth;
    console_printf("%*s%02x:%02x.%x %04x:%04x %s", (int)indent, "", f->bus->number, f->device, f->function, f->vendor,
                   f->device_id, name_of(f));
    if (f->express) print_link(f);
    if (f->below) console_printf(", buses %02x-%02x", f->below->number, f->below->last);
    if (f->msix) console_printf(", MSI-X %u", (pci_read16(f, f->msix + PCI_MSIX_CONTROL) & PCI_MSIX_SIZE) + 1u);
    console_puts("\n");
    for (unsigned b = 0; b < PCI_BARS; ++b) {
        if (!f->bars[b].size) continue;
        char name[] = "BAR 0";
        name[4] = (char)('0' + b);
        print_range(indent + 8, name, &f->bars[b]);
        console_printf("%s%s\n", f->bars[b].wide ? ", 64-bit" : ", 32-bit",
                       f->bars[b].prefetchable ? ", prefetchable" : "");
    }
    if (!f->below) return;
    static const char* const names[] = {"memory window", "prefetchable window"};
    for (unsigned region = 0; region < PCI_REGIONS; ++region) {
        if (!f->below->windows[region].size) continue;
        print_range(indent + 8, names[region], &f->below->windows[region]);
        console_puts("\n");
    }
}

void pci_print(const struct pci_host* host) {
    static const char* const names[] = {"32-bit", "64-bit"};
    console_printf("pcie       ECAM 0x%lx, buses %02x-%02x\n", (unsigned long)host->ecam, host->first_bus,
                   host->last_bus);
    for (unsigned region = 0; region < PCI_REGIONS; ++region) {
        if (!host->windows[region].size) continue;
        console_printf("window     %s 0x%lx, ", names[region], (unsigned long)host->windows[region].bus);
        print_size(host->windows[region].size);
        console_puts("\n");
    }
    for (const struct pci_function* f = host->functions; f; f = f->next) {
        unsigned depth = 0;
        for (const struct pci_bus* bus = f->bus; bus->bridge; bus = bus->bridge->bus) ++depth;
        print_function(f, depth);
    }
    console_printf("functions  %u on buses %02x-%02x", host->count, host->root.number, host->root.last);
    if (host->max_payload)
        console_printf(", payload %u bytes, read request %u bytes", host->max_payload, host->max_read_request);
    console_puts("\n");
    if (host->unassigned) console_printf("no room for %u BARs\n", host->unassigned);
}
