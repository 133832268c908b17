// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/parameters.h"
#include "hca/commands/command_interface.h"
#include "hca/commands/limit_params.h"
#include "hca/memory/translation.h"
#include "hca/queues/send_queues.h"
#include "hca/transport/network_port.h"
#include "hca/transport/requester.h"
#include "hca/transport/responder.h"
#include "pcie/endpoint.h"

namespace fabricvp::hca {

struct hca_params : pcie::endpoint_params {
    command_params command;
    translation_params translation;
    limit_params limits;
    send_queue_params send_queues;
    receive_queue_params receive_queues;
    requester_params requester;
    responder_params responder;
    network_port_params network;
    std::uint64_t guid = 0;  ///< of the node; 0: from its name
    std::uint64_t firmware_pages = 256;

    void describe(parameter_visitor& v);
    std::uint64_t memory_bar() const { return std::uint64_t{4096} << limits.log_uars; }
};

}  // namespace fabricvp::hca
