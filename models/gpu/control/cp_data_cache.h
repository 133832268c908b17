// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "base/clock_domain.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/spans.h"
#include "base/statistics.h"
#include "gpu/memory/l1_lines.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

struct cp_data_cache_params {
    byte_size size{32 << 10};
    std::uint64_t ways = 8;
    cycles latency{4};         ///< of a hit; of a miss before L2 is asked
    std::uint64_t stores = 8;  ///< on their way to L2
    void describe(parameter_visitor& v);
};

/// The lines behind the GPU's L2 that a hart of the command processor holds: of the GPU's own memory, and of memory
/// that an APU shares with its host. It holds data of its own: what others write at L2 is not seen until an acquire has
/// emptied it. Stores write through without allocation, and the hart goes on while they are on their way.
class cp_data_cache final : public model {
public:
    const cp_data_cache_params params;

    counter hits{*this, "hits", "1", "loads of a line that was there"};
    counter misses{*this, "misses", "1", "loads of a line that had to be fetched"};
    counter evictions{*this, "evictions", "1", "lines given up for others"};
    counter stores{*this, "stores", "1", "stores written through"};
    counter store_stalls{*this, "store_stalls", "1", "stores that waited for others to arrive"};
    counter invalidations{*this, "invalidations", "1", "acquires that emptied the cache"};
    counter drains{*this, "drains", "1", "releases that waited for stores"};

    span_stage lookup_span{*this, "lookup"}, stores_span{*this, "stores"};

    /// \param clock of the hart \throws std::invalid_argument if size and ways do not fit each other
    cp_data_cache(const sc_core::sc_module_name& name, const cp_data_cache_params& params, const clock_domain& clock);

    bool present() const { return m_lines != nullptr; }
    ticks latency() const { return m_latency; }

    /// Copies bytes inside one line. \returns false if the line is not there
    bool load(std::uint64_t physical, void* to, unsigned size);
    void fill(std::uint64_t line, const std::uint8_t* data) { evictions += m_lines->fill(line, data, 0xf); }
    void update(std::uint64_t line, const std::uint8_t* data, std::uint64_t mask) {
        if (m_lines) m_lines->update(line, data, mask);
    }
    void drop(std::uint64_t line) {
        if (m_lines) m_lines->drop(line);
    }
    void invalidate();
    /// For debuggers: bytes at a physical address as the hart would find them here; others keep their value in `to`.
    void peek(std::uint64_t physical, std::uint8_t* to, std::size_t size);
    void poke(std::uint64_t physical, const std::uint8_t* from, std::size_t size);

    void reset() override;

private:
    ticks m_latency;
    std::unique_ptr<l1_lines> m_lines;  // null: a size of 0
};

}  // namespace fabricvp::gpu
