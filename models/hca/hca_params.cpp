// SPDX-License-Identifier: Apache-2.0
#include "hca/hca_params.h"

namespace fabricvp::hca {

void hca_params::describe(parameter_visitor& v) {
    endpoint_params::describe(v);
    v.group("commands", command, "the command interface");
    v.group("translation", translation, "protection and translation of addresses");
    v.group("limits", limits, "what software may have of everything");
    v.group("send_queues", send_queues, "doorbells and the fetching of send WQEs");
    v.group("receive_queues", receive_queues, "the taking of receive WQEs");
    v.group("requester", requester, "the sending half of queue pairs");
    v.group("responder", responder, "the receiving half of queue pairs");
    v.group("network", network, "the port to the network");
    v.field("guid", guid, "GUID of the node, whose next number is the port's; 0: it follows from the block's name");
    v.field("firmware_pages", firmware_pages, between{0, 4096},
            "pages of 4 KiB that the HCA's own firmware asks software for");
}

}  // namespace fabricvp::hca
