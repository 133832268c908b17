/* SPDX-License-Identifier: Apache-2.0 */
/* Advanced error reporting (PCI Express Base Specification 6.0, 6.2 and 7.8.4). Functions send messages about errors
 * to their root port, which logs the first and who sent it. Root ports raise no interrupt: their log is read where a
 * result is to be accepted. */
#include "drivers/pci/pci.h"
#include "lib/console.h"

enum { SOURCE_UNCORRECTABLE = PCI_AER_ERROR_SOURCE + 2, REPORTED = PCI_AER_ROOT_NONFATAL | PCI_AER_ROOT_FATAL };

static bool is_root_port(const struct pci_function* f) { return f->aer && f->port_type == PCI_PORT_ROOT; }

static const char* error_name(uint32_t status) {
    static const struct {
        unsigned bit;
        const char* name;
    } errors[] = {{4, "data link protocol error"}, {5, "surprise down"},        {12, "poisoned TLP"},
                  {14, "completion timeout"},      {15, "completer abort"},     {16, "unexpected completion"},
                  {18, "malformed TLP"},           {20, "unsupported request"}, {21, "ACS violation"}};
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; ++i)
        if (status >> errors[i].bit & 1) return errors[i].name;
    return "unknown";
}

static void clear_log(const struct pci_function* f) {
    if (!f->aer) return;
    pci_write32(f, f->aer + PCI_AER_UNCORRECTABLE_STATUS, ~0u);
    if (f->port_type == PCI_PORT_ROOT) pci_write32(f, f->aer + PCI_AER_ROOT_STATUS, PCI_AER_ROOT_ALL);
}

void pci_report_errors(const struct pci_host* host) {
    for (const struct pci_function* f = host->functions; f; f = f->next) {
        clear_log(f);
        if (pci_is_bridge(f)) /* messages from below pass, and its own leave */
            pci_write16(f, PCI_BRIDGE_CONTROL, pci_read16(f, PCI_BRIDGE_CONTROL) | PCI_BRIDGE_SERR);
        if (!f->express) continue;
        const unsigned at = f->express + PCI_EXPRESS_DEVICE_CONTROL;
        pci_write16(f, at,
                    pci_read16(f, at) | PCI_EXPRESS_REPORT_NONFATAL | PCI_EXPRESS_REPORT_FATAL |
                        PCI_EXPRESS_REPORT_UNSUPPORTED);
    }
}

static const struct pci_function* find_source(const struct pci_host* host, unsigned id) {
    for (const struct pci_function* f = host->functions; f; f = f->next)
        if ((f->bus->number << 8 | (unsigned)f->device << 3 | f->function) == id) return f;
    return NULL;
}

/* A source whose link is down reads as ones. */
static void print_error(const struct pci_host* host, const struct pci_function* root, uint32_t status) {
    const unsigned id = pci_read16(root, root->aer + SOURCE_UNCORRECTABLE);
    const struct pci_function* f = find_source(host, id);
    const uint32_t errors = f && f->aer ? pci_read32(f, f->aer + PCI_AER_UNCORRECTABLE_STATUS) : 0;
    console_printf("pcie: %02x:%02x.%x reports a %s error: %s\n", id >> 8, id >> 3 & 0x1f, id & 7,
                   status & PCI_AER_ROOT_FIRST_FATAL ? "fatal" : "non-fatal",
                   errors == ~0u ? "it does not answer" : error_name(errors));
    if (f && errors != ~0u) clear_log(f);
}

bool pci_no_errors(const struct pci_host* host) {
    bool none = true;
    for (const struct pci_function* f = host->functions; f; f = f->next) {
        if (!is_root_port(f)) continue;
        const uint32_t status = pci_read32(f, f->aer + PCI_AER_ROOT_STATUS);
        if (!(status & REPORTED)) continue;
        print_error(host, f, status);
        clear_log(f);
        none = false;
    }
    return none;
}
