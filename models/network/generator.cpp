// SPDX-License-Identifier: Apache-2.0
#include "network/generator.h"

#include <algorithm>
#include <utility>

#include "base/random_streams.h"

namespace fabricvp::network {

namespace {

constexpr std::uint32_t qp_of_generators = 0x47454e, qkey_of_generators = 0x11111111;

std::uint8_t content(std::uint16_t lid, std::size_t at) { return static_cast<std::uint8_t>(lid * 31u + at); }

}  // namespace

void generator_params::describe(parameter_visitor& v) {
    v.group("link", port, "its port");
    v.choice(
        "pattern", pattern,
        "its destinations: uniform, hot_spot (the first one), neighbour, all_to_all, transpose, halo or alternating");
    v.field("packets", packets, between{0, 1e12}, "how many it sends; 0: for ever");
    v.field("payload", payload, between{8, 4096}, "of each packet");
    v.field("load", load, between{1e-6, 1}, "share of its link's rate at which it sends");
    v.field("service_levels", service_levels, between{1, 16}, "that it uses in turns: 0, 1, …");
    v.field("start", start, between{0, 1e15}, "when it begins");
    v.field("seed", seed, "seed of its choices; 0: follows from simulation.seed and the block's path");
}

generator::generator(const sc_core::sc_module_name& name, const generator_params& p)
    : model(name),
      params(p),
      link("link", p.port, static_cast<port_owner&>(*this)),
      m_random(block_seed(*this, p.seed)) {}

std::vector<unsigned> generator::targets_of(link::traffic_pattern pattern, const std::vector<unsigned>& participants,
                                            unsigned self) {
    if (pattern != link::traffic_pattern::hot_spot) return link::partners(pattern, participants, self);
    if (participants.front() == self) return {};
    return {participants.front()};
}

void generator::set_peers(const std::vector<unsigned>& participants, unsigned self, std::vector<std::uint16_t> lids) {
    m_lids = std::move(lids);
    m_self = self;
    m_targets = targets_of(params.pattern, participants, self);
    m_next_psn.assign(m_lids.size() * 16, 0);
    m_expected_psn.assign(m_lids.size() * 16, 0);
    m_payload = allocate_slice(params.payload.bytes);
    for (std::size_t i = 0; i < m_payload.length; ++i) m_payload.data()[i] = content(m_lids[self], i);
}

void generator::begin() {
    if (m_targets.empty()) return;
    m_next_time = std::max(now(), params.start.value);
    schedule(m_pump, m_next_time);
}

packet_ptr generator::next() {
    std::size_t target_index = m_next_target;
    if (params.pattern == link::traffic_pattern::uniform)
        target_index = static_cast<std::size_t>(m_random() % m_targets.size());
    const auto target = m_targets[target_index % m_targets.size()];
    const auto sl = m_next_target++ % params.service_levels;
    const auto p = make_packet();
    p->lrh.dlid = m_lids[target];
    p->lrh.slid = m_lids[m_self];
    p->lrh.sl = static_cast<std::uint8_t>(sl);
    p->bth.opcode = opcode_of(transport::ud, operation::send_only_immediate);
    p->bth.destination_qp = qp_of_generators;
    auto& psn = m_next_psn[target * 16 + sl];
    p->bth.psn = psn;
    psn = (psn + 1) & psn_mask;
    p->deth = {qkey_of_generators, m_self};
    p->immediate = static_cast<std::uint32_t>(now());
    p->reth.address = now();  // for the latency: the whole time, in a header that a datagram does not carry
    p->payload = m_payload;
    return p;
}

void generator::pump() {
    while (m_waiting || !finished()) {
        if (!m_waiting) {
            if (now() < m_next_time) {
                schedule(m_pump, m_next_time);
                return;
            }
            m_waiting = next();
            ++m_sent;
        }
        if (!link.has_room(link.lane_of(*m_waiting))) return;
        ++sent;
        link.send(std::exchange(m_waiting, nullptr));
        if (params.load < 1) {
            const auto wire = static_cast<double>(params.payload.bytes + 40);
            const auto rate =
                params.load * static_cast<double>(lane_rate(link.rate()).bytes_per_second * lanes_of(link.width()));
            m_next_time = std::max(m_next_time, now()) + static_cast<ticks>(wire / rate * 1e12);
        }
    }
}

void generator::packet_arrived(port& at, const packet_ptr& p) {
    at.release(*p, now());
    if (p->corrupted == corruption::payload) {
        ++bad_icrc;
        return;
    }
    const auto from = p->deth.source_qp;
    const auto& data = p->payload;
    const auto right = [&](std::size_t i) { return data.data()[i] == content(p->lrh.slid, i); };
    if (p->lrh.dlid != m_lids[m_self] || p->bth.destination_qp != qp_of_generators || from >= m_lids.size() ||
        p->lrh.slid != m_lids[from] || data.length == 0 || !right(0) || !right(data.length / 2) ||
        !right(data.length - 1)) {
        ++corrupt;
        return;
    }
    ++received;
    latency.add(now() - p->reth.address);
    auto& expected = m_expected_psn[from * 16 + p->lrh.sl];
    const auto ahead = (p->bth.psn - expected) & psn_mask;
    if (ahead > psn_mask / 2) {
        ++late;
        return;
    }
    missed += ahead;
    expected = (p->bth.psn + 1) & psn_mask;
}

void generator::reset() {
    cancel(m_pump);
    m_waiting = nullptr;
    m_sent = 0;
    m_next_target = 0;
    std::fill(m_next_psn.begin(), m_next_psn.end(), 0);
    std::fill(m_expected_psn.begin(), m_expected_psn.end(), 0);
    m_random.seed(block_seed(*this, params.seed));
    model::reset();
}

}  // namespace fabricvp::network
