// SPDX-License-Identifier: Apache-2.0
// Plays a recording over a fabric: in the place of GPUs stand gpu_players, each at its GPU's terminal; if there are
// several times as many as in the recording, each tile of them plays it. The host's launches come when those before
// have ended; work-groups start in order as compute units have room; wavefronts go through their items; accesses ask
// for transactions as MSHRs and queues allow. Homes take as long to answer as when it was recorded. Contents of lines
// are signatures, which both ends check.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/model.h"
#include "base/statistics.h"
#include "fabric/interconnect.h"
#include "gpu/gpu_core.h"
#include "gpu/replay/gpu_player.h"
#include "gpu/replay/replica.h"

namespace fabricvp::gpu::replay {

class player final : public model {
public:
    counter launches{*this, "launches", "1", "kernel launches, each part of a grid that is spread over GPUs"};
    derived transactions{*this, "transactions", "1", "transactions that have ended",
                         [this] { return sum([](const gpu_player& g) { return g.responses.value(); }); }};
    derived corrupt{*this, "corrupt", "1", "transactions whose bytes did not arrive as they were sent",
                    [this] { return sum([](const gpu_player& g) { return g.corrupt.value(); }); }};
    derived failed{*this, "failed", "1", "transactions that the fabric reported as failed",
                   [this] { return sum([](const gpu_player& g) { return g.failed.value(); }); }};

    /// \param gpus their parameters, in the order of their terminals \throws recording_error if the recording is none
    /// of such GPUs
    player(const sc_core::sc_module_name& name, const replay_params& replay_params,
           const std::vector<std::string>& names, const std::vector<gpu_core_params>& gpus,
           fabric::interconnect& fabric);

    /// Begins at the present time.
    void start();
    /// The measured part has ended.
    std::function<void()> on_end;
    const recording& what() const { return *m_what; }
    /// Transactions that have ended, of all that there are: for those that wait.
    double progress() const;
    /// What does not add up when all has ended: packets that vanished or came twice, bytes that changed. Empty:
    /// nothing.
    std::string integrity_error() const;

    std::optional<wait> waits() const override;
    void reset() override;

    // For tiles.
    void replica_ended();
    gpu_player& gpu(unsigned terminal) { return *m_gpus[terminal]; }
    /// Streams of a launch: number of the first, in their order.
    std::uint32_t first_stream(std::uint32_t launch) const { return m_first_stream[launch]; }

private:
    template <class Value>
    double sum(Value value) const {
        double total = 0;
        for (const auto& g : m_gpus) total += static_cast<double>(value(*g));
        return total;
    }

    /// Of all GPUs, since power-on.
    struct totals {
        std::uint64_t requests = 0, responses = 0, unexpected = 0, corrupt = 0, failed = 0;
    };
    totals counted() const;
    totals since_reset() const;

    std::shared_ptr<recording> m_what;
    fabric::interconnect& m_fabric;
    std::vector<std::unique_ptr<replica>> m_replicas;
    std::vector<std::unique_ptr<gpu_player>> m_gpus;  // by terminal
    std::vector<std::uint32_t> m_first_stream;
    totals m_at_reset;
};

}  // namespace fabricvp::gpu::replay
