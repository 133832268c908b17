// SPDX-License-Identifier: Apache-2.0
#include "pcie/error_reporter.h"

#include <array>

namespace fabricvp::pcie {

namespace {

constexpr std::uint64_t command_serr = 0x0100, status_signaled_system_error = 0x4000,
                        status_signaled_target_abort = 0x0800, status_parity = 0x8000;
constexpr std::uint64_t enable_correctable = 1, enable_nonfatal = 2, enable_fatal = 4, enable_unsupported = 8;

/// The header of a TLP as it goes over the wire, first byte highest.
std::array<std::uint32_t, 4> header_of(const tlp& t) {
    struct type {
        std::uint32_t format, code;
    };
    const bool data = t.carries_data(), wide = t.header_bytes() == 16;
    const auto typed = [&]() -> type {
        switch (t.kind) {
            case tlp_kind::memory_read:
            case tlp_kind::memory_write: return {(data ? 2u : 0u) | (wide ? 1u : 0u), 0x00};
            case tlp_kind::configuration_read:
            case tlp_kind::configuration_write: return {data ? 2u : 0u, t.type_1 ? 0x05u : 0x04u};
            case tlp_kind::fetch_add: return {2u | (wide ? 1u : 0u), 0x0c};
            case tlp_kind::swap: return {2u | (wide ? 1u : 0u), 0x0d};
            case tlp_kind::compare_swap: return {2u | (wide ? 1u : 0u), 0x0e};
            case tlp_kind::message: return {1, t.code >= message_code::error_correctable ? 0x10u : 0x14u};
            default: return {data ? 2u : 0u, 0x0a};
        }
    }();
    const std::uint32_t words = (t.bytes + (static_cast<std::uint32_t>(t.address) & 3) + 3) / 4;
    std::array<std::uint32_t, 4> h{};
    h[0] = typed.format << 29 | typed.code << 24 | (t.tag >> 9 & 1u) << 23 | (t.tag >> 8 & 1u) << 19 |
           (t.poisoned ? 1u << 14 : 0) | (t.relaxed_ordering ? 1u << 13 : 0) |
           (t.kind == tlp_kind::message ? 0 : words & 0x3ff);
    const std::uint32_t tag = static_cast<std::uint32_t>(t.tag & 0xff) << 8;
    if (t.is_completion()) {
        h[1] = static_cast<std::uint32_t>(t.completer) << 16 | static_cast<std::uint32_t>(t.status) << 13 |
               (t.byte_count & 0xfffu);
        h[2] = static_cast<std::uint32_t>(t.requester) << 16 | tag | t.lower_address;
        return h;
    }
    h[1] = static_cast<std::uint32_t>(t.requester) << 16 | tag;
    if (t.kind == tlp_kind::message) {
        h[1] |= static_cast<std::uint32_t>(t.code);
        return h;
    }
    h[1] |= static_cast<std::uint32_t>(t.last_be) << 4 | t.first_be;
    if (wide) {
        h[2] = static_cast<std::uint32_t>(t.address >> 32);
        h[3] = static_cast<std::uint32_t>(t.address) & ~3u;
    } else {
        h[2] = static_cast<std::uint32_t>(t.address) & ~3u;
    }
    return h;
}

}  // namespace

void error_reporter::send(message_code code) {
    if (code != message_code::error_correctable && m_space.get(0x04, 2) & command_serr)
        m_space.set_bits(0x06, 2, status_signaled_system_error);
    if (on_message) on_message(code);
}

void error_reporter::correctable(std::uint32_t bits) {
    const auto express_at = m_space.find_capability(express_id);
    const auto at = m_space.find_extended_capability(aer_id);
    if (express_at) m_space.set_bits(express_at + express::device_status, 2, 1);
    if (at) {
        m_space.set_bits(at + aer::correctable_status, 4, bits);
        if (!(bits & ~m_space.get(at + aer::correctable_mask, 4))) return;
    }
    if (express_at && m_space.get(express_at + express::device_control, 2) & enable_correctable)
        send(message_code::error_correctable);
}

void error_reporter::uncorrectable(std::uint32_t bit, const tlp* t, weight w) {
    const auto express_at = m_space.find_capability(express_id);
    const auto at = m_space.find_extended_capability(aer_id);
    const bool fatal = at && m_space.get(at + aer::uncorrectable_severity, 4) & bit;
    const bool advisory = w == weight::advisory && !fatal;
    const bool request_refused = bit == aer::unsupported_request;
    if (bit == aer::poisoned) m_space.set_bits(0x06, 2, status_parity);
    if (bit == aer::completer_abort) m_space.set_bits(0x06, 2, status_signaled_target_abort);
    if (express_at)
        m_space.set_bits(express_at + express::device_status, 2,
                         (advisory ? 1u
                          : fatal  ? 4u
                                   : 2u) |
                             (request_refused ? 8u : 0u));
    bool masked = false;
    if (at) {
        masked = m_space.get(at + aer::uncorrectable_mask, 4) & bit;
        if (advisory) m_space.set_bits(at + aer::correctable_status, 4, aer::advisory);
        // The first error is the one whose header is kept, until software has cleared it.
        const auto first = m_space.get(at + aer::capabilities, 4) & 0x1f;
        const bool first_stands = m_space.get(at + aer::uncorrectable_status, 4) >> first & 1;
        m_space.set_bits(at + aer::uncorrectable_status, 4, bit);
        if (!masked && !first_stands) {
            const auto number = static_cast<std::uint64_t>(__builtin_ctz(bit));
            m_space.set(at + aer::capabilities, 4,
                        (m_space.get(at + aer::capabilities, 4) & ~std::uint64_t{0x1f}) | number);
            const auto header = t ? header_of(*t) : std::array<std::uint32_t, 4>{};
            for (std::size_t i = 0; i < header.size(); ++i) m_space.set(at + aer::header_log + 4 * i, 4, header[i]);
        }
    }
    const auto control = express_at ? m_space.get(express_at + express::device_control, 2) : 0;
    const bool system_errors = m_space.get(0x04, 2) & command_serr;
    if (advisory) {
        const bool hidden = at && m_space.get(at + aer::correctable_mask, 4) & aer::advisory;
        if (!hidden && control & enable_correctable && (!request_refused || control & enable_unsupported))
            send(message_code::error_correctable);
        return;
    }
    if (masked || (request_refused && !(control & enable_unsupported) && !system_errors)) return;
    if (control & (fatal ? enable_fatal : enable_nonfatal) || system_errors)
        send(fatal ? message_code::error_fatal : message_code::error_nonfatal);
}

}  // namespace fabricvp::pcie
