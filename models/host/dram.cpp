// SPDX-License-Identifier: Apache-2.0
#include "host/dram.h"

#include <algorithm>
#include <cstring>

namespace fabricvp::host {

namespace {
constexpr std::uint64_t reservation_set = 64;
}

void dram_params::describe(parameter_visitor& v) {
    v.field("latency", latency, between{0, 1e9}, "time from a bus request to its first data");
    v.field("rate", rate, between{1e6, 1e14}, "data rate of a bus access");
    v.field(
        "ecc", ecc,
        "words of 64 bits have a code that corrects one wrong bit and detects two (SECDED); errors are counted, and "
        "stand in an error record in the device tree");
    v.field("ecc_latency", ecc_latency, between{0, 1e9},
            "more for an access where there is ECC; with memory_timing: caches for a miss of the last cache");
}

dram::dram(const sc_core::sc_module_name& name, const dram_params& p, std::uint64_t size)
    : bus_target(name), params(p), memory(size) {
    memory.attach(*this);
}

dram::~dram() { memory.detach(*this); }

void dram::reset() {
    m_reservations.clear();
    bus_target::reset();
}

bus_target::outcome dram::access(bus_payload& payload, ticks& latency) {
    const auto offset = payload.get_address();
    const std::uint64_t size = payload.get_data_length();
    auto* data = payload.get_data_ptr();
    latency +=
        params.latency + static_cast<ticks>(static_cast<unsigned __int128>(size) * ticks_per_second / params.rate);
    if (!memory.contains(offset, size)) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return outcome::done;
    }
    if (params.ecc) latency += params.ecc_latency;
    auto* const atomic = payload.get_extension<atomic_extension>();
    const bool reads = payload.is_read() || (atomic && atomic->op != atomic_extension::operation::store_conditional);
    if (reads && !memory.readable(offset, size)) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return outcome::done;
    }
    if (atomic) {
        atomic_access(payload, *atomic);
        return outcome::done;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    const auto* enables = payload.get_byte_enable_ptr();
    const auto enabled = [&](std::uint64_t i) {
        return !enables || enables[i % payload.get_byte_enable_length()] != TLM_BYTE_DISABLED;
    };
    if (payload.is_read()) {
        bytes_read += size;
        if (!enables)
            memory.read(offset, data, size);
        else
            for (std::uint64_t i = 0; i < size; ++i)
                if (enabled(i)) memory.read(offset + i, data + i, 1);
    } else if (payload.is_write()) {
        bytes_written += size;
        break_reservations(offset, size);
        if (!enables)
            memory.write(offset, data, size);
        else
            for (std::uint64_t i = 0; i < size; ++i)
                if (enabled(i)) memory.write(offset + i, data + i, 1);
    } else {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    return outcome::done;
}

void dram::atomic_access(bus_payload& payload, atomic_extension& atomic) {
    using operation = atomic_extension::operation;
    const auto offset = payload.get_address();
    const auto size = payload.get_data_length();
    auto* data = payload.get_data_ptr();
    if ((size != 1 && size != 2 && size != 4 && size != 8) || offset % size != 0) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    ++atomics;
    atomic.performed = true;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    const auto* sender = payload.get_extension<initiator_extension>();
    const std::string initiator = sender && sender->initiator ? sender->initiator->name() : "";

    if (atomic.op == operation::load_reserved) {
        memory.read(offset, data, size);
        m_reservations[initiator] = offset & ~(reservation_set - 1);
        memory.set_mark(offset >> sparse_memory::page_bits, sparse_memory::reserved);
        return;
    }
    if (atomic.op == operation::store_conditional) {
        const auto held = m_reservations.find(initiator);
        atomic.succeeded = held != m_reservations.end() && held->second == (offset & ~(reservation_set - 1));
        if (held != m_reservations.end()) m_reservations.erase(held);
        if (atomic.succeeded) {
            break_reservations(offset, size);
            memory.write(offset, data, size);
        }
        return;
    }
    std::uint64_t operand = 0, compare = 0;
    std::memcpy(&operand, data, size);
    if (atomic.op == operation::compare_swap) std::memcpy(&compare, data + size, size);
    break_reservations(offset, size);
    memory.announce_write(offset, size);
    const auto old = perform_atomic(atomic.op, memory.data() + offset, size, operand, compare);
    memory.written(offset, size);
    std::memcpy(data, &old, size);
}

unsigned dram::debug_access(bus_payload& payload) {
    const auto offset = payload.get_address();
    if (offset >= memory.size()) return 0;
    const auto size = std::min<std::uint64_t>(payload.get_data_length(), memory.size() - offset);
    if (payload.is_read())
        memory.read(offset, payload.get_data_ptr(), size);
    else if (payload.is_write())
        memory.write(offset, payload.get_data_ptr(), size);
    else
        return 0;
    return static_cast<unsigned>(size);
}

void dram::marked_page_written(sparse_memory&, std::uint64_t offset, std::uint64_t size, const memory_observer*) {
    break_reservations(offset, size);
}

void dram::break_reservations(std::uint64_t offset, std::uint64_t size) {
    for (auto r = m_reservations.begin(); r != m_reservations.end();) {
        const bool hit = r->second < offset + size && offset < r->second + reservation_set;
        r = hit ? m_reservations.erase(r) : std::next(r);
    }
}

}  // namespace fabricvp::host
