// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/settings.h"

#include <fmt/format.h>

#include "fabric/netcrafter/controller.h"
#include "fabric/netcrafter/ingress.h"

namespace fabricvp::fabric::netcrafter {

std::string settings::problem(const packet_format&) const {
    if (parts.pooling != pooling_mode::none && !parts.stitching)
        return "pooling waits for packets to stitch: it needs stitching";
    return {};
}

std::string settings::format_problem(const packet_format& f) const {
    if (f.header.bytes != header_bytes)
        return fmt::format("header is {} B: it must be {} B", f.header.bytes, header_bytes);
    if (f.address.bytes != address_bytes)
        return fmt::format("address is {} B: it must be {} B", f.address.bytes, address_bytes);
    if (f.payload() % 4) return fmt::format("flit less packet.crc is {} B: it must be a multiple of 4 B", f.payload());
    return {};
}

std::unique_ptr<egress_stage> settings::make_egress(const char* name, const stage_place& at) const {
    return std::make_unique<controller>(name, parts, at.format, at.cycle);
}

std::unique_ptr<ingress_stage> settings::make_ingress(const char* name, const stage_place& at) const {
    return std::make_unique<ingress>(name, at.format, parts.latency * at.cycle);
}

stage_settings::hold settings::longest_hold(ticks cycle) const {
    if (parts.pooling == pooling_mode::none) return {};
    return {parts.window * cycle, fmt::format("window of {} cycles", parts.window.count)};
}

parameters& use(chosen_stage& stage) {
    if (stage.kind() != "netcrafter") stage.choose("netcrafter");
    return static_cast<settings&>(stage.settings()).parts;
}

}  // namespace fabricvp::fabric::netcrafter
