// SPDX-License-Identifier: Apache-2.0
// A traffic generator: a terminal with something that sends reads, writes and page-table reads to others, and answers
// theirs. Each 16-byte sector that two generators exchange has contents of its own: half of it follows from its
// address, half from source, destination and the request's number. So both check every byte, and that nothing was lost,
// came twice or went astray.
#pragma once

#include <random>

#include "base/growing_ring.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/slot_table.h"
#include "base/statistics.h"
#include "fabric/terminal.h"
#include "link/traffic_pattern.h"

namespace fabricvp::fabric {

using link::traffic_pattern;

struct generator_params {
    traffic_pattern pattern = traffic_pattern::uniform;
    std::uint64_t hot_spot = 0;
    double hot_share = 0.5;
    std::uint64_t requests = 0;
    std::uint64_t outstanding = 64;
    duration interval{0};
    bool random_intervals = true;
    std::uint64_t burst = 0;
    duration pause{1'000'000};
    duration phase{10'000'000};
    double writes = 0.0;
    double one_sector = 0.0;
    double page_tables = 0.0;
    double atomics = 0.0;
    byte_size span{1 << 20};
    duration service{100'000};
    duration start{0};
    std::uint64_t seed = 0;
    void describe(parameter_visitor& v);
};

class generator final : public terminal, private terminal_client {
public:
    const generator_params traffic;

    counter requests{*this, "requests", "1", "requests sent"};
    counter responses{*this, "responses", "1", "responses heard"};
    counter served{*this, "served", "1", "requests of others answered"};
    counter refused{*this, "refused", "1", "responses that say that the request failed"};
    counter corrupt{*this, "corrupt", "1", "lines that did not arrive as they were sent"};
    counter unexpected{*this, "unexpected", "1", "unexpected responses: they came twice, or went astray"};

    generator(const sc_core::sc_module_name& name, const generator_params& traffic, const terminal_params& params,
              unsigned number, const packet_format& format, const port_node* link);

    /// Terminals that take part, itself among them, in rising order; those from `first_generator` on are generators.
    void set_peers(const std::vector<unsigned>& participants, unsigned first_generator);
    /// Sends its requests; called by the fabric when it is complete, and after a reset.
    void begin();
    bool finished() const { return traffic.requests && responses.total() - m_responses_before >= traffic.requests; }

    void reset() override;

private:
    void packet_received(const packet_ptr& p) override;
    void tick();
    bool may_send();
    void pump();
    void send_one();
    void send_response();
    unsigned pick();
    bool chance(double share) { return share > 0 && static_cast<double>(m_random() >> 11) * 0x1p-53 < share; }

    span_stage m_service_span{*this, "service"};
    bool is_generator(unsigned terminal) const { return terminal >= m_first_generator; }

    std::vector<std::uint16_t> m_targets;
    unsigned m_first_generator = ~0u;
    bool m_first_half = true;          // of the participants
    slot_table<std::uint32_t> m_tags;  // of requests in flight
    std::mt19937_64 m_random;
    std::uint64_t m_sent = 0, m_in_flight = 0, m_responses_before = 0, m_epoch = 0;
    std::size_t m_next_target = 0;
    std::uint64_t m_burst = 0;  // requests since the last pause
    ticks m_next_time = 0;
    growing_ring<packet_ptr> m_serving;  // by when they are due
    calendar_event m_tick{method<&generator::tick>, this};
    calendar_event m_send_response{method<&generator::send_response>, this};
};

}  // namespace fabricvp::fabric
