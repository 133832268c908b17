// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/coherent_memory.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

struct coherent_port_params {
    duration latency{75'000};
    bandwidth rate{96'000'000'000};
    void describe(parameter_visitor& v);
};

/// The way from a GPU's L2 to memory of the host that harts and the GPU keep coherent. The L2 holds copies of such
/// lines and never the only new bytes: writes and atomics are performed behind it, where the harts' last cache is, and
/// a copy ends when another agent writes. So the contents that a bank sees are always the memory's.
class coherent_port final : public model, private snooper {
public:
    const coherent_port_params params;

    counter reads{*this, "reads", "1", "lines fetched from the host's memory"};
    counter writes{*this, "writes", "1", "writes to lines of the host's memory"};
    counter atomics{*this, "atomics", "1", "atomics and store-conditionals on the host's memory"};
    counter bytes_read{*this, "bytes_read", "B", "bytes fetched"};
    counter bytes_written{*this, "bytes_written", "B", "bytes written"};
    counter probes{*this, "probes", "1", "times that another agent's write asked for copies of a line"};
    histogram read_latency{*this, "read_latency", "ps", "of a line, from the L2 and back"};
    histogram write_latency{*this, "write_latency", "ps", "of a write, from the L2 until it is acknowledged there"};

    coherent_port(const sc_core::sc_module_name& name, const coherent_port_params& params, coherent_memory& memory);

    /// Whether a physical address (abi/gpu_apertures.h) is in a line of that memory.
    bool holds(std::uint64_t physical) const {
        return where(physical) == GPU_PA_SYSTEM &&
               m_memory.holds(offset_of(physical) & ~std::uint64_t{line_bytes - 1}, line_bytes);
    }

    // For the L2, by address on the host's bus. Each returns when the response is back at the L2.
    ticks fetch(std::uint64_t line, ticks at);
    ticks write(std::uint64_t line, unsigned bytes, ticks at);
    ticks modify(std::uint64_t line, unsigned bytes, ticks at);

    // Bytes, now.
    void load(std::uint64_t address, void* to, std::size_t bytes) { m_memory.read(address, to, bytes); }
    void store(std::uint64_t address, const void* from, std::size_t bytes) {
        m_memory.write(address, from, bytes, this);
    }
    void store_line(std::uint64_t line, const std::uint8_t* from, std::uint64_t mask);
    std::uint64_t atomic(std::uint64_t address, unsigned bytes, atomic_extension::operation what, std::uint64_t operand,
                         std::uint64_t compare) {
        return m_memory.atomic(address, bytes, what, operand, compare, this);
    }

    /// A copy of this line has ended.
    std::function<void(std::uint64_t line)> on_drop;

    void reset() override;

private:
    void invalidate_copies(std::uint64_t address, std::uint64_t bytes) override;
    ticks occupy(ticks& free, unsigned bytes, ticks at) const;
    ticks write_through(std::uint64_t line, unsigned bytes, ticks at);

    coherent_memory& m_memory;
    ticks m_out_free = 0, m_in_free = 0;  // when what has been sent, and what is coming, has passed
};

}  // namespace fabricvp::gpu
