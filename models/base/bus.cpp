// SPDX-License-Identifier: Apache-2.0
#include "base/bus.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/host_environment.h"

namespace fabricvp {

namespace {

class payload_pool final : public tlm::tlm_mm_interface {
public:
    bus_payload* allocate() {
        if (m_free.empty()) return new bus_payload(this);
        bus_payload* p = m_free.back();
        m_free.pop_back();
        return p;
    }
    void free(bus_payload* p) override {
        p->reset();
        // These belong to their senders, who need not clear them.
        p->clear_extension<struct atomic_extension>();
        p->clear_extension<struct initiator_extension>();
        p->set_command(tlm::TLM_IGNORE_COMMAND);
        p->set_data_ptr(nullptr);
        p->set_data_length(0);
        p->set_streaming_width(0);
        p->set_byte_enable_ptr(nullptr);
        p->set_byte_enable_length(0);
        p->set_dmi_allowed(false);
        p->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        p->set_gp_option(tlm::TLM_MIN_PAYLOAD);
        m_free.push_back(p);
    }

private:
    std::vector<bus_payload*> m_free;
};

template <class Float, class Bits>
Bits add(Bits a, Bits b) {
    Float x, y, sum;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    {
        const host_environment environment;
        const volatile Float left = x, right = y;  // so that the compiler adds here
        const volatile Float added = left + right;
        sum = added;
    }
    if (std::isnan(sum))
        sum = std::numeric_limits<Float>::quiet_NaN();  // as RISC-V has it, whatever the operands' bits
    Bits bits;
    std::memcpy(&bits, &sum, sizeof bits);
    return bits;
}

/// There are none of one or two bytes: the memory stays as it was.
template <class Bits>
Bits add_floats(Bits a, Bits b) {
    if constexpr (sizeof(Bits) == 4) return add<float>(a, b);
    if constexpr (sizeof(Bits) == 8) return add<double>(a, b);
    return a;
}

template <class Signed, class Unsigned>
Unsigned modify(atomic_extension::operation op, Unsigned old, Unsigned operand, Unsigned compare) {
    using operation = atomic_extension::operation;
    switch (op) {
        case operation::swap: return operand;
        case operation::add: return static_cast<Unsigned>(old + operand);
        case operation::bit_xor: return old ^ operand;
        case operation::bit_or: return old | operand;
        case operation::bit_and: return old & operand;
        case operation::min: return static_cast<Signed>(operand) < static_cast<Signed>(old) ? operand : old;
        case operation::max: return static_cast<Signed>(operand) > static_cast<Signed>(old) ? operand : old;
        case operation::min_unsigned: return operand < old ? operand : old;
        case operation::max_unsigned: return operand > old ? operand : old;
        case operation::compare_swap: return old == compare ? operand : old;
        case operation::load_reserved: return old;
        case operation::store_conditional: return operand;
        case operation::add_float: return add_floats(old, operand);
    }
    return old;
}

template <class Signed, class Unsigned>
std::uint64_t perform(atomic_extension::operation op, std::uint8_t* bytes, std::uint64_t operand,
                      std::uint64_t compare) {
    Unsigned old;
    std::memcpy(&old, bytes, sizeof old);
    const Unsigned now =
        modify<Signed, Unsigned>(op, old, static_cast<Unsigned>(operand), static_cast<Unsigned>(compare));
    std::memcpy(bytes, &now, sizeof now);
    return old;
}

}  // namespace

bus_payload* allocate_payload() {
    static auto* pool = new payload_pool;  // payloads may be held by models that are destroyed after main()
    return pool->allocate();
}

std::uint64_t perform_atomic(atomic_extension::operation op, std::uint8_t* bytes, unsigned size, std::uint64_t operand,
                             std::uint64_t compare) {
    switch (size) {
        case 1: return perform<std::int8_t, std::uint8_t>(op, bytes, operand, compare);
        case 2: return perform<std::int16_t, std::uint16_t>(op, bytes, operand, compare);
        case 4: return perform<std::int32_t, std::uint32_t>(op, bytes, operand, compare);
        case 8: return perform<std::int64_t, std::uint64_t>(op, bytes, operand, compare);
        default: throw std::invalid_argument("atomics have 1, 2, 4 or 8 bytes");
    }
}

bus_target::bus_target(const sc_core::sc_module_name& name) : model(name) {
    bus.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

tlm::tlm_sync_enum bus_target::nb_transport_fw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP of an initiator that does not shorten
    ticks latency = 0;
    const bool counted = payload.has_mm();
    if (counted) payload.acquire();  // a pending payload is kept until complete()
    if (access(payload, latency) == outcome::pending) return tlm::TLM_ACCEPTED;
    if (counted) payload.release();
    delay += sc_core::sc_time::from_value(latency);
    return tlm::TLM_COMPLETED;
}

void bus_target::complete(bus_payload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    bus->nb_transport_bw(payload, phase, delay);
    if (payload.has_mm()) payload.release();
}

void bus_target::abandon(bus_payload& payload) {
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    complete(payload);
}

void bus_target::b_transport(bus_payload& payload, sc_core::sc_time& delay) {
    ticks latency = 0;
    if (access(payload, latency) == outcome::pending)
        throw std::logic_error(std::string(name()) + " answers later and needs nb_transport");
    delay += sc_core::sc_time::from_value(latency);
}

bool bus_target::get_direct_mem_ptr(bus_payload&, tlm::tlm_dmi& dmi) {
    dmi.allow_none();
    return false;
}

unsigned bus_target::transport_dbg(bus_payload& payload) { return debug_access(payload); }

}  // namespace fabricvp
