// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/busy_time.h"
#include "base/clock_domain.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "gpu/lanes/lane_op.h"

namespace fabricvp::gpu {

struct lds_params {
    byte_size size{64 << 10};
    std::uint64_t banks = 32;
    cycles latency{64};
    std::uint64_t queue = 16;
    void describe(parameter_visitor& v);
};

/// A work-group's part of the local data share.
struct lds_block {
    struct reservation {
        std::uint32_t wavefront, lane, granule;  ///< granule: 8 bytes
    };
    std::vector<std::uint8_t> bytes;
    std::vector<reservation> reservations;
};

/// The local data share of a compute unit: banks of 4-byte words. A pass serves one word of each bank, to any number of
/// lanes; lanes that want different words of one bank take more passes. Instructions wait for their passes in a queue.
class local_data_share final : public model {
public:
    const lds_params params;

    counter accesses{*this, "accesses", "1", "instructions"};
    counter shuffles{*this, "shuffles", "1", "shuffles of lanes, which take its passes but no memory"};
    counter bank_conflicts{*this, "bank_conflicts", "cycles", "passes beyond those that the width of the access needs"};
    busy_time busy;

    local_data_share(const sc_core::sc_module_name& name, const lds_params& params, const clock_domain& clock);

    std::uint64_t free_bytes() const { return m_free; }
    void allocate(lds_block& block, std::uint32_t bytes);
    void release(lds_block& block);

    /// Whether the queue has no place at `at`, and when it has one if nothing else is accepted. Nothing may be accepted
    /// while it is full.
    bool full(ticks at) const { return m_ends[m_next] > at; }
    ticks place_at() const { return m_ends[m_next]; }
    /// When all that was accepted has been performed.
    ticks idle_at() const { return m_free_at; }

    /// Performs an access of the lanes in `mask` at offsets that lie inside the block; loads and atomics leave their
    /// results in `data`, as vector_access does. \returns when they are there, for an access that begins at `at`
    ticks access(lds_block& block, const lane_op& o, lane_mask mask, const lane_registers::row& offsets,
                 lane_registers::row& data, std::uint32_t wavefront, ticks at);
    /// A shuffle of the lanes in `mask`, each of `size` bytes, goes through the crossbar: as many passes as an access
    /// without conflicts. \returns when its results are there
    ticks shuffle(lane_mask mask, unsigned size, ticks at);
    void reset() override;

private:
    ticks serve(std::uint64_t passes, ticks at);
    unsigned lanes_of_pass(unsigned words) const {
        return static_cast<unsigned>(std::max<std::uint64_t>(1, params.banks / words));
    }
    std::uint64_t passes(const lane_op& o, lane_mask mask, const lane_registers::row& offsets);
    static void perform(lds_block& block, const lane_op& o, lane_mask mask, const lane_registers::row& offsets,
                        lane_registers::row& data, std::uint32_t wavefront);

    const clock_domain& m_clock;
    std::uint64_t m_free;
    ticks m_free_at = 0;
    std::vector<ticks> m_ends;  // of the last `queue` accesses, when their passes end; the oldest at m_next
    std::size_t m_next = 0;
};

}  // namespace fabricvp::gpu
