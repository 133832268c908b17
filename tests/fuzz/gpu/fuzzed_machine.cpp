// SPDX-License-Identifier: Apache-2.0
#include "gpu/fuzzed_machine.h"

#include <stdexcept>

#include "base/log.h"
#include "gpu/debugging/wavefront_memory.h"
#include "platform/apps.h"
#include "platform/machine.h"

namespace fabricvp::fuzz {

fuzzed_machine::fuzzed_machine() {
    m_platform = platform::from_config("netcrafter_quad",
                                       {{"node.gpus.*.memory.capacity", "64 MiB"}, {"node.gpus.*.compute_units", "4"}});
    set_log_threshold(log_level::error);
    load_app(*m_platform, 0, "vectoradd", {16384, 0, "", "", "", ""});
    for (auto& g : m_platform->hardware().nodes[0]->devices.gpus) m_gpus.push_back(&g->core);
    auto& launched = *m_gpus[0];
    while (launched.dispatcher.work_groups.total() < 8 && m_platform->now() < 100'000 * microsecond) run(microsecond);
    if (m_platform->now() >= 100'000 * microsecond) throw std::runtime_error("no kernel was launched");
    find_tables();
}

/// Pages of the first GPU's memory that hold nothing but entries of page tables.
void fuzzed_machine::find_tables() {
    auto& memory = m_gpus[0]->memory.memory.bytes;
    for (std::uint64_t at = 0; at < capacity; at += 4096) {
        std::uint64_t entries[512];
        memory.read(at, entries, sizeof entries);
        unsigned used = 0, wrong = 0;
        std::vector<std::uint64_t> indices;
        for (unsigned i = 0; i < 512; ++i) {
            if (!entries[i]) continue;
            ++used;
            indices.push_back(i);
            wrong += !(entries[i] & GPU_PTE_VALID) || entries[i] >> 46 > 4;
        }
        if (!used || wrong) continue;
        m_tables.push_back(at);
        m_used.insert(m_used.end(), indices.begin(), indices.end());
    }
    if (m_tables.empty()) throw std::runtime_error("no page tables were found");
}

bool fuzzed_machine::access(gpu::gpu_core& by, std::uint32_t space, std::uint64_t address, void* data, std::size_t size,
                            bool write) {
    gpu::wavefront_memory memory(by.memory, [&](std::uint64_t at, void* bytes, std::size_t count, bool writes) {
        for (auto* g : m_gpus)
            if (g->router().is_local(at)) return g->memory.debug_access(at, bytes, count, writes);
        return (writes ? m_platform->write_memory(0, at, bytes, count)
                       : m_platform->read_memory(0, at, bytes, count)) == count;
    });
    return memory.access(space, address, data, size, write);
}

}  // namespace fabricvp::fuzz
