// SPDX-License-Identifier: Apache-2.0
#include "pcie/link_faults.h"

#include <stdexcept>

#include <fmt/format.h>

#include "pcie/link_speed.h"
#include "pcie/port.h"

namespace fabricvp::pcie {

void link_faults::training_arguments::describe(parameter_visitor& v) {
    v.field("lanes", lanes, between{0, static_cast<double>(max_lanes)}, "lanes each way; 0: as many as both ends have");
    if (lanes && !is_width(lanes))
        throw std::invalid_argument(fmt::format("lanes: {} is no width: give 0, {}", lanes, width_list));
    v.field("generation", generation, between{0, static_cast<double>(max_generation)},
            "generation; 0: the highest of both ends");
}

void link_faults::packet_arguments::describe(parameter_visitor& v) {
    v.choice("flow", flow, "which TLPs");
    v.field("count", count, between{1, 1e9}, "how many of them");
}

void link_faults::credit_arguments::describe(parameter_visitor& v) {
    v.choice("flow", flow, "of which class");
    v.field("headers", headers, between{0, 128}, "header credits");
    v.field("data", data, between{0, 65536}, "data credits");
}

void link_faults::stuck_arguments::describe(parameter_visitor& v) {
    v.choice("flow", flow, "of which class");
    fault_duration_arguments::describe(v);
}

link_faults::link_faults(port& at)
    : bit_errors(at, "bit_errors", "this end sends bits that arrive wrong",
                 [this](const auto& a) {
                     m_bit_error_rate = a.rate;
                     restore();
                     m_errors_end.after(a.lasting);
                 }),
      link_down(at, "link_down", "the link goes down at both ends",
                [this](const auto& a) {
                    m_down = m_port.partner() != nullptr;
                    m_port.cut();
                    m_down_end.after(a.lasting);
                },
                {{0}, "after which it trains again; 0 ps: until `retrain`"}),
      retrain(at, "retrain", "the link trains again, with fewer lanes or more slowly if asked to",
              [this](const training_arguments& a) {
                  clear_training();
                  if (auto* other = m_port.partner()) other->faults.clear_training();
                  m_limit = a;
                  m_port.train();
              }),
      drop(at, "drop", "the next TLPs that this end sends are lost behind the receiver's link layer",
           [this](const auto& a) { add(m_drop, a); }, {flow_class::completion}),
      poison(at, "poison", "the next TLPs with data that this end sends are poisoned",
             [this](const auto& a) { add(m_poison, a); }),
      lose_credit(at, "lose_credit", "this end loses credits and does not get them back while the link is up",
                  [this](const credit_arguments& a) {
                      m_port.drop_credits(static_cast<unsigned>(a.flow), {a.headers, a.data / 16});
                  }),
      stuck(at, "stuck", "a queue of this end sends nothing; other classes go on where the order of TLPs lets them",
            [this](const stuck_arguments& a) {
                m_port.hold_queue(static_cast<unsigned>(a.flow));
                m_stuck_end.after(a.lasting);
            },
            {{{0}, "for how long, until all queues of this end go on; 0 ps: for good"}}),
      m_port(at),
      m_errors_end([this] {
          m_bit_error_rate.reset();
          restore();
      }),
      m_down_end([this] {
          m_down = false;
          m_port.train();
      }),
      m_stuck_end([this] { release_queues(); }) {}

/// The link may train again, with all lanes.
void link_faults::clear_training() {
    m_down = false;
    m_down_end.cancel();
    m_limit = {};
}

void link_faults::release_queues() {
    for (unsigned c = 0; c < flow_classes; ++c) m_port.release_queue(c);
}

void link_faults::restore() {
    m_port.transmitter.set_bit_error_rate(m_bit_error_rate.value_or(m_port.params.bit_error_rate));
}

void link_faults::add(pending& p, const packet_arguments& a) {
    p.left[static_cast<std::size_t>(a.flow)] += a.count;
    m_left += a.count;
}

bool link_faults::takes(pending& p, const tlp& t) {
    auto& left = p.left[static_cast<std::size_t>(t.flow())];
    if (left == 0) return false;
    --left;
    --m_left;
    return true;
}

void link_faults::repair() {
    m_drop = m_poison = {};
    m_left = 0;
    m_errors_end.cancel();
    m_stuck_end.cancel();
    release_queues();
    m_bit_error_rate.reset();
    restore();
    const bool trains = m_down || m_limit.lanes || m_limit.generation;
    clear_training();
    if (trains) m_port.train();
}

}  // namespace fabricvp::pcie
