// SPDX-License-Identifier: Apache-2.0
// Operation codes of the base transport header, and which headers follow it (InfiniBand Architecture Specification,
// volume 1, section 9.2.1 and table 38). Reliable datagrams are left out.
#pragma once

#include <cstdint>

namespace fabricvp::network {

/// The upper three bits of an operation code.
enum class transport : std::uint8_t { rc = 0, uc = 1, ud = 3 };

/// The lower five.
enum class operation : std::uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    send_last_immediate = 0x03,
    send_only = 0x04,
    send_only_immediate = 0x05,
    write_first = 0x06,
    write_middle = 0x07,
    write_last = 0x08,
    write_last_immediate = 0x09,
    write_only = 0x0a,
    write_only_immediate = 0x0b,
    read_request = 0x0c,
    read_response_first = 0x0d,
    read_response_middle = 0x0e,
    read_response_last = 0x0f,
    read_response_only = 0x10,
    acknowledge = 0x11,
    atomic_acknowledge = 0x12,
    compare_swap = 0x13,
    fetch_add = 0x14,
    send_last_invalidate = 0x16,
    send_only_invalidate = 0x17
};

constexpr std::uint8_t opcode_of(transport t, operation o) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(t) << 5 | static_cast<unsigned>(o));
}
constexpr transport transport_of(std::uint8_t opcode) { return static_cast<transport>(opcode >> 5); }
constexpr operation operation_of(std::uint8_t opcode) { return static_cast<operation>(opcode & 0x1f); }

/// What follows the base transport header, as bits.
enum extension : unsigned {
    has_reth = 1,        ///< 16 bytes: virtual address, R_Key, DMA length
    has_aeth = 2,        ///< 4 bytes: syndrome, message sequence number
    has_atomic = 4,      ///< 28 bytes: virtual address, R_Key, swap or add data, compare data
    has_atomic_ack = 8,  ///< 8 bytes: original remote data
    has_deth = 16,       ///< 8 bytes: Q_Key, source QP
    has_immediate = 32,  ///< 4 bytes
    has_ieth = 64,       ///< 4 bytes: R_Key to invalidate
    has_payload = 128,   ///< payload may follow
    known_opcode = 256
};

/// The extensions of an operation code; 0 for codes that are reserved.
constexpr unsigned extensions_of(std::uint8_t opcode) {
    const auto t = static_cast<unsigned>(opcode >> 5);
    if (t == 3) {
        switch (operation_of(opcode)) {
            case operation::send_only: return known_opcode | has_deth | has_payload;
            case operation::send_only_immediate: return known_opcode | has_deth | has_immediate | has_payload;
            default: return 0;
        }
    }
    if (t > 1) return 0;
    switch (operation_of(opcode)) {
        case operation::send_first:
        case operation::send_middle:
        case operation::send_last:
        case operation::send_only:
        case operation::write_middle:
        case operation::write_last: return known_opcode | has_payload;
        case operation::send_last_immediate:
        case operation::send_only_immediate:
        case operation::write_last_immediate: return known_opcode | has_immediate | has_payload;
        case operation::write_first:
        case operation::write_only: return known_opcode | has_reth | has_payload;
        case operation::write_only_immediate: return known_opcode | has_reth | has_immediate | has_payload;
        default: break;
    }
    if (t != 0) return 0;
    switch (operation_of(opcode)) {
        case operation::read_request: return known_opcode | has_reth;
        case operation::read_response_first:
        case operation::read_response_last:
        case operation::read_response_only: return known_opcode | has_aeth | has_payload;
        case operation::read_response_middle: return known_opcode | has_payload;
        case operation::acknowledge: return known_opcode | has_aeth;
        case operation::atomic_acknowledge: return known_opcode | has_aeth | has_atomic_ack;
        case operation::compare_swap:
        case operation::fetch_add: return known_opcode | has_atomic;
        case operation::send_last_invalidate:
        case operation::send_only_invalidate: return known_opcode | has_ieth | has_payload;
        default: return 0;
    }
}

/// Bytes of all extensions together.
constexpr unsigned extension_bytes(unsigned extensions) {
    return (extensions & has_reth ? 16 : 0) + (extensions & has_aeth ? 4 : 0) + (extensions & has_atomic ? 28 : 0) +
           (extensions & has_atomic_ack ? 8 : 0) + (extensions & has_deth ? 8 : 0) +
           (extensions & has_immediate ? 4 : 0) + (extensions & has_ieth ? 4 : 0);
}

}  // namespace fabricvp::network
