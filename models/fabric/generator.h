// SPDX-License-Identifier: Apache-2.0
// A traffic generator in the place of a GPU: sends reads, writes and page-table reads to others, and answers theirs. What it
// serves has contents that follow from the address, so two generators check every byte that they exchange.
#pragma once

#include <random>

#include <boost/circular_buffer.hpp>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "fabric/terminal.h"

namespace fabricvp::fabric {

enum class traffic_pattern { uniform, hot_spot, neighbour };

struct generator_params {
    traffic_pattern pattern = traffic_pattern::uniform;
    std::uint64_t hot_spot = 0;
    double hot_share = 0.5;
    std::uint64_t requests = 0;
    std::uint64_t outstanding = 64;
    duration interval{0};
    bool random_intervals = true;
    double writes = 0.0;
    double page_tables = 0.0;
    double atomics = 0.0;
    byte_size span{1 << 20};
    duration service{100'000};
    duration start{0};
    std::uint64_t seed = 1;
    void describe(parameter_visitor& v);
};

class generator final : public model, private terminal_client {
public:
    const generator_params params;

    counter requests{*this, "requests", "1", "requests sent"};
    counter responses{*this, "responses", "1", "responses heard"};
    counter served{*this, "served", "1", "requests of others answered"};
    counter refused{*this, "refused", "1", "responses that say that the request failed"};
    counter corrupt{*this, "corrupt", "1", "lines that did not arrive as they were sent"};

    generator(const sc_core::sc_module_name& name, const generator_params& params, terminal& at);

    /// Terminals that requests go to, and those of them that are generators, as bit masks. None until then.
    void set_peers(std::uint64_t targets, std::uint64_t generators);
    /// Sends its requests; called by the fabric when it is complete, and after a reset.
    void begin();
    bool finished() const { return params.requests && responses.total() - m_heard_before >= params.requests; }

    void reset() override;

private:
    void packet_received(const packet_ptr& p) override;
    void tick();
    void pump();
    void send_one();
    void answer();
    unsigned pick();
    bool chance(double share) { return share > 0 && static_cast<double>(m_random() >> 11) * 0x1p-53 < share; }

    terminal& m_terminal;
    span_stage m_service_span{*this, "service"};
    std::vector<unsigned> m_targets;
    std::uint64_t m_generators = 0;
    std::mt19937_64 m_random;
    std::uint64_t m_sent = 0, m_under_way = 0, m_heard_before = 0, m_epoch = 0;
    std::size_t m_next = 0;
    ticks m_next_time = 0;
    boost::circular_buffer<packet_ptr> m_serving;  // by when they are due
    calendar_event m_tick{method<&generator::tick>, this};
    calendar_event m_answer{method<&generator::answer>, this};
};

}  // namespace fabricvp::fabric

namespace fabricvp {
template <>
struct choice_traits<fabric::traffic_pattern> {
    static constexpr std::pair<fabric::traffic_pattern, const char*> names[] = {{fabric::traffic_pattern::uniform, "uniform"},
                                                                                {fabric::traffic_pattern::hot_spot, "hot_spot"},
                                                                                {fabric::traffic_pattern::neighbour, "neighbour"}};
};
}  // namespace fabricvp
