// SPDX-License-Identifier: Apache-2.0
#include "gpu/debugging/queue_state.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "abi/aql.h"
#include "abi/stream_packet.h"
#include "gpu/control/kernel_name.h"
#include "gpu/control/packet_text.h"

namespace fabricvp::gpu {

namespace {

constexpr std::size_t max_shown = 16;
using packet_data = std::array<std::uint8_t, 64>;

struct queue_view {
    gpu_queue table{};
    std::uint64_t read = 0;
    std::vector<packet_data> waiting;  ///< from the read index on
    bool readable = true;              ///< ring and read index could be read
};

queue_view view_of(const gpu_core& core, wavefront_memory& memory, unsigned queue) {
    queue_view v;
    core.processor.memory.read(GPU_SRAM_QUEUES + queue * sizeof v.table, &v.table, sizeof v.table);
    const auto& t = v.table;
    if (t.state == GPU_QUEUE_FREE && t.acknowledged == GPU_QUEUE_FREE) return v;
    v.read = core.log.read_index(queue);
    if (t.read_index) v.readable = memory.access(t.address_space, t.read_index, &v.read, sizeof v.read, false);
    if (t.packets == 0 || (t.packets & (t.packets - 1))) v.readable = false;
    for (std::uint64_t i = 0; v.readable && i < t.packets; ++i) {
        packet_data bytes;
        const auto at = t.ring + ((v.read + i) & (t.packets - 1)) * bytes.size();
        v.readable = memory.access(t.address_space, at, bytes.data(), bytes.size(), false);
        std::uint16_t header;
        std::memcpy(&header, bytes.data(), sizeof header);
        if (!v.readable || (header & AQL_HEADER_TYPE_MASK) == AQL_TYPE_INVALID) break;
        v.waiting.push_back(bytes);
    }
    return v;
}

std::string summary(const gpu_core& core, const queue_view& v, unsigned queue) {
    const auto& t = v.table;
    if (t.state == GPU_QUEUE_FREE && t.acknowledged == GPU_QUEUE_FREE) return {};
    auto text = fmt::format("{} queue {}: {}, ring of {} packets at {:#x}, ", core.owner.name(), queue,
                            t.acknowledged == GPU_QUEUE_ERROR  ? "stopped"
                            : t.state == GPU_QUEUE_FREE        ? "being closed"
                            : t.acknowledged == GPU_QUEUE_FREE ? "being opened"
                                                               : "active",
                            t.packets, t.ring);
    text += !v.readable ? "which cannot be read"
                        : fmt::format("read index {}, write index {}, {} packets outstanding", v.read,
                                      v.read + v.waiting.size(), v.waiting.size());
    const bool pending = core.processor.doorbell_pending() >> queue & 1;
    return text + fmt::format(", doorbell {}{}\n", core.processor.doorbell_value.get(queue),
                              pending ? " (not heard yet)" : "");
}

std::string word_at(wavefront_memory& memory, std::uint32_t space, std::uint64_t address) {
    std::uint64_t value = 0;
    return memory.access(space, address, &value, sizeof value, false)
               ? fmt::format("{}", static_cast<std::int64_t>(value))
               : std::string("unreadable");
}

/// What the packet at the head has to wait for.
std::string reason(const gpu_core& core, wavefront_memory& memory, const queue_view& v) {
    const auto& t = v.table;
    if (t.acknowledged == GPU_QUEUE_ERROR)
        return fmt::format("stopped at packet {}: {}", t.stopped_at, fault_text(t.error));
    if (!core.processor.running()) return "waits for the command processor, which is held in reset";
    if (v.waiting.empty()) return "waits for packets and their doorbell";
    aql_barrier p;
    std::memcpy(&p, v.waiting.front().data(), sizeof p);
    const auto type = p.header & AQL_HEADER_TYPE_MASK;
    std::string text;
    if (type == AQL_TYPE_BARRIER_AND || type == AQL_TYPE_BARRIER_OR)
        for (const auto signal : p.dependency)
            if (signal)
                text += fmt::format("{} signal {:#x}, which is {}", text.empty() ? "waits for" : ",", signal,
                                    word_at(memory, t.address_space, signal + offsetof(aql_signal, value)));
    if (type == AQL_TYPE_VENDOR) {
        aql_stream_wait w;
        std::memcpy(&w, v.waiting.front().data(), sizeof w);
        if (w.operation == AQL_STREAM_WAIT)
            text = fmt::format("waits for {:#x}, which is {}", w.at, word_at(memory, t.address_space, w.at));
        if (w.operation == AQL_STREAM_COMPLETION) text = fmt::format("waits for a completion at {:#x}", w.at);
    }
    if (!text.empty()) return text;
    if (const auto kernels = core.dispatcher.in_flight(); kernels && p.header & AQL_HEADER_BARRIER)
        return fmt::format("waits for kernels before it; {} in flight on this GPU", kernels);
    return "waits for the command processor";
}

}  // namespace

std::string summary_of_queue(const gpu_core& core, wavefront_memory& memory, unsigned queue) {
    return summary(core, view_of(core, memory, queue), queue);
}

std::string text_of_queue(const gpu_core& core, wavefront_memory& memory, unsigned queue) {
    const auto v = view_of(core, memory, queue);
    auto text = summary(core, v, queue);
    if (text.empty()) return text;
    const auto& t = v.table;
    text += fmt::format("  address space {}, priority {}, hart {} of the command processor", t.address_space,
                        t.priority, core.processor.queue_hart.get(queue));
    if (t.read_index) text += fmt::format("; read index at {:#x}", t.read_index);
    text += "\n";
    text += fmt::format("  {}\n", reason(core, memory, v));
    for (std::size_t i = 0; i < v.waiting.size() && i < max_shown; ++i) {
        aql_kernel_dispatch p;
        std::memcpy(&p, v.waiting[i].data(), sizeof p);
        const bool kernel = (p.header & AQL_HEADER_TYPE_MASK) == AQL_TYPE_KERNEL_DISPATCH;
        text += fmt::format("  packet {}: {}\n", v.read + i,
                            text_of_packet(v.waiting[i].data(),
                                           kernel ? kernel_name(core.memory, t.address_space, p.kernel_object) : ""));
    }
    if (v.waiting.size() > max_shown) text += fmt::format("  and {} more\n", v.waiting.size() - max_shown);
    return text;
}

}  // namespace fabricvp::gpu
