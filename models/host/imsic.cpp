// SPDX-License-Identifier: Apache-2.0
#include "host/imsic.h"

#include "abi/imsic.h"

namespace fabricvp::host {

void imsic_params::describe(parameter_visitor& v) {
    v.field("identities", identities, between{63, IMSIC_HIGHEST_IDENTITY},
            "interrupt identities of each interrupt file; one less than a multiple of 64");
}

std::uint64_t imsic::size(std::size_t harts) {
    std::uint64_t pages = 1;
    while (pages < harts) pages *= 2;
    return pages * IMSIC_FILE_STRIDE;
}

imsic::imsic(const sc_core::sc_module_name& name, const imsic_params& p, std::size_t harts)
    : register_target(name, size(harts)),
      params(p),
      seteipnum_le(registers, "seteipnum_le", IMSIC_SETEIPNUM_LE, 4, 0,
                   {{"identity", 0, 32, field_access::write_only, "becomes pending"}}, {harts, IMSIC_FILE_STRIDE}),
      seteipnum_be(registers, "seteipnum_be", IMSIC_SETEIPNUM_BE, 4, 0,
                   {{"identity", 0, 32, field_access::reserved, "big-endian; ignored"}}, {harts, IMSIC_FILE_STRIDE}) {
    for (std::size_t h = 0; h < harts; ++h) files.emplace_back(static_cast<unsigned>(p.identities));
    seteipnum_le.on_write([this](std::size_t hart, std::uint64_t identity) {
        seteipnum_le.set(0, hart);
        if (files[hart].set_pending(identity))
            ++messages;
        else
            ++ignored;
    });
}

void imsic::reset() {
    for (auto& f : files) f.reset();
    register_target::reset();
}

// Aligned words only; all else is a bus error (AIA 3.5).
bus_target::outcome imsic::access(bus_payload& payload, ticks& latency) {
    if (payload.get_data_length() != 4 || payload.get_address() % 4) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return outcome::done;
    }
    return register_target::access(payload, latency);
}

}  // namespace fabricvp::host
