/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pci/pci.h"
#include "lib/harts.h"
#include "lib/heap.h"
#include "lib/imsic.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/traps.h"

enum { EXTERNAL = 11 };

const char* const pci_delivery_names[] = {"polling", "INTx", "MSI-X"};

/* A pin on its line, or an identity that messages carry. */
struct connection {
    struct pci_function* function;
    unsigned source, identity; /* the other is 0 */
    int vector;
    pci_interrupt_handler handler;
    void* context;
    struct connection* next;
};
static struct connection* connections;

static struct connection* add(struct pci_function* f, pci_interrupt_handler handler, void* context) {
    struct connection* c = heap_allocate(sizeof *c);
    if (!c) panic("pci: out of memory");
    *c = (struct connection){
        .function = f, .vector = PCI_ANY_VECTOR, .handler = handler, .context = context, .next = connections};
    connections = c;
    return c;
}

/* ---- pins ---- */

/* Pins share lines: every function on a line is asked. */
static void on_line(unsigned source) {
    for (const struct connection* c = connections; c; c = c->next)
        if (c->source == source) c->handler(c->context, PCI_ANY_VECTOR);
}

static bool connect_pin(struct pci_function* f, pci_interrupt_handler handler, void* context) {
    const unsigned source = pci_intx_source(f);
    if (!source || !external_available(source)) return false;
    add(f, handler, context)->source = source;
    external_handle(source, on_line);
    pci_write16(f, PCI_COMMAND, pci_read16(f, PCI_COMMAND) & (uint16_t)~PCI_COMMAND_INTX_DISABLE);
    return true;
}

static void release_line(unsigned source) {
    for (const struct connection* c = connections; c; c = c->next)
        if (c->source == source) return;
    external_handle(source, NULL);
}

/* ---- messages ---- */

static void on_message(unsigned identity, void* context) {
    const struct connection* c = context;
    (void)identity;
    c->handler(c->context, c->vector);
}

static uintptr_t table_entry(const struct pci_function* f, unsigned vector) {
    const uint32_t table = pci_read32(f, f->msix + PCI_MSIX_TABLE);
    const uintptr_t bar = pci_bar(f, table & PCI_MSIX_BAR);
    return bar ? bar + (table & ~(uint32_t)PCI_MSIX_BAR) + vector * PCI_MSIX_ENTRY_SIZE : 0;
}

static void write_entry(uintptr_t entry, unsigned identity) {
    const uintptr_t address = imsic_message_address(hart_id());
    mmio_write32(entry + PCI_MSIX_ENTRY_CONTROL, PCI_MSIX_ENTRY_MASKED);
    mmio_write32(entry + PCI_MSIX_ENTRY_ADDRESS, (uint32_t)address);
    mmio_write32(entry + PCI_MSIX_ENTRY_ADDRESS_UPPER, (uint32_t)(address >> 32));
    mmio_write32(entry + PCI_MSIX_ENTRY_DATA, identity);
    mmio_write32(entry + PCI_MSIX_ENTRY_CONTROL, 0);
}

static unsigned free_identities(void) {
    unsigned taken = 0;
    for (const struct connection* c = connections; c; c = c->next) taken += c->identity != 0;
    return imsic_identities() - (taken < imsic_identities() ? taken : imsic_identities());
}

/* An identity for each vector, or one for all where they are scarce. */
static bool connect_messages(struct pci_function* f, unsigned vectors, pci_interrupt_handler handler, void* context) {
    if (!f->msix || !imsic_available() || !table_entry(f, 0)) return false;
    const uint16_t control = pci_read16(f, f->msix + PCI_MSIX_CONTROL);
    if (vectors == 0 || vectors > (control & PCI_MSIX_SIZE) + 1u) return false;
    const bool apart = vectors <= free_identities() / 2;
    pci_write16(f, f->msix + PCI_MSIX_CONTROL, PCI_MSIX_ENABLE | PCI_MSIX_MASK_ALL);
    struct connection* c = NULL;
    for (unsigned v = 0; v < vectors; ++v) {
        if (apart || !c) {
            c = add(f, handler, context);
            c->identity = imsic_allocate(on_message, c);
            if (!c->identity) {
                pci_disconnect(f, context);
                return false;
            }
            if (apart) c->vector = (int)v;
            imsic_enable(c->identity, true);
        }
        write_entry(table_entry(f, v), c->identity);
    }
    pci_write16(f, f->msix + PCI_MSIX_CONTROL, PCI_MSIX_ENABLE);
    return true;
}

/* ---- either ---- */

enum pci_delivery pci_connect(struct pci_function* f, unsigned vectors, enum pci_delivery best,
                              pci_interrupt_handler handler, void* context) {
    enum pci_delivery delivery = PCI_POLLED;
    if (best >= PCI_MSIX && connect_messages(f, vectors, handler, context))
        delivery = PCI_MSIX;
    else if (best >= PCI_INTX && connect_pin(f, handler, context))
        delivery = PCI_INTX;
    if (delivery != PCI_POLLED) interrupt_enable(EXTERNAL, true);
    return delivery;
}

void pci_disconnect(struct pci_function* f, const void* context) {
    pci_write16(f, PCI_COMMAND, pci_read16(f, PCI_COMMAND) | PCI_COMMAND_INTX_DISABLE);
    if (f->msix) pci_write16(f, f->msix + PCI_MSIX_CONTROL, 0);
    for (struct connection** at = &connections; *at;) {
        struct connection* c = *at;
        if (c->function != f || c->context != context) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        if (c->source) release_line(c->source);
        if (c->identity) {
            imsic_enable(c->identity, false);
            imsic_free(c->identity);
        }
        heap_free(c);
    }
}
