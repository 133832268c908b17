// SPDX-License-Identifier: Apache-2.0
// Sets of messages between endpoints, copy engines most of all: what studies of contention are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "pcie/copy_engine.h"
#include "pcie/traffic_end.h"

namespace fabricvp::pcie {

/// A copy engine as an end of messages.
class engine_end final : public traffic_end {
public:
    explicit engine_end(copy_engine& engine) : m_engine(engine) {}
    sparse_memory& memory() override { return m_engine.memory; }
    std::uint64_t bus_address() const override;
    std::uint64_t channels() const override { return m_engine.params.channels; }
    void push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes, std::function<void()> handed_over,
              unsigned channel) override {
        m_engine.push(offset, bus_address, bytes, std::move(handed_over), channel);
    }
    void watch(std::uint64_t offset, std::uint64_t bytes, std::function<void()> arrived) override {
        m_engine.watch(offset, bytes, std::move(arrived));
    }

private:
    copy_engine& m_engine;
};

/// `bytes` of engine `source`'s memory go to engine `destination`'s memory.
struct message {
    static constexpr unsigned any_channel = ~0u;  ///< the engine's next one in turn

    unsigned source = 0, destination = 0;  ///< places in the list of engines
    std::uint64_t bytes = 0;
    ticks start = 0;  ///< from the call of run_traffic()
    unsigned channel = any_channel;
};

/// How a message ended. Times count from the call of run_traffic().
struct delivery {
    ticks sent = never;     ///< its last byte was handed to the sender's link
    ticks arrived = never;  ///< its last byte was in the receiver's memory; `never`: not within the limit
    bool intact = false;    ///< every byte is what was sent
};

/// Runs the simulation until all messages have arrived, or for `limit`. Messages of one engine are concurrent streams
/// as long as they have channels of their own; those of one channel go one after the other. Senders' and receivers'
/// memories are overwritten with fresh patterns. Ends must outlive what a limit has left under way. \throws
/// std::invalid_argument if an engine or channel does not exist, a message is empty or goes to its sender, the messages
/// of an engine do not fit its memory, or an engine has no address yet
std::vector<delivery> run_traffic(const std::vector<traffic_end*>& ends, const std::vector<message>& messages,
                                  ticks limit = ticks_per_second);
std::vector<delivery> run_traffic(const std::vector<copy_engine*>& engines, const std::vector<message>& messages,
                                  ticks limit = ticks_per_second);

}  // namespace fabricvp::pcie
