// SPDX-License-Identifier: Apache-2.0
#include "gpu/apu_window.h"

#include <cstring>
#include <utility>

namespace fabricvp::gpu {

apu_window::apu_window(const sc_core::sc_module_name& name, side what, gpu_unit& gpu, ticks access_latency)
    : bus_target(name), m_side(what), m_gpu(gpu), m_access_latency(access_latency) {}

bus_target::outcome apu_window::access(bus_payload& p, ticks& latency) {
    latency += m_access_latency;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    if (p.is_read())
        ++reads;
    else
        ++writes;
    auto& host_interface = m_gpu.host_interface;
    const auto at = p.get_address();
    const auto bytes = p.get_data_length();
    if (m_side == side::memory) {
        if (!m_waiting.empty() || (p.is_write() && !host_interface.can_accept())) {
            m_waiting.push_back(&p);
            return outcome::pending;
        }
        return reach_memory(p);
    }
    if (!p.is_read() && !p.is_write()) {
        p.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    } else if (m_side == side::registers) {
        p.is_read() ? host_interface.read_registers(at, p.get_data_ptr(), bytes)
                    : host_interface.write_registers(at, p.get_data_ptr(), bytes);
    } else if (p.is_write()) {
        host_interface.write_doorbell(at, p.get_data_ptr(), bytes);
    } else {
        std::memset(p.get_data_ptr(), 0, bytes);  // doorbells are written only
    }
    return outcome::done;
}

bus_target::outcome apu_window::reach_memory(bus_payload& p) {
    if (p.is_write()) {
        m_gpu.host_interface.write_memory(p.get_address(), p.get_data_ptr(), p.get_data_length());
        return outcome::done;
    }
    if (!p.is_read()) {
        atomic(p);
        return outcome::done;
    }
    const auto cookie = m_reads.insert({&p, allocate_slice(p.get_data_length())});
    m_gpu.host_interface.read_memory(p.get_address(), m_reads[cookie].data, cookie);
    return outcome::pending;
}

void apu_window::atomic(bus_payload& p) {
    auto* what = p.get_extension<atomic_extension>();
    const auto bytes = p.get_data_length(), at = static_cast<unsigned>(p.get_address() % 8);
    using operation = atomic_extension::operation;
    const bool there = m_gpu.core.memory.memory.bytes.contains(p.get_address(), bytes);
    if (!what || !there || (bytes != 4 && bytes != 8) || at % bytes || what->op == operation::load_reserved ||
        what->op == operation::store_conditional) {
        p.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
    }
    std::uint64_t operand = 0, compare = 0;
    std::memcpy(&operand, p.get_data_ptr(), bytes);
    if (what->op == operation::compare_swap) std::memcpy(&compare, p.get_data_ptr() + bytes, bytes);
    const auto old = m_gpu.host_interface.atomic(p.get_address(), bytes, what->op, operand, compare);
    std::memcpy(p.get_data_ptr(), &old, bytes);
    what->performed = true;
}

void apu_window::memory_read(std::uint64_t cookie) {
    const auto read = m_reads.remove(static_cast<std::uint32_t>(cookie));
    std::memcpy(read.payload->get_data_ptr(), read.data.data(), read.data.length);
    complete(*read.payload);
}

void apu_window::retry_waiting() {
    while (!m_waiting.empty() && (!m_waiting.front()->is_write() || m_gpu.host_interface.can_accept())) {
        auto& p = *m_waiting.front();
        m_waiting.pop_front();
        if (reach_memory(p) == outcome::done) complete(p);
    }
}

unsigned apu_window::debug_access(bus_payload& p) {
    if (m_side != side::memory || (!p.is_read() && !p.is_write())) return 0;
    auto& core = m_gpu.core;
    const auto physical = std::uint64_t{core.router().where()} << GPU_PA_APERTURE_SHIFT | p.get_address();
    return core.memory.debug_access(physical, p.get_data_ptr(), p.get_data_length(), p.is_write()) ? p.get_data_length()
                                                                                                   : 0;
}

void apu_window::reset() {
    for (auto* p : std::exchange(m_waiting, {})) abandon(*p);
    std::exchange(m_reads, {}).for_each([this](const pending_read& r) { abandon(*r.payload); });
    bus_target::reset();
}

}  // namespace fabricvp::gpu
