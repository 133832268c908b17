// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/parameters.h"
#include "hca/command_interface.h"
#include "hca/network_port.h"
#include "hca/requester.h"
#include "hca/responder.h"
#include "hca/send_queues.h"
#include "hca/translation.h"
#include "pcie/endpoint.h"

namespace fabricvp::hca {

/// What QUERY_DEV_LIM tells software. Numbers log_… are powers of two.
struct limit_params {
    std::uint64_t log_qps = 16, log_cqs = 16, log_srqs = 10, log_mpts = 17, log_mtt_segments = 20, log_uars = 11,
                  log_gids = 3, log_pkeys = 5;
    std::uint64_t log_queue_entries = 14, log_cq_entries = 17;
    void describe(parameter_visitor& v);
};

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
