// SPDX-License-Identifier: Apache-2.0
// Transaction layer packets. A TLP is a pooled, reference-counted struct: header fields, and a stretch of a buffer that
// is never copied on the way. It travels over TLM-2.0 sockets with the protocol traits below.
#pragma once

#include <cstdint>

#include <tlm>

#include "base/buffer.h"
#include "base/pool.h"
#include "base/spans.h"
#include "base/time.h"
#include "link/phase.h"

namespace fabricvp::pcie {

enum class tlp_kind : std::uint8_t {
    memory_read,
    memory_write,
    configuration_read,
    configuration_write,
    fetch_add,
    swap,
    compare_swap,
    message,
    completion,
    completion_with_data
};

inline bool is_configuration(tlp_kind kind) {
    return kind == tlp_kind::configuration_read || kind == tlp_kind::configuration_write;
}

/// Bytes from `address` on that fit a payload of `limit` bytes, which begins on a double word.
inline std::uint64_t payload_room(std::uint64_t address, std::uint64_t limit) { return limit - (address & 3); }

/// The three flow-control classes, each with header and data credits.
enum class flow_class : std::uint8_t { posted, non_posted, completion };
inline constexpr unsigned flow_classes = 3;

enum class completion_status : std::uint8_t {
    successful = 0,
    unsupported_request = 1,
    configuration_retry = 2,
    completer_abort = 4
};

/// Message codes that this platform sends.
enum class message_code : std::uint8_t {
    assert_inta = 0x20,
    assert_intb,
    assert_intc,
    assert_intd,
    deassert_inta = 0x24,
    deassert_intb,
    deassert_intc,
    deassert_intd,
    error_correctable = 0x30,
    error_nonfatal = 0x31,
    error_fatal = 0x33
};

struct tlp;
using tlp_ptr = pooled_ptr<tlp>;

/// What a posted write is the last part of, if it is more than an access of its own: its spans go on from those of
/// that.
struct parent_access {
    const sc_core::sc_object* who = nullptr;  ///< null: an access of its own
    const char* what = "";
    std::uint64_t number = 0;
};

struct tlp_fields {
    tlp_kind kind = tlp_kind::memory_read;
    completion_status status = completion_status::successful;
    message_code code = message_code::assert_inta;
    bool poisoned = false;
    bool relaxed_ordering = false;
    bool type_1 = false;  ///< configuration request not yet on its target bus
    std::uint8_t first_be = 0xf, last_be = 0xf;
    std::uint16_t requester = 0;  ///< bus << 8 | device << 3 | function
    std::uint16_t completer = 0;
    std::uint16_t tag = 0;
    std::uint16_t byte_count = 0;  ///< completions: bytes still to come, this TLP's included (0 means 4096)
    std::uint8_t lower_address = 0;
    std::uint64_t address = 0;  ///< memory: of the first byte; configuration: bus/device/function << 16 | register
    std::uint32_t bytes = 0;    ///< carried, or asked for
    buffer_slice data;          ///< what it carries; null if it carries nothing
    parent_access parent_write;

    ticks tail = 0;                ///< on the link it is on: when its last byte arrives
    ticks injected_at = 0;         ///< when its access began
    std::uint32_t order = 0;       ///< in the buffer it is in: how many came before it
    std::uint32_t link_epoch = 0;  ///< of the link it came over last: how often that had been down
};

struct tlp : pooled<tlp>, tlp_fields {
    span_trail spans;  ///< of its access: a completion goes on with its request's

    void pass(const span_stage& stage, span_kind kind, ticks until) { spans.pass(stage, kind, until); }
    /// A new access begins.
    void begin_access(ticks now) {
        injected_at = now;
        spans.resume(now);
    }
    /// Takes over the spans of the TLP that it comes of.
    void inherit_access(const tlp& parent) {
        injected_at = parent.injected_at;
        spans.follow(parent.spans);
    }
    flow_class flow() const {
        switch (kind) {
            case tlp_kind::memory_write:
            case tlp_kind::message: return flow_class::posted;
            case tlp_kind::completion:
            case tlp_kind::completion_with_data: return flow_class::completion;
            default: return flow_class::non_posted;
        }
    }
    bool is_completion() const { return kind >= tlp_kind::completion; }
    bool carries_data() const {
        return kind == tlp_kind::memory_write || kind == tlp_kind::configuration_write ||
               kind == tlp_kind::completion_with_data ||
               (kind >= tlp_kind::fetch_add && kind <= tlp_kind::compare_swap);
    }
    std::uint32_t header_bytes() const {
        const bool has_address = kind == tlp_kind::memory_read || kind == tlp_kind::memory_write ||
                                 (kind >= tlp_kind::fetch_add && kind <= tlp_kind::compare_swap);
        return kind == tlp_kind::message || (has_address && address >> 32) ? 16 : 12;
    }
    /// Payload as it goes over the wire: whole double words, those that hold enabled bytes.
    std::uint32_t payload_bytes() const {
        const auto first = is_completion() ? lower_address : static_cast<std::uint32_t>(address);
        return carries_data() ? (bytes + (first & 3) + 3) & ~3u : 0;
    }
    /// Bytes of the memory that it is about; a CAS carries two operands.
    std::uint32_t target_bytes() const { return kind == tlp_kind::compare_swap ? bytes / 2 : bytes; }
    /// Data credits it takes, 16 bytes each.
    std::uint32_t data_credits() const { return (payload_bytes() + 15) / 16; }

    /// Back to the pool with default values.
    void recycle();
};

/// A TLP from the pool, with default values.
tlp_ptr make_tlp();

/// A posted write has come to its end, as `at` sees it; so have its spans, unless they were taken over.
void end_write(tlp& t, ticks when, const sc_core::sc_object& at);

using link_phase = link::phase;

struct link_protocol {
    using tlm_payload_type = tlp;
    using tlm_phase_type = link_phase;
};

}  // namespace fabricvp::pcie
