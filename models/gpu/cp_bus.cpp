// SPDX-License-Identifier: Apache-2.0
#include "gpu/cp_bus.h"

#include <algorithm>
#include <cstring>

#include "abi/gpu.h"

namespace fabricvp::gpu {

namespace {
constexpr std::uint64_t page_mask = sparse_memory::page_size - 1;

line_kind kind_of(const bus_payload& payload, const atomic_extension* atomic) {
    if (atomic) {
        if (atomic->op == atomic_extension::operation::load_reserved) return line_kind::load_reserved;
        if (atomic->op == atomic_extension::operation::store_conditional) return line_kind::store_conditional;
        return line_kind::atomic;
    }
    return payload.is_read() ? line_kind::read : line_kind::write;
}
}  // namespace

void cp_bus_params::describe(parameter_visitor& v) {
    v.field("register_latency", register_latency, between{0, 1e9}, "access to a register of the command processor");
    v.field("memory_latency", memory_latency, between{0, 1e9}, "access to the processor's memory that cannot be made in place");
}

cp_bus::cp_bus(const sc_core::sc_module_name& name, const cp_bus_params& p, sparse_memory& local, register_bank& registers,
               line_target& memory, translator& mmu, std::uint64_t owner, debug_memory debug)
    : bus_target(name),
      params(p),
      m_local(local),
      m_registers(registers),
      m_memory(memory),
      m_mmu(mmu),
      m_owner(owner),
      m_debug(std::move(debug)) {}

void cp_bus::reset() {
    ++m_epoch;
    address_space = 0;
    last_fault = memory_fault::none;
    if (m_payload) abandon(*std::exchange(m_payload, nullptr));
    bus_target::reset();
}

bool cp_bus::access_local(bus_payload& payload, std::uint64_t offset, ticks& latency) {
    const unsigned size = payload.get_data_length();
    atomic_extension* atomic = nullptr;
    payload.get_extension(atomic);
    if (m_local.contains(offset, size)) {
        latency += params.memory_latency.value;
        if (atomic) return false;  // harts do these in place; what comes here is marked, and LR/SC over the bus is not offered
        if (payload.is_read())
            m_local.read(offset, payload.get_data_ptr(), size);
        else
            m_local.write(offset, payload.get_data_ptr(), size);
        return true;
    }
    if (offset < GPU_CP_REGISTERS_BASE || offset - GPU_CP_REGISTERS_BASE >= GPU_CP_REGISTERS_SIZE || atomic) return false;
    ++register_accesses;
    latency += params.register_latency.value;
    const auto at = offset - GPU_CP_REGISTERS_BASE;
    if (m_recording) m_touched.insert({at, size});
    return payload.is_read() ? m_registers.read(at, payload.get_data_ptr(), size)
                             : m_registers.write(at, payload.get_data_ptr(), size);
}

bus_target::outcome cp_bus::access(bus_payload& payload, ticks& delay) {
    const auto address = payload.get_address();
    if (where(address) == GPU_PA_LOCAL) {
        const bool ok = access_local(payload, offset_of(address), delay);
        if (!ok) {
            ++errors;
            last_fault = memory_fault::bad_aperture;
        }
        payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return outcome::done;
    }
    m_payload = &payload;
    m_done = 0;
    m_begin = now();
    ++line_accesses;
    next_piece();
    return outcome::pending;
}

void cp_bus::next_piece() {
    const auto address = m_payload->get_address() + m_done;
    m_piece = std::min<unsigned>(m_payload->get_data_length() - m_done, line_bytes - address % line_bytes);
    if (where(address) != GPU_PA_VIRTUAL) return send_line(address);
    const unsigned wanted = m_payload->is_read() ? GPU_PTE_READ : GPU_PTE_WRITE;
    m_mmu.translate(address_space, offset_of(address) & ~page_mask, wanted, *this, m_epoch);
}

void cp_bus::translated(std::uint64_t, std::uint64_t physical, memory_fault fault, std::uint64_t epoch) {
    if (epoch != m_epoch || !m_payload) return;
    if (fault != memory_fault::none) return finish(fault);
    send_line(physical + ((m_payload->get_address() + m_done) & page_mask));
}

void cp_bus::send_line(std::uint64_t physical) {
    auto request = m_lines.make();
    atomic_extension* atomic = nullptr;
    m_payload->get_extension(atomic);
    auto* const bytes = m_payload->get_data_ptr() + m_done;
    const auto offset = static_cast<unsigned>(physical % line_bytes);
    request->kind = kind_of(*m_payload, atomic);
    request->scope = memory_scope::system;
    request->line = physical - offset;
    request->offset = static_cast<std::uint8_t>(offset);
    request->size = static_cast<std::uint8_t>(m_piece);
    request->needed_sectors = 0;
    for (unsigned s = offset / sector_bytes; s <= (offset + m_piece - 1) / sector_bytes; ++s) request->needed_sectors |= 1u << s;
    request->owner = m_owner;
    request->client = this;
    request->cookie = m_epoch;
    request->issued = now();
    if (request->kind == line_kind::write) {
        request->byte_mask = (m_piece == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << m_piece) - 1) << offset;
        std::memcpy(request->data.data() + offset, bytes, m_piece);
    } else if (atomic) {
        request->operation = atomic->op;
        request->operand = request->compare = 0;
        std::memcpy(&request->operand, bytes, m_piece);
        if (atomic->op == atomic_extension::operation::compare_swap) std::memcpy(&request->compare, bytes + m_piece, m_piece);
    }
    m_memory.send(request);
}

