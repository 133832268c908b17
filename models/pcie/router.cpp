// SPDX-License-Identifier: Apache-2.0
#include "pcie/router.h"

#include <algorithm>

namespace fabricvp::pcie {

port& router::add_port(const char* name, const port_params& params) {
    m_ports.push_back(std::make_unique<port>(name, params, static_cast<port_owner&>(*this)));
    m_ingress.emplace_back();
    m_weights.push_back(1);
    m_egress.emplace_back();
    return *m_ports.back();
}

unsigned router::index_of(const port& p) const {
    unsigned i = 0;
    while (m_ports[i].get() != &p) ++i;
    return i;
}

void router::tlp_arrived(port& from, const tlp_ptr& t) { tlp_routed(t, index_of(from)); }

void router::tlp_routed(const tlp_ptr& t, unsigned ingress) {
    const auto egress = route(*t, ingress);
    if (egress != here) {
        forward(t, ingress, egress);
        return;
    }
    if (ingress < ports()) m_ports[ingress]->release(*t, t->tail);
    accept(t, ingress);
}

void router::enqueue(const tlp_ptr& t, unsigned ingress, unsigned egress, const tlp_ptr& frees) {
    m_ingress[ingress].push(t, egress, frees);
    ++m_egress[egress].queued;
    arbitrate(egress);
}

void router::transmitter_ready(port& from) { arbitrate(index_of(from)); }

void router::arbitrate(unsigned egress) {
    auto& e = m_egress[egress];
    if (e.queued == 0) return;
    auto& out = *m_ports[egress];
    if (!out.up()) {
        discard(egress);
        return;
    }
    if (!out.idle()) {
        out.call_when_idle();
        return;
    }
    const auto sources = static_cast<unsigned>(m_ingress.size());
    for (unsigned tried = 0; tried < sources; ++tried) {
        const auto ingress = e.next_grant;
        if (grant(egress, ingress)) {
            if (++e.consecutive_grants >= m_weights[ingress]) {
                e.consecutive_grants = 0;
                e.next_grant = (ingress + 1) % sources;
            }
            return;
        }
        e.consecutive_grants = 0;
        e.next_grant = (ingress + 1) % sources;
    }
}

void router::link_changed(port& p, link_event what) {
    const auto index = index_of(p);
    port_changed(index, what);
    if (what == link_event::down) discard(index);
}

/// What waits for a link that is down does not wait for it to come up: the device there will be another.
void router::discard(unsigned egress) {
    for (unsigned ingress = 0; ingress < m_ingress.size(); ++ingress)
        for (unsigned flow = 0; flow < flow_classes; ++flow)
            while (const auto* head = m_ingress[ingress].eligible(flow)) {
                if (head->egress != egress) {
                    if (m_ports[head->egress]->idle()) arbitrate(head->egress);
                    const auto* now_first = m_ingress[ingress].eligible(flow);
                    if (!now_first || now_first->egress != egress) break;
                    continue;
                }
                const auto entry = *head;
                m_ingress[ingress].pop(flow);
                --m_egress[egress].queued;
                if (ingress < ports() && entry.frees) m_ports[ingress]->release(*entry.frees, now());
                ++discarded;
                undeliverable(entry.packet, egress);
            }
}

bool router::grant(unsigned egress, unsigned ingress) {
    auto& in = m_ingress[ingress];
    auto& out = *m_ports[egress];
    // Of this port's heads that may go there, the one that came first.
    int best = -1;
    std::uint32_t best_order = 0;
    for (unsigned flow = 0; flow < flow_classes; ++flow) {
        const auto* head = in.eligible(flow);
        if (!head || head->egress != egress) continue;
        if (best >= 0 && static_cast<std::int32_t>(head->packet->order - best_order) > 0) continue;
        if (!out.can_send(*head->packet)) continue;
        best = static_cast<int>(flow);
        best_order = head->packet->order;
    }
    if (best < 0) return false;
    const auto entry = *in.eligible(static_cast<unsigned>(best));
    in.pop(static_cast<unsigned>(best));
    --m_egress[egress].queued;
    if (span_recorder::on() && ingress < ports())
        if (const auto* next = in.front(static_cast<unsigned>(best)))
            next->packet->pass(m_ports[ingress]->fifo_span, span_kind::queueing, now());
    const auto received = entry.packet->tail;
    const auto tail_ready = ingress < ports() ? received + m_ports[ingress]->params.processing : now();
    const auto left = out.send(entry.packet, tail_ready);
    if (ingress < ports() && entry.frees) m_ports[ingress]->release(*entry.frees, left);
    if (m_egress[egress].queued) out.call_when_idle();
    // New heads may be bound for other ports, which are not going to ask on their own.
    for (unsigned flow = 0; flow < flow_classes; ++flow)
        if (const auto* head = in.eligible(flow); head && head->egress != egress && m_ports[head->egress]->idle())
            arbitrate(head->egress);
    return true;
}

void router::clear_queues() {
    for (auto& i : m_ingress) i.clear();
    for (auto& e : m_egress) e = egress_state{};
}

void router::reset() {
    clear_queues();
    model::reset();
}

}  // namespace fabricvp::pcie
