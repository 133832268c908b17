// SPDX-License-Identifier: Apache-2.0
// Accesses that go through the calendar: the hart waits at its local time, sends a payload, and finishes the
// instruction when the response is there. An access that crosses a page is made in two pieces.
#include <cstring>

#include "riscv/fpu.h"
#include "riscv/hart_core.h"

namespace fabricvp::riscv {

namespace {
bool returns_value(opcode op) {
    const auto f = info(op).format;
    return f == operand_format::load || f == operand_format::float_load || f == operand_format::atomic ||
           f == operand_format::load_reserved;
}

/// Unprivileged specification, 2.7 (predecessor and successor sets i o r w), and 14.1 (.aq, .rl).
void explain_order(opcode op, std::uint32_t bits, order_extension& order) {
    order.fence = op == opcode::fence || op == opcode::fence_i;
    order.instructions = op == opcode::fence_i;
    if (op == opcode::fence) {
        order.release = bits >> 24 & 5;
        order.acquire = bits >> 20 & 10;
    } else {
        order.release = order.instructions || (bits >> 25 & 1);
        order.acquire = bits >> 26 & 1 && !order.instructions;
    }
}
}  // namespace

void hart::implementation::begin_access(opcode op, access_type kind, unsigned rd, std::uint64_t address,
                                        std::uint64_t value) {
    m_access.op = op;
    m_access.kind = kind;
    m_access.rd = rd;
    m_access.address = address;
    m_access.current = m_access.done = 0;
    m_access.is_atomic = false;
    m_access.cost = costs[static_cast<unsigned>(info(op).timing)];
    m_access.data.fill(0);
    std::memcpy(m_access.data.data(), &value, sizeof value);
    exit = exit_reason::pending;
}

void hart::implementation::send_segment() {
    auto& segment = m_access.segments[m_access.current];
    auto* const data = m_access.data.data() + m_access.done;
    if (segment.to.place == memory_target::where::direct) {
        if (m_access.kind == access_type::read)
            std::memcpy(data, segment.to.host, segment.size);
        else if (segment.to.plain)  // the one beside it, in the next page, is not
            std::memcpy(segment.to.host, data, segment.size);
        else
            write_marked(segment.to, data, segment.size);
        segment_done();
        return;
    }
    if (is_shared_memory(segment.to)) {
        const auto use = m_access.kind == access_type::read ? memory_timing::use::load : memory_timing::use::store;
        m_access.cost += memory_cost(segment.to, segment.size, use);
        access_shared_memory(segment.to, data, segment.size, m_access.kind);
        segment_done();
        return;
    }
    ++owner.bus_accesses;
    m_payload = allocate_payload();
    m_payload->acquire();
    const bool ordered =
        order_on_bus && (m_access.is_atomic || m_access.op == opcode::fence || m_access.op == opcode::fence_i);
    m_payload->set_command(m_access.is_atomic || ordered        ? tlm::TLM_IGNORE_COMMAND
                           : m_access.kind == access_type::read ? tlm::TLM_READ_COMMAND
                                                                : tlm::TLM_WRITE_COMMAND);
    m_payload->set_address(segment.to.physical);
    m_payload->set_data_ptr(data);
    m_payload->set_data_length(segment.size);
    m_payload->set_streaming_width(segment.size);
    m_payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    m_initiator.initiator = &owner;
    m_payload->set_extension(&m_initiator);
    if (m_access.is_atomic) {
        m_atomic.performed = m_atomic.succeeded = false;
        m_payload->set_extension(&m_atomic);
    }
    if (ordered) {
        explain_order(m_access.op, m_access.bits, m_order);
        m_payload->set_extension(&m_order);
    }
    m_phase = phase::response;
    m_response_ready = false;
    tlm::tlm_phase protocol = tlm::BEGIN_REQ;
    auto delay = sc_core::SC_ZERO_TIME;
    const auto answer = owner.bus->nb_transport_fw(*m_payload, protocol, delay);
    owner.timeline().note_foreign_call();
    if (m_payload_stale) {  // the access itself reset the machine
        if (answer != tlm::TLM_ACCEPTED) finish_reset();
        return;
    }
    const bool responded = answer == tlm::TLM_UPDATED && protocol == tlm::BEGIN_RESP;
    if (answer != tlm::TLM_COMPLETED && !responded) return;
    m_response_ready = true;
    m_next = owner.now() + delay.value();
    if (responded) {
        protocol = tlm::END_RESP;
        owner.bus->nb_transport_fw(*m_payload, protocol, delay);
    }
}

tlm::tlm_sync_enum hart::implementation::response(tlm::tlm_phase& protocol, sc_core::sc_time& delay) {
    if (protocol != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    protocol = tlm::END_RESP;
    if (m_payload_stale) {  // what a reset left behind
        finish_reset();
    } else {
        m_response_ready = true;
        owner.schedule(m_wake, owner.now() + delay.value());
    }
    return tlm::TLM_COMPLETED;
}

void hart::implementation::finish_reset() {
    m_payload_stale = false;
    drop_payload();
    if (m_restart_due) {
        m_restart_due = false;
        start();
    }
}

void hart::implementation::drop_payload() {
    m_payload->clear_extension(&m_initiator);
    if (m_access.is_atomic) m_payload->clear_extension(&m_atomic);
    if (m_payload->get_extension<order_extension>()) m_payload->clear_extension(&m_order);
    m_payload->release();
    m_payload = nullptr;
}

void hart::implementation::segment_done() {
    auto& segment = m_access.segments[m_access.current];
    m_access.done += segment.size;
    if (++m_access.current < m_access.segment_count)
        send_segment();
    else
        finish_access();
}

/// The response to the payload is due now.
void hart::implementation::fail_access() {
    const auto reading = m_access.kind == access_type::read;
    const auto page_border = (m_access.address + sparse_memory::page_size) & ~(sparse_memory::page_size - 1);
    take_trap(reading ? cause::load_access : cause::store_access, m_access.current ? page_border : m_access.address,
              state.pc);
}

void hart::implementation::finish_access() {
    const auto format = info(m_access.op).format;
    const auto size = m_access.done;
    std::uint64_t raw = 0;
    std::memcpy(&raw, m_access.data.data(), size < 8 ? size : 8);
    if (format == operand_format::store_conditional) {
        if (m_access.rd != hart_state::sink) state.x[m_access.rd] = m_atomic.succeeded ? 0 : 1;
    } else if (format == operand_format::float_load) {
        state.mstatus |= status::fs;
        state.f[m_access.rd] = size == 4 ? fpu::box_s(static_cast<std::uint32_t>(raw)) : raw;
    } else if (returns_value(m_access.op)) {
        const bool is_signed = m_access.op != opcode::lbu && m_access.op != opcode::lhu && m_access.op != opcode::lwu;
        const auto unused = 64 - 8 * size;
        state.x[m_access.rd] =
            is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(raw << unused) >> unused) : raw;
        if (format == operand_format::load_reserved) bus_reservation = m_access.segments[0].to.physical;
    }
    state.pc += m_access.length;
    ++retired;
    budget -= m_access.cost;
}

}  // namespace fabricvp::riscv
