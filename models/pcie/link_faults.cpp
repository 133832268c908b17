// SPDX-License-Identifier: Apache-2.0
#include "pcie/link_faults.h"

#include "pcie/port.h"

namespace fabricvp::pcie {

void link_faults::bit_error_arguments::describe(parameter_visitor& v) {
    v.field("rate", rate, between{0, 1e-3}, "chance that a bit arrives wrong");
    v.field("lasting", lasting, between{0, 1e15}, "for how long; 0 ps: for good");
}

void link_faults::down_arguments::describe(parameter_visitor& v) {
    v.field("lasting", lasting, between{0, 1e15}, "after which it trains again; 0 ps: until `retrain`");
}

void link_faults::training_arguments::describe(parameter_visitor& v) {
    v.field("lanes", lanes, between{0, 32}, "lanes each way; 0: as many as both ends have");
    v.field("generation", generation, between{0, 6}, "generation; 0: the highest of both ends");
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

link_faults::link_faults(port& at)
    : bit_errors(at, "bit_errors", "this end sends bits that arrive wrong", [this](const bit_error_arguments& a) {
          m_port.transmitter.set_bit_error_rate(a.rate);
          calendar::current().cancel(m_errors_end);
          if (a.lasting > 0) calendar::current().schedule_in(m_errors_end, a.lasting);
      }),
      link_down(at, "link_down", "the link goes down at both ends", [this](const down_arguments& a) {
          m_port.take_down();
          calendar::current().cancel(m_down_end);
          if (a.lasting > 0) calendar::current().schedule_in(m_down_end, a.lasting);
      }),
      retrain(at, "retrain", "the link trains again, with fewer lanes or more slowly if asked to", [this](const training_arguments& a) {
          m_port.train(a.lanes, static_cast<unsigned>(a.generation));
      }),
      drop(at, "drop", "the next TLPs that this end sends are lost behind the receiver's link layer",
           [this](const drop_arguments& a) { add(m_drop, a); }),
      poison(at, "poison", "the next TLPs with data that this end sends are poisoned", [this](const poison_arguments& a) { add(m_poison, a); }),
      lose_credit(at, "lose_credit", "this end loses credits and does not get them back while the link is up",
                  [this](const credit_arguments& a) {
                      m_port.lose_credits(static_cast<unsigned>(a.flow), {a.headers, a.data / 16});
                  }),
      m_port(at) {}

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

void link_faults::end_bit_errors() { m_port.transmitter.set_bit_error_rate(m_port.params.bit_error_rate); }

void link_faults::end_down() { m_port.train(); }

void link_faults::reset() {
    m_drop = m_poison = {};
    m_left = 0;
    calendar::current().cancel(m_errors_end);
    calendar::current().cancel(m_down_end);
}

}  // namespace fabricvp::pcie
