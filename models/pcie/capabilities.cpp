// SPDX-License-Identifier: Apache-2.0
#include "pcie/capabilities.h"

#include "pcie/link_speed.h"

namespace fabricvp::pcie {

std::size_t add_power_management(configuration_space& c) {
    const auto at = c.add_capability(power_management_id, 8);
    c.declare(at + 2, 2, 0x0003);                  // version 3 of the PCI-PM specification, no PME
    c.declare(at + 4, 2, 0x0008, 0x0003, 0x8000);  // D0; No_Soft_Reset: D3hot keeps the context
    return at;
}

std::size_t add_msi_x(configuration_space& c, unsigned vectors, unsigned bar, std::uint32_t table_offset,
                      std::uint32_t pending_offset) {
    const auto at = c.add_capability(msi_x_id, 12);
    c.declare(at + 2, 2, vectors - 1, 0xc000);  // enable, function mask
    c.declare(at + 4, 4, table_offset | bar);
    c.declare(at + 8, 4, pending_offset | bar);
    return at;
}

std::size_t add_msi(configuration_space& c) {
    const auto at = c.add_capability(msi_id, 16);
    c.declare(at + 2, 2, 0x0080, 0x0001);
    c.declare(at + 4, 8, 0, ~std::uint64_t{3});
    c.declare(at + 12, 2, 0, 0xffff);
    return at;
}

std::size_t add_express(configuration_space& c, const express_settings& s) {
    using namespace express;
    const auto at = c.add_capability(express_id, 0x3c);
    const bool down = s.type == port_type::switch_downstream || s.type == port_type::root_port;
    const bool root = s.type == port_type::root_port;
    c.declare(at + 2, 2, 2u | static_cast<unsigned>(s.type) << 4 | (down ? 1u << 8 : 0));

    const auto payload = payload_code(s.max_payload);
    c.declare(at + device_capabilities, 4,
              payload | 1u << 5 /* extended tags */ | 1u << 15 /* role-based error reporting */ |
                  (s.function_level_reset ? 1u << 28 : 0));
    // Error reporting enables, relaxed ordering, payload, extended tag, no snoop, read request 512 B. The device clears
    // bit 15, which starts a function-level reset, as soon as it is set.
    c.declare(at + device_control, 2, 0x2810, s.function_level_reset ? 0xffff : 0x7fff);
    c.declare(at + device_status, 2, 0, 0, 0x000f);

    const std::uint32_t link = s.generation | s.width << 4 |
                               (down ? 1u << 20 /* data link active reporting */ | 1u << 19 /* surprise down */ : 0) |
                               s.port_number << 24;
    c.declare(at + link_capabilities, 4, link | 1u << 22 /* ASPM optionality compliance */);
    // Bit 5, which trains the link again, is cleared by the bridge. Bit 3, the read completion boundary, is a root
    // port's own; what software writes to it at an endpoint is a note.
    c.declare(at + link_control, 2, root && s.completion_boundary == 128 ? 1u << 3 : 0, down ? 0x0ff3 : 0x03cb);
    c.declare(at + link_status, 2, speed_code(s.generation) | s.width << 4 | 1u << 12 | (down ? 1u << 13 : 0), 0,
              down ? 0xc000 : 0);
    if (down) {
        c.declare(at + slot_capabilities, 4,
                  (s.hot_plug_surprise ? 0x60u : 0u) | 1u << 18 /* commands complete at once */ | s.slot_number << 19);
        c.declare(at + slot_control, 2, 0x03c0, 0x1fff);
        c.declare(at + slot_status, 2, 0x0040 /* a card is present */, 0, 0x011f);
    }
    if (root) {
        c.declare(at + root_control, 2, 0, 0x001f);
        c.declare(at + root_control + 2, 2, 0x0001);  // CRS software visibility
        c.declare(at + root_status, 4, 0, 0, 0x00010000);
    }
    c.declare(at + device_capabilities_2, 4,
              (s.ari_forwarding ? 1u << 5 : 0) | (s.atomic_routing ? 1u << 6 : 0) | (s.atomic_completer ? 3u << 7 : 0));
    // Time-outs are parameters of the machine: software can neither choose nor disable them.
    c.declare(at + device_control_2, 2, 0, s.ari_forwarding ? 0x00e0 : 0x00c0);
    c.declare(at + link_capabilities_2, 4, ((1u << s.generation) - 1) << 1);
    c.declare(at + link_control_2, 2, s.generation, 0x000f);
    return at;
}

std::size_t add_aer(configuration_space& c, bool root) {
    using namespace aer;
    const auto at = c.add_extended_capability(aer_id, 2, root ? 0x38 : 0x2c);
    constexpr std::uint32_t uncorrectable = 0x03fff030, correctable = 0x0000f1c1;
    c.declare(at + uncorrectable_status, 4, 0, 0, uncorrectable);
    c.declare(at + uncorrectable_mask, 4, 0x00400000, uncorrectable);
    c.declare(at + uncorrectable_severity, 4, 0x00462030, uncorrectable);
    c.declare(at + correctable_status, 4, 0, 0, correctable);
    c.declare(at + correctable_mask, 4, 0x00002000, correctable);
    c.declare(at + capabilities, 4, 0x000000a0, 0x00000140);  // ECRC generation and checking can be enabled
    for (std::size_t i = 0; i < 4; ++i) c.declare(at + header_log + 4 * i, 4, 0);
    c.declare_sticky(at + uncorrectable_status, 0x2c - 4);
    if (root) {
        c.declare_sticky(at + root_status, 8);
        c.declare(at + root_command, 4, 0, 0x00000007);
        c.declare(at + root_status, 4, 0, 0, 0x0000007f);
        c.declare(at + error_source, 4, 0);
    }
    return at;
}

std::size_t add_serial_number(configuration_space& c, std::uint64_t eui64) {
    const auto at = c.add_extended_capability(serial_number_id, 1, 12);
    c.declare(at + 4, 8, eui64);
    return at;
}

std::size_t add_acs(configuration_space& c) {
    const auto at = c.add_extended_capability(acs_id, 1, 8);
    c.declare(at + 4, 2, 0x0004);  // request redirect alone
    c.declare(at + 6, 2, 0, 0x0004);
    return at;
}

std::size_t add_ari(configuration_space& c, unsigned next_function) {
    const auto at = c.add_extended_capability(ari_id, 1, 8);
    c.declare(at + 4, 2, next_function << 8);
    c.declare(at + 6, 2, 0);
    return at;
}

std::size_t add_resizable_bar(configuration_space& c, unsigned bar, std::uint32_t sizes, unsigned current) {
    const auto at = c.add_extended_capability(resizable_bar_id, 1, 12);
    c.declare(at + 4, 4, sizes << 4);                                // supported sizes from 1 MiB
    c.declare(at + 8, 4, bar | 1u << 5 | current << 8, 0x00001f00);  // one resizable BAR; its size
    return at;
}

}  // namespace fabricvp::pcie
