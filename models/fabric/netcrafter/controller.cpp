// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/controller.h"

#include <algorithm>

#include <fmt/format.h>

#include "abi/gpu_links.h"
#include "fabric/port.h"

namespace fabricvp::fabric::netcrafter {

namespace {

struct credits_of_port final : link_credits {
    port& out;
    explicit credits_of_port(port& p) : out(p) {}
    bool covers(virtual_channel c, unsigned flits) const override { return out.covers(c, flits); }
    bool request_credits(virtual_channel c, unsigned flits) override { return out.has_credit(c, flits); }
    void take(virtual_channel c, unsigned flits) override { out.take_credit(c, flits); }
};

}  // namespace

controller::controller(const sc_core::sc_module_name& name, const parameters& p, const packet_format& f, ticks cycle)
    : egress_stage(name),
      params(p),
      m_format(f),
      m_latency(p.latency * cycle),
      m_parts(p),
      m_stitcher(p, f, p.window * cycle) {}

void controller::serve(unsigned terminal, unsigned cluster) {
    auto at = std::find(m_clusters.begin(), m_clusters.end(), cluster);
    if (at == m_clusters.end()) {
        m_stitcher.queue.add_destination();
        m_clusters.push_back(cluster);
        at = m_clusters.end() - 1;
    }
    if (m_cluster_of.size() <= terminal) m_cluster_of.resize(terminal + 1);
    m_cluster_of[terminal] = static_cast<std::uint16_t>(at - m_clusters.begin());
}

/// A whole line of which its requester wants one sector. It says so in three bits of its request's address.
bool controller::trim(packet& p) {
    if (p.type != packet_class::read_response || p.kind != access_kind::read || p.valid_sectors != 0xf ||
        p.bytes < line_bytes)
        return false;
    if (__builtin_popcount(p.needed_sectors & 0xf) != 1) return false;
    const auto before = p.flits;
    p.valid_sectors = p.needed_sectors & 0xf;
    p.set_size(m_format, sector_bytes, false);
    ++trimmed;
    saved_by_trimming += before - p.flits;
    return true;
}

void controller::push(const packet_ptr& p) {
    if (m_parts.trimming) trim(*p);
    waiting.add(m_stitcher.queue.flits());
    ++packets;
    if (m_stitcher.queue.is_priority(m_stitcher.push(m_cluster_of[p->destination], p, now()))) ++prioritized;
}

packet_ptr controller::next(port& out) {
    if (!m_spare) m_spare = make_wire_unit();
    credits_of_port credits(out);
    const auto before = m_stitcher.pooled();
    const bool goes = m_stitcher.next(now(), credits, *m_spare);
    pooled += m_stitcher.pooled().waited - before.waited;
    if (!goes) {
        if (m_stitcher.wake() != never) out.call_at(m_stitcher.wake());
        return nullptr;
    }
    pooled_found += m_stitcher.pooled().found - before.found;
    pooled_time += m_stitcher.pooled().time - before.time;
    change();
    count(*m_spare);
    trace_waiting(*m_spare);
    const auto carrier = make_packet();
    const auto& head = *m_spare->parts[0].record;
    carrier->type = head.type;
    carrier->vc = head.vc;
    carrier->destination = head.destination;
    carrier->bytes = m_spare->used;
    carrier->flits = 0;  // its packets have taken their credits
    carrier->wire_bytes = static_cast<std::uint16_t>(m_spare->flits * m_format.flit.bytes);
    carrier->tail = m_spare->ready + m_latency;
    carrier->carried = m_spare.detach();
    return carrier;
}

packet_ptr controller::drain() {
    auto p = m_stitcher.drain();
    change();
    return p;
}

void controller::set_parts(bool stitching, bool trimming, pooling_mode pooling, sequencing_mode sequencing) {
    auto wanted = params;
    wanted.stitching = stitching;
    wanted.trimming = trimming;
    wanted.pooling = stitching ? pooling : pooling_mode::none;
    wanted.sequencing = sequencing;
    m_wanted = wanted;
    change();
}

std::uint32_t controller::settings() const {
    const auto& p = parts();
    std::uint32_t bits = 0;
    if (p.stitching) bits |= GPU_LINK_STITCHING;
    if (p.trimming) bits |= GPU_LINK_TRIMMING;
    if (p.pooling == pooling_mode::plain) bits |= GPU_LINK_POOLING;
    if (p.pooling == pooling_mode::selective) bits |= GPU_LINK_SELECTIVE_POOLING;
    if (p.sequencing == sequencing_mode::page_tables || p.sequencing == sequencing_mode::read_critical)
        bits |= GPU_LINK_SEQUENCING;
    if (p.sequencing == sequencing_mode::data) bits |= GPU_LINK_DATA_FIRST;
    return bits;
}

void controller::set(std::uint32_t bits) {
    // The register has one bit for sequencing; which walks it means is the machine's.
    const auto walks_first = params.sequencing == sequencing_mode::read_critical ? sequencing_mode::read_critical
                                                                                 : sequencing_mode::page_tables;
    set_parts(bits & GPU_LINK_STITCHING, bits & GPU_LINK_TRIMMING,
              bits & GPU_LINK_SELECTIVE_POOLING ? pooling_mode::selective
              : bits & GPU_LINK_POOLING         ? pooling_mode::plain
                                                : pooling_mode::none,
              bits & GPU_LINK_SEQUENCING   ? walks_first
              : bits & GPU_LINK_DATA_FIRST ? sequencing_mode::data
                                           : sequencing_mode::none);
}

std::string controller::shortage() const {
    const auto& q = m_stitcher.queue;
    if (q.entries() >= q.min_entries(q.clusters())) return {};
    return fmt::format("entries of {} flits: {} other cluster{} {}, for a longest packet on each virtual channel",
                       q.entries(), q.clusters(), q.clusters() == 1 ? " needs" : "s need", q.min_entries(q.clusters()));
}

void controller::change() {
    if (!m_wanted || !empty()) return;
    m_parts = *m_wanted;
    m_wanted.reset();
    m_stitcher.set(m_parts);
}

void controller::count(const wire_unit& u) {
    ++units;
    wire_flits += u.flits;
    padding_bytes += u.length() - u.used;
    for (std::size_t i = 0; i < u.parts.size(); ++i) {
        const auto& part = u.parts[i];
        if (part.record) {
            ++left;
            buffer_flits += part.flits;
        }
        if (i == 0) continue;
        if (part.what == wire_unit::part_kind::tail) {
            ++stitched_ends;
            ++saved_by_ends;
            sub_header_bytes += u.format.sub_header;
        } else {
            ++stitched;
            ++saved_by_stitching;
        }
    }
}

/// Where the time of the packets in a unit went.
void controller::trace_waiting(wire_unit& u) {
    for (auto& part : u.parts) {
        if (!part.record) continue;
        part.record->pass(queue_span, span_kind::queueing, now() - part.waited);
        part.record->pass(pooling_span, span_kind::queueing, now());
    }
}

void controller::reset() {
    m_stitcher.reset();
    m_wanted = params;
    change();
    model::reset();
}

}  // namespace fabricvp::fabric::netcrafter