void cp_bus::line_done(line_request& request) {
    if (request.cookie != m_epoch || !m_payload) return;
    if (request.fault != memory_fault::none) return finish(request.fault);
    auto* const bytes = m_payload->get_data_ptr() + m_done;
    atomic_extension* atomic = nullptr;
    m_payload->get_extension(atomic);
    if (atomic) {
        atomic->performed = true;
        atomic->succeeded = request.succeeded;
        if (request.kind != line_kind::store_conditional) std::memcpy(bytes, &request.operand, m_piece);
    } else if (request.kind == line_kind::read) {
        std::memcpy(bytes, request.data.data() + request.offset, m_piece);
    }
    m_done += m_piece;
    if (m_done < m_payload->get_data_length()) return next_piece();
    finish(memory_fault::none);
}

void cp_bus::finish(memory_fault fault) {
    const bool ok = fault == memory_fault::none;
    if (!ok) {
        ++errors;
        last_fault = fault;
    }
    latency.add(now() - m_begin);
    auto& payload = *std::exchange(m_payload, nullptr);
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    complete(payload);
}

unsigned cp_bus::debug_access(bus_payload& payload) {
    const auto address = payload.get_address();
    const auto size = payload.get_data_length();
    const bool reading = payload.is_read();
    bool ok = false;
    if (where(address) == GPU_PA_LOCAL) {
        const auto offset = offset_of(address);
        if (m_local.contains(offset, size)) {
            reading ? m_local.read(offset, payload.get_data_ptr(), size) : m_local.write(offset, payload.get_data_ptr(), size);
            ok = true;
        } else if (offset >= GPU_CP_REGISTERS_BASE && offset - GPU_CP_REGISTERS_BASE < GPU_CP_REGISTERS_SIZE) {
            const auto at = offset - GPU_CP_REGISTERS_BASE;
            ok = reading ? m_registers.read(at, payload.get_data_ptr(), size, true)
                         : m_registers.write(at, payload.get_data_ptr(), size, true);
        }
    } else if (m_debug) {
        ok = m_debug(address, payload.get_data_ptr(), size, !reading);
    }
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return ok ? size : 0;
}

}  // namespace fabricvp::gpu
