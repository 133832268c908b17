/* SPDX-License-Identifier: Apache-2.0 */
/* PCI Express: finds the host bridge in the device tree, numbers the buses, sizes and assigns BARs and bridge windows,
 * and gives drivers what they need of a function. Memory space only: no device here needs I/O space, and expansion ROMs
 * stay off. Called by hart 0. */
#ifndef FABRICVP_DRIVERS_PCI_PCI_H
#define FABRICVP_DRIVERS_PCI_PCI_H

#include "abi/pci.h"
#include "lib/fdt.h"

/* Where memory may lie: "low" below 4 GiB, in a bridge's memory window; "high" in its 64-bit prefetchable window. */
enum pci_region { PCI_LOW, PCI_HIGH, PCI_REGIONS };

struct pci_function;
struct pci_bus;

/* Something that takes address space of a bus: a BAR, or the window of a bridge to another bus. */
struct pci_resource {
    uint64_t address; /* on the bus, once `assigned` */
    uint64_t size, alignment;
    bool wide, prefetchable, assigned;
    struct pci_function* function;
    struct pci_resource* next; /* of the same bus and region, by falling alignment */
};

struct pci_bus {
    struct pci_host* host;
    struct pci_function* bridge;     /* that leads here, NULL for the root bus */
    struct pci_bus *next, *previous; /* of all, in the order of their numbers */
    unsigned number, last;           /* secondary and subordinate bus */
    struct pci_function* first;
    struct pci_resource* resources[PCI_REGIONS];
    struct pci_resource windows[PCI_REGIONS];
};

struct pci_function {
    struct pci_bus* bus;
    struct pci_bus* below;        /* of bridges */
    struct pci_function* sibling; /* next on the same bus */
    struct pci_function* next;    /* next of all, depth first */
    uint8_t device, function, header_type, pin;
    uint16_t vendor, device_id;
    uint32_t class_code;
    struct pci_resource bars[PCI_BARS]; /* size 0: none */
    /* Offsets of capabilities, 0 if absent. */
    uint16_t pm, msix, express, aer, acs;
    uint8_t port_type;
    uintptr_t configuration; /* address of its configuration space */
};

struct pci_window {
    uint64_t bus, cpu, size; /* size 0: none */
};

struct pci_host {
    fdt_node node;
    uintptr_t ecam;
    unsigned first_bus, last_bus;
    struct pci_window windows[PCI_REGIONS];
    struct pci_bus root;
    struct pci_function* functions;         /* all, depth first */
    unsigned count, unassigned;             /* functions; BARs for which there was no room */
    unsigned max_payload, max_read_request; /* bytes, as programmed; 0 without PCI Express */
};

/* ---- bringing it up ---- */

/* The first generic ECAM host bridge of the device tree. \returns false if there is none. */
bool pci_find_host(struct pci_host* host);
/* Everything below in order. \returns false if there is no host bridge. */
bool pci_start(struct pci_host* host);
/* Numbers the buses and fills `functions`. */
void pci_enumerate(struct pci_host* host);
/* Places BARs and windows, programs them, and lets requests and memory accesses through the bridges. */
void pci_assign(struct pci_host* host);
/* The same Max_Payload_Size everywhere, so that any two functions may talk to each other: the least that any supports.
 */
void pci_tune(struct pci_host* host);
void pci_print(const struct pci_host* host);

/* ---- functions ---- */

/* The next one after `after` (NULL: the first), NULL if there is no other. */
struct pci_function* pci_find_id(const struct pci_host* host, const struct pci_function* after, unsigned vendor,
                                 unsigned device);
/* By class code (class << 16 | subclass << 8 | interface), of which the bits of `mask` count. */
struct pci_function* pci_find_class(const struct pci_host* host, const struct pci_function* after, uint32_t class_code,
                                    uint32_t mask);

static inline bool pci_is_bridge(const struct pci_function* f) {
    return (f->header_type & PCI_HEADER_TYPE_MASK) == PCI_HEADER_BRIDGE;
}

uint8_t pci_read8(const struct pci_function* f, unsigned offset);
uint16_t pci_read16(const struct pci_function* f, unsigned offset);
uint32_t pci_read32(const struct pci_function* f, unsigned offset);
void pci_write8(const struct pci_function* f, unsigned offset, uint8_t value);
void pci_write16(const struct pci_function* f, unsigned offset, uint16_t value);
void pci_write32(const struct pci_function* f, unsigned offset, uint32_t value);

/* Offset of a capability, 0 if absent. */
unsigned pci_find_capability(const struct pci_function* f, unsigned id);
unsigned pci_find_extended_capability(const struct pci_function* f, unsigned id);
/* PCI_ID of a place on a bus, waiting while the function there asks to be asked again (configuration retry). */
uint32_t pci_identify(const struct pci_host* host, unsigned bus, unsigned device, unsigned function);

/* Memory space and bus mastering on. \returns false if a BAR found no room: then the function stays off. */
bool pci_enable(struct pci_function* f);
/* CPU address of a BAR, 0 if it has none. */
uintptr_t pci_bar(const struct pci_function* f, unsigned bar);
/* Function-level reset: all state but its identity is cleared; BARs and limits are written again.
 * \returns false if it cannot, or does not come back within a second. */
bool pci_reset_function(struct pci_function* f);

/* ---- errors ---- */

/* From now on functions and bridges report uncorrectable errors to their root port. What was logged before is cleared.
 * Corrected errors and what a slot tells of its card are not reported. */
void pci_report_errors(const struct pci_host* host);
/* Whether root ports have heard of no error since the last call. Prints those of which they have, and clears them. */
bool pci_no_errors(const struct pci_host* host);

/* ---- interrupts ---- */

enum pci_delivery { PCI_POLLED, PCI_INTX, PCI_MSIX };
extern const char* const pci_delivery_names[];
enum { PCI_ANY_VECTOR = -1 };

/* Called with interrupts off. `vector` is PCI_ANY_VECTOR if the function must be asked for its causes. */
typedef void (*pci_interrupt_handler)(void* context, int vector);
/* Vectors 0 … vectors - 1 to this hart, by the best way at most `best`: MSI-X where the machine takes messages, else
 * the pin, else not at all. The function must be enabled. */
enum pci_delivery pci_connect(struct pci_function* f, unsigned vectors, enum pci_delivery best,
                              pci_interrupt_handler handler, void* context);
/* No more interrupts to `context`. */
void pci_disconnect(struct pci_function* f, const void* context);
/* Source at the interrupt controller of the function's pin, 0 if it has none. */
unsigned pci_intx_source(const struct pci_function* f);

#endif
