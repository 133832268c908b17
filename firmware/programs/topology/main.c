/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the topology of the InfiniBand network as ibnetdiscover does: switches, adapters, and what each port leads to.
 * Asks by directed routes, so it needs neither LIDs nor a subnet manager. Adapters come up one by one; it looks again
 * until it has found as many as the machine has nodes, by its device tree, or by `nodes=N` on the kernel command line
 * where the device tree does not say. Other nodes run the same, or anything that brings their adapters up. */
#include "lib/command_line.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/timer.h"
#include "programs/topology/fabric.h"

enum { TIMEOUT_US = 200000, POLL_INTERVAL_US = 20 };

static struct pci_host pci;
static struct verbs_device hca;
static struct verbs_pd pd;
static struct verbs_mads mads;
static struct fabric found;

static uint64_t adapters_expected(void) {
    uint64_t wanted;
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    /* Machines have options of the RDMA program on this line, which do no harm here. */
    const char* at = command_line_find(line, "nodes");
    const uint64_t otherwise = machine.nodes ? machine.nodes : 1;
    if (!command_line_number(at ? at + strlen("nodes=") : NULL, otherwise, &wanted)) usage_error("nodes is no number");
    if (machine.nodes && wanted != machine.nodes)
        usage_error("nodes=%lu: this machine has %u; leave it out", wanted, machine.nodes);
    return wanted;
}

int main(void) {
    const uint64_t wanted = adapters_expected();
    if (!pci_start(&pci)) panic("no PCIe host bridge");
    if (!verbs_open(&hca, &pci, 0) || !verbs_open_pd(&pd, &hca)) panic("no HCA can be used");
    if (!verbs_open_mads(&mads, &pd, false)) panic("queue pair 0 cannot be opened, status 0x%x", hca.status);
    const uint64_t begin = timer_now();
    while (!fabric_sweep(&found, &mads) || found.adapters < wanted) {
        if (timer_microseconds(timer_now() - begin) > TIMEOUT_US) {
            console_printf("%u of %lu adapters found\n", found.adapters, wanted);
            break;
        }
        fabric_free(&found);
        uint8_t unused[HCA_MAD_SIZE];
        verbs_receive_mad(&mads, unused, POLL_INTERVAL_US); /* others look, too */
    }
    verbs_close_mads(&mads); /* from here on the adapter answers others by itself */
    fabric_print(&found);
    return found.adapters < wanted;
}
