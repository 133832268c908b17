/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA between nodes: finds the HCA, brings it up, tells the other nodes where its queue pairs are, and checks or measures what
 * verbs do. On the kernel command line: `nodes=N` (2), all of which run this program. Lines that begin with "# " have measured
 * figures; all others depend on nothing but whether everything is right. */
#include "host/apps/command_line.h"
#include "host/console.h"
#include "host/machine.h"
#include "host/rdma/check.h"

static struct party party;

static uint64_t number(const char* line, const char* key, uint64_t otherwise) {
    const char* at = command_line_find(line, key);
    uint64_t value;
    if (!command_line_number(at ? at + strlen(key) + 1 : NULL, otherwise, &value)) panic("%s is no number", key);
    return value;
}

int main(void) {
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    const uint64_t nodes = number(line, "nodes", 2);
    if (nodes < 2 || nodes > MOST_PARTIES) panic("nodes=%lu: 2 to %u", nodes, MOST_PARTIES);
    party_join(&party, (unsigned)nodes);
    console_printf("node %u of %u, MTU %u\n", party.index, party.count, 1u << party.log_mtu);
    const unsigned with = party.index ^ 1;
    const unsigned wrong = check_connections(&party, with) + check_datagrams(&party, with) + check_queues(&party, with) +
                           check_errors(&party, with);
    console_printf("%s\n", wrong ? "FAILED" : "all ok, powering off");
    return wrong ? 1 : 0;
}
