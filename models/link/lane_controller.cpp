// SPDX-License-Identifier: Apache-2.0
#include "link/lane_controller.h"

#include <algorithm>

#include "base/trace.h"

namespace fabricvp::link {

void lane_controller_params::describe(parameter_visitor& v) {
    v.choice("policy", policy, "when lanes are reversed, and how many");
    v.field("sample_time", sample_time, between{1e3, 1e12}, "how long the directions are watched for a decision");
    v.field("switch_time", switch_time, between{0, 1e12},
            "time for which a lane under reversal serves neither direction, draining included");
    v.field("threshold", threshold, between{0.01, 1},
            "share of a sample from which on a direction counts as saturated");
}

lane_controller::lane_controller(const sc_core::sc_module_name& name, const lane_controller_params& p,
                                 duplex_link& lanes, channel& a, channel& b)
    : model(name),
      params(p),
      m_duplex_link(lanes),
      m_directions{direction(a), direction(b)},
      m_policy(p.policy, p.threshold, lanes, a, b) {
    m_duplex_link.make_reversible(p.switch_time);
    m_duplex_link.on_change([this] { note_lanes(); });
    m_duplex_link.on_reversal([this](side to, std::uint64_t count, ticks until) {
        reversal_time += count * (until - now());
        if (trace::on())
            for (std::uint64_t i = 0; i < count; ++i)
                trace::slice(*this, to == side::a ? "reverse to a" : "reverse to b", now(), until);
    });
    note_lanes();
    sleep();
}

void lane_controller::note_lanes() {
    for (auto& w : m_directions) {
        const auto lanes = static_cast<double>(w.lanes.lanes());
        w.meter.set(lanes);
        trace::counter(w.lanes, "lanes", now(), lanes);
    }
}

void lane_controller::begin_sample() {
    for (auto& w : m_directions) {
        w.busy = w.lanes.busy.until(now());
        w.bytes = w.lanes.bytes.total();
    }
    m_since = now();
}

void lane_controller::take_sample() {
    lane_sample s;
    s.length = now() - m_since;
    bool moved = false;
    for (const auto d : {side::a, side::b}) {
        auto& w = m_directions[static_cast<unsigned>(d)];
        auto& of = s.directions[static_cast<unsigned>(d)];
        const auto busy = w.lanes.busy.until(now());
        of.busy = std::min(1.0, static_cast<double>(busy - std::min(busy, w.busy)) / static_cast<double>(s.length));
        of.bytes = w.lanes.bytes.total() - w.bytes;
        of.lanes = m_duplex_link.lanes(d);
        of.reversed = m_duplex_link.reversed(d);
        s.reversing += m_duplex_link.reversing(d);
        moved |= busy != w.busy || of.bytes;
    }
    begin_sample();
    if (!moved) {
        sleep();
        return;
    }
    ++samples;
    const auto decision = m_policy.decide(s);
    if (decision.lanes) reversals += m_duplex_link.reverse(decision.to, decision.lanes);
    schedule_in(m_sample, params.sample_time);
}

/// Nothing has moved for a sample: the next one is taken when something does.
void lane_controller::sleep() {
    for (auto& w : m_directions) w.lanes.at_next_send([this] { wake(); });
}

/// Samples go on as if none had been left out.
void lane_controller::wake() {
    for (auto& w : m_directions) w.lanes.at_next_send({});
    const auto left_out = (now() - m_since) / params.sample_time;
    const auto since = m_since + left_out * params.sample_time;
    begin_sample();
    m_since = since;
    schedule(m_sample, since + params.sample_time);
}

void lane_controller::kernel_launched() {
    restored_lanes += m_duplex_link.restore();
    m_policy.restart();
    begin_sample();
    if (m_sample.scheduled()) schedule_in(m_sample, params.sample_time);
}

void lane_controller::reset() {
    cancel(m_sample);
    m_policy.reset();
    model::reset();
    begin_sample();
    sleep();
}

}  // namespace fabricvp::link
