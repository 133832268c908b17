// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/coherent_memory.h"
#include "host/cache_hierarchy.h"
#include "host/dram.h"

namespace fabricvp::host {

/// The host's DRAM behind its shared cache, for those on the host's bus that keep it coherent with the harts.
class coherent_dram final : public coherent_memory {
public:
    /// \param base of the memory in physical addresses
    coherent_dram(host::dram& dram, cache_hierarchy& caches, std::uint64_t base)
        : m_memory(dram.memory), m_caches(caches), m_base(base) {}

    bool holds(std::uint64_t address, std::uint64_t bytes) const override {
        return address >= m_base && m_memory.contains(address - m_base, bytes);
    }
    void read(std::uint64_t address, void* to, std::size_t bytes) override;
    void write(std::uint64_t address, const void* from, std::size_t bytes, const snooper* writer) override;
    std::uint64_t atomic(std::uint64_t address, unsigned bytes, atomic_extension::operation what, std::uint64_t operand,
                         std::uint64_t compare, const snooper* writer) override;
    ticks access(std::uint64_t address, std::uint64_t bytes, bool writes, ticks at) override {
        return m_caches.shared_access(address, bytes, writes, at);
    }
    void add(snooper& holder) override { m_snoopers.push_back(&holder); }

    /// A block writes these bytes: copies end that others than harts have.
    void written(std::uint64_t address, std::uint64_t bytes, const snooper* writer = nullptr);

private:
    sparse_memory& m_memory;
    cache_hierarchy& m_caches;
    std::uint64_t m_base;
    std::vector<snooper*> m_snoopers;
};

}  // namespace fabricvp::host
