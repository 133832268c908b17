// SPDX-License-Identifier: Apache-2.0
#include "ethernet/switch.h"

namespace fabricvp::ethernet {

void switch_params::describe(parameter_visitor& v) {
    v.group("port", port, "each of its ports");
    v.field("latency", latency, between{0, 1e12}, "from a frame's last byte at the input to its leaving");
    v.field("addresses", addresses, between{1, 1e6},
            "stations whose ports it remembers; frames for others go everywhere");
    v.field("ageing", ageing, between{1e6, 1e18}, "a station that has been silent for so long is forgotten");
}

ethernet_switch::ethernet_switch(const sc_core::sc_module_name& name, const switch_params& p,
                                 const std::vector<std::string>& names)
    : model(name), params(p) {
    for (const auto& n : names)
        ports.push_back(std::make_unique<port>(n.c_str(), params.port, static_cast<port_owner&>(*this),
                                               static_cast<unsigned>(ports.size())));
}

const port* ethernet_switch::port_of(address who) const {
    const auto found = m_stations.find(who);
    return found == m_stations.end() || now() - found->second.last_seen >= params.ageing
               ? nullptr
               : ports[found->second.port].get();
}

void ethernet_switch::learn(address who, unsigned input) {
    if (is_group(who)) return;  // of no single station
    if (const auto found = m_stations.find(who); found != m_stations.end()) {
        found->second = {input, now()};
        return;
    }
    if (m_stations.size() >= params.addresses)  // those that are silent make room
        for (auto s = m_stations.begin(); s != m_stations.end();)
            s = now() - s->second.last_seen >= params.ageing ? m_stations.erase(s) : std::next(s);
    if (m_stations.size() < params.addresses) m_stations[who] = {input, now()};
}

void ethernet_switch::frame_arrived(port& at, const frame_ptr& f) {
    learn(f->source(), at.index);
    m_waiting.push_back({now() + params.latency, at.index, f});
    if (!m_forward.scheduled()) schedule(m_forward, m_waiting.front().when);
}

void ethernet_switch::forward() {
    while (!m_waiting.empty() && m_waiting.front().when <= now()) {
        const auto w = m_waiting.front();
        m_waiting.pop_front();
        const auto to = w.frame->destination();
        const auto* known = is_group(to) ? nullptr : port_of(to);
        if (!known) {
            ++flooded;
            for (auto& p : ports)
                if (p->index != w.input) p->send(w.frame);
        } else if (known->index == w.input) {
            ++filtered;
        } else {
            ++forwarded;
            ports[known->index]->send(w.frame);
        }
    }
    if (!m_waiting.empty()) schedule(m_forward, m_waiting.front().when);
}

void ethernet_switch::reset() {
    m_stations.clear();
    m_waiting.clear();
    cancel(m_forward);
    model::reset();
}

}  // namespace fabricvp::ethernet
