// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/queue_log.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "abi/aql.h"
#include "abi/kernel_descriptor.h"
#include "gpu/control/command_processor.h"
#include "gpu/control/kernel_name.h"
#include "gpu/control/packet_text.h"

namespace fabricvp::gpu {

namespace {

constexpr std::uint64_t packet_bytes = 64, value_offset = offsetof(aql_signal, value);

std::uint64_t word(const std::uint8_t* bytes, unsigned size) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, std::min<std::size_t>(size, sizeof value));
    return value;
}

}  // namespace

template <class... Args>
void queue_log::tell(const bus_log::subject& about, fmt::format_string<Args...> format, Args&&... args) const {
    if (bus_log_channel.open()) bus_log_channel.line(m_processor, about, format, std::forward<Args>(args)...);
}

queue_log::queue_log(const command_processor& processor, const gpu_memory_system& memory)
    : m_processor(processor), m_memory(memory) {}

gpu_queue queue_log::table(unsigned queue) const {
    gpu_queue t;
    m_processor.memory.read(GPU_SRAM_QUEUES + queue * sizeof t, &t, sizeof t);
    return t;
}

void queue_log::doorbell(std::uint64_t queue, std::uint64_t value) {
    if (queue >= GPU_QUEUES) {
        tell({queue, true}, "queue {} doorbell: packet {}: there is no such queue", queue, value);
        return;
    }
    const auto t = table(static_cast<unsigned>(queue));
    const char* problem = t.acknowledged == GPU_QUEUE_ERROR ? ": the queue has stopped"
                          : t.state != GPU_QUEUE_ACTIVE     ? ": the queue is not active"
                          : static_cast<std::int64_t>(value - m_queues[queue].next) >= t.packets ? ": beyond the ring"
                                                                                                 : "";
    tell({queue, *problem != 0}, "queue {} doorbell: packet {}{}", queue, value, problem);
}

void queue_log::table_written(std::uint64_t offset, std::size_t size) {
    if (offset < GPU_SRAM_QUEUES || offset + size > GPU_SRAM_QUEUES + GPU_QUEUES * sizeof(gpu_queue)) return;
    const auto queue = static_cast<unsigned>((offset - GPU_SRAM_QUEUES) / sizeof(gpu_queue));
    const auto t = table(queue);
    auto& q = m_queues[queue];
    if (t.state == q.state) return;
    q = {};
    q.state = t.state;
    if (t.state == GPU_QUEUE_ACTIVE)
        tell({queue}, "queue {} opened: ring of {} packets at {:#x}, priority {}", queue, t.packets, t.ring,
             t.priority);
    else
        tell({queue}, "queue {} closed", queue);
}

void queue_log::accessed(const cp_access& a) {
    const bool header = a.what == cp_access::kind::write && a.size == 2;
    if (header || (a.what == cp_access::kind::read && a.size == 8))
        for (unsigned queue = 0; queue < GPU_QUEUES; ++queue) {
            const auto t = table(queue);
            if (t.acknowledged == GPU_QUEUE_FREE || t.address_space != a.space ||
                a.address - t.ring >= t.packets * packet_bytes)
                continue;
            if (!header)
                loaded(a, queue, t);
            else if (a.address % packet_bytes == 0 && word(a.bytes, a.size) == AQL_TYPE_INVALID)
                retired(queue);
            return;
        }
    signalled(a);
}

/// A packet has been fetched when its last word is there. One that waits is fetched again and again, and told once.
void queue_log::loaded(const cp_access& a, unsigned queue, const gpu_queue& t) {
    auto& bytes = m_fetched[a.hart];
    std::memcpy(bytes.data() + a.address % packet_bytes, a.bytes, a.size);
    if (a.address % packet_bytes != packet_bytes - a.size) return;
    auto& q = m_queues[queue];
    m_current[a.hart] = queue;
    if (q.announced == q.next) return;
    q.announced = q.next;
    q.kernel.clear();
    aql_kernel_dispatch p;
    std::memcpy(&p, bytes.data(), sizeof p);
    if ((p.header & AQL_HEADER_TYPE_MASK) == AQL_TYPE_KERNEL_DISPATCH)
        q.kernel = kernel_name(m_memory, t.address_space, p.kernel_object);
    if (p.completion_signal) m_signals[{t.address_space, p.completion_signal}] = {queue, q.next, q.kernel};
    tell({queue}, "queue {} packet {} fetched: {}", queue, q.next, text_of_packet(bytes.data(), q.kernel));
}

void queue_log::retired(unsigned queue) {
    auto& q = m_queues[queue];
    const auto t = table(queue);
    const auto name = q.kernel.empty() ? std::string() : fmt::format(" ({})", q.kernel);
    if (t.acknowledged == GPU_QUEUE_ERROR && t.stopped_at == q.next)
        tell({queue, true}, "queue {} packet {}{} failed: {}; the queue has stopped", queue, q.next, name,
             fault_text(t.error));
    else
        tell({queue}, "queue {} packet {}{} retired", queue, q.next, name);
    ++q.next;
}

void queue_log::signalled(const cp_access& a) {
    if (a.what == cp_access::kind::read || a.size != 8) return;
    const auto found = m_signals.find({a.space, a.address - value_offset});
    if (found == m_signals.end()) return;
    const auto& p = found->second;
    const auto value = static_cast<std::int64_t>(word(a.bytes, a.size));
    const auto name = p.kernel.empty() ? std::string() : fmt::format(" ({})", p.kernel);
    if (a.what == cp_access::kind::atomic)
        tell({p.queue}, "queue {} packet {}{} signal {:#x}: {} to {}", p.queue, p.index, name, found->first.second,
             value, value - 1);
    else
        tell({p.queue, value < 0}, "queue {} packet {}{} signal {:#x}: set to {} ({})", p.queue, p.index, name,
             found->first.second, value, value < 0 ? fault_text(static_cast<std::uint32_t>(-value)) : "a value");
    m_signals.erase(found);
}

void queue_log::launched(unsigned hart, std::uint32_t cookie, const dispatch& what) {
    const auto queue = m_current[hart];
    const auto& q = m_queues[queue];
    m_launches[std::uint64_t{hart} << 32 | cookie] = {queue, q.next, q.kernel};
    tell({queue}, "queue {} packet {} launched: kernel {}, {} bytes of LDS, {} of scratch", queue, q.next,
         kernel_name(m_memory, what), what.lds_bytes, what.scratch_bytes);
}

void queue_log::rejected(unsigned hart, const char* why) {
    const auto queue = m_current[hart];
    tell({queue, true}, "queue {} packet {} ({}) not launched: {}", queue, m_queues[queue].next, m_queues[queue].kernel,
         why);
}

void queue_log::ended(std::uint64_t cookie, std::uint32_t fault, ticks since, ticks now) {
    const auto found = m_launches.find(cookie);
    if (found == m_launches.end()) return;
    const auto& p = found->second;
    const auto took = static_cast<double>(now - since) / static_cast<double>(ticks_per_second) * 1e6;
    tell({p.queue, fault != GPU_FAULT_NONE}, "queue {} packet {} kernel {} {} after {:.3f} us", p.queue, p.index,
         p.kernel, fault ? "failed (" + fault_text(fault) + ")" : "ended", took);
    m_launches.erase(found);
}

void queue_log::interrupt(unsigned vector) {
    static constexpr const char* names[] = {"signal", "fault", "firmware", "copy engine"};
    tell({}, "interrupt {} ({})", vector, vector < std::size(names) ? names[vector] : "no such vector");
}

}  // namespace fabricvp::gpu
