/* SPDX-License-Identifier: Apache-2.0 */
#include "host/heap.h"
#include "host/machine.h"
#include "host/pci.h"
#include "host/traps.h"

enum { EXTERNAL = 11 };

const char* const pci_delivery_names[] = {"polling", "INTx", "MSI-X"};

/* Pins share lines: everyone on a line is asked. */
struct connection {
    unsigned source;
    pci_interrupt_handler handler;
    void* context;
    struct connection* next;
};
static struct connection* connections;

static void on_line(unsigned source) {
    for (const struct connection* c = connections; c; c = c->next)
        if (c->source == source) c->handler(c->context, PCI_ANY_VECTOR);
}

static bool connect_pin(struct pci_function* f, pci_interrupt_handler handler, void* context) {
    const unsigned source = pci_intx_source(f);
    if (!source || !external_available(source)) return false;
    struct connection* c = heap_allocate(sizeof *c);
    if (!c) return false;
    *c = (struct connection){source, handler, context, connections};
    connections = c;
    external_handle(source, on_line);
    pci_write16(f, PCI_COMMAND, pci_read16(f, PCI_COMMAND) & (uint16_t)~PCI_COMMAND_INTX_DISABLE);
    return true;
}

void pci_disconnect(struct pci_function* f, const void* context) {
    pci_write16(f, PCI_COMMAND, pci_read16(f, PCI_COMMAND) | PCI_COMMAND_INTX_DISABLE);
    for (struct connection** at = &connections; *at;) {
        struct connection* c = *at;
        if (c->context != context) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        bool shared = false;
        for (const struct connection* o = connections; o; o = o->next) shared = shared || o->source == c->source;
        if (!shared) external_handle(c->source, NULL);
        heap_free(c);
    }
}

enum pci_delivery pci_connect(struct pci_function* f, unsigned vectors, enum pci_delivery best, pci_interrupt_handler handler, void* context) {
    (void)vectors;
    if (best >= PCI_INTX && connect_pin(f, handler, context)) {
        interrupt_enable(EXTERNAL, true);
        return PCI_INTX;
    }
    return PCI_POLLED;
}
