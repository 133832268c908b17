// SPDX-License-Identifier: Apache-2.0
// Memory-mapped edges: hart to bus, bus to register file or memory. They speak the TLM-2.0 base protocol with
// nb_transport: a target either completes at once (TLM_COMPLETED, the delay argument holds its latency) or accepts
// (TLM_ACCEPTED) and answers later with BEGIN_RESP on the backward path, which the initiator completes with
// TLM_COMPLETED. No model blocks, so none needs a thread. b_transport works on targets that complete at once.
#pragma once

#include <tlm>

#include "base/model.h"

namespace fabricvp {

using bus_payload = tlm::tlm_generic_payload;
inline constexpr unsigned bus_width = 64;
using bus_initiator_socket = tlm::tlm_initiator_socket<bus_width>;
using bus_target_socket = tlm::tlm_target_socket<bus_width>;

/// Payload from a pool, with a memory manager: acquire() it, release() it, never delete it.
bus_payload* allocate_payload();

/// An atomic read-modify-write. Mandatory (ignorable phase none): the payload's command is TLM_IGNORE_COMMAND, its data
/// pointer holds the operand on the way in and the old value on the way out (compare operand behind it for
/// compare_swap).
struct atomic_extension : tlm::tlm_extension<atomic_extension> {
    enum class operation {
        swap,
        add,
        bit_xor,
        bit_or,
        bit_and,
        min,
        max,
        min_unsigned,
        max_unsigned,
        compare_swap,
        load_reserved,
        store_conditional,
        add_float  ///< of 4 or 8 bytes: IEEE 754 binary32 or binary64, to nearest
    };
    operation op = operation::swap;
    /// Set by a target that performed it; without it the initiator reports a fault.
    bool performed = false;
    /// Outcome of store_conditional.
    bool succeeded = false;

    tlm::tlm_extension_base* clone() const override { return new atomic_extension(*this); }
    void copy_from(const tlm::tlm_extension_base& from) override { *this = static_cast<const atomic_extension&>(from); }
};

/// Performs an atomic on bytes in memory; `size` is 1, 2, 4 or 8. \returns the old value, zero-extended.
std::uint64_t perform_atomic(atomic_extension::operation op, std::uint8_t* bytes, unsigned size, std::uint64_t operand,
                             std::uint64_t compare = 0);

/// Who sent a payload (requester in logs and faults).
struct initiator_extension : tlm::tlm_extension<initiator_extension> {
    const sc_core::sc_object* initiator = nullptr;
    tlm::tlm_extension_base* clone() const override { return new initiator_extension(*this); }
    void copy_from(const tlm::tlm_extension_base& from) override {
        *this = static_cast<const initiator_extension&>(from);
    }
};

/// A memory-mapped block. Derived classes implement access() and, where the response takes time that is not known at
/// once, return `pending` and call complete() later.
class bus_target : public model, protected tlm::tlm_fw_transport_if<> {
public:
    bus_target_socket bus{"bus"};

    explicit bus_target(const sc_core::sc_module_name& name);

protected:
    enum class outcome { done, pending };

    /// Handles a payload that is due now(): sets data and response status, adds to `latency` what it takes.
    virtual outcome access(bus_payload& payload, ticks& latency) = 0;
    /// Access by a debugger or loader: no time, no side effect. \returns bytes transferred.
    virtual unsigned debug_access(bus_payload& payload) = 0;
    /// Answers a payload that access() left pending.
    void complete(bus_payload& payload);
    /// Ends a payload that access() left pending without performing it (for reset()): its initiator hears
    /// TLM_INCOMPLETE_RESPONSE, and knows that its data is no longer written.
    void abandon(bus_payload& payload);

private:
    tlm::tlm_sync_enum nb_transport_fw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) final;
    void b_transport(bus_payload& payload, sc_core::sc_time& delay) final;
    bool get_direct_mem_ptr(bus_payload& payload, tlm::tlm_dmi& dmi) override;
    unsigned transport_dbg(bus_payload& payload) final;
};

}  // namespace fabricvp
