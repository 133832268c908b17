// SPDX-License-Identifier: Apache-2.0
#include "hca/queues/send_queues.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "abi/hca.h"
#include "base/counted_warning.h"
#include "hca/queues/debug_text.h"

namespace fabricvp::hca {

void send_queue_params::describe(parameter_visitor& v) {
    v.field("doorbell_latency", doorbell_latency, between{0, 1e8},
            "from a doorbell's arrival to the fetch of what was posted");
    v.field("doorbells", doorbells, between{1, 4096},
            "doorbells that the HCA holds; further ones wait in the PCIe link's buffers, and keep its credits");
    v.field("fetch", fetch, between{64, 4096}, "bytes of entries that are fetched at a time");
    v.field("reads", reads, between{1, 64}, "such fetches that a queue pair may have under way");
    v.field("window", window, between{2, 16'384},
            "entries of a queue pair that may have been fetched and not completed");
}

namespace {

constexpr std::uint32_t max_bytes = 1u << 31;  // of a message
constexpr std::uint32_t max_inline = 1024;

datagram_address decode_address(const std::uint8_t* av) {
    datagram_address a;
    a.domain = hca_get(av, HCA_AV_PD);
    a.lid = static_cast<std::uint16_t>(hca_get(av, HCA_AV_LID));
    a.source_bits = static_cast<std::uint8_t>(hca_get(av, HCA_AV_SOURCE_BITS));
    a.service_level = static_cast<std::uint8_t>(hca_get(av, HCA_AV_SERVICE_LEVEL));
    a.global = hca_get(av, HCA_AV_GRH);
    a.traffic_class = static_cast<std::uint8_t>(hca_get(av, HCA_AV_TRAFFIC_CLASS));
    a.hop_limit = static_cast<std::uint8_t>(hca_get(av, HCA_AV_HOP_LIMIT));
    a.gid_index = static_cast<std::uint8_t>(hca_get(av, HCA_AV_GID_INDEX));
    a.flow_label = hca_get(av, HCA_AV_FLOW_LABEL);
    std::memcpy(a.gid.data(), av + HCA_AV_GID, a.gid.size());
    a.qpn = hca_get(av, HCA_UD_QPN);
    a.qkey = hca_get(av, HCA_UD_QKEY);
    return a;
}

/// Data segments up to the end; inline ones are put one behind the other. \param raw of special queue pairs, where an
/// inline one is only the place of the ICRC
bool decode_data(const std::uint8_t* wqe, std::uint32_t at, std::uint32_t size, send_wqe& e, bool raw = false) {
    std::uint64_t length = 0;
    std::vector<std::uint8_t> inlined;
    while (at + HCA_SEGMENT <= size) {
        const auto* s = wqe + at;
        if (hca_get(s, HCA_DATA_INLINE)) {
            const auto bytes = hca_get(s, HCA_DATA_INLINE_BYTES);
            if (bytes > max_inline || at + 4 + bytes > size) return false;
            if (!raw) inlined.insert(inlined.end(), s + 4, s + 4 + bytes);
            at += (4 + bytes + HCA_SEGMENT - 1) / HCA_SEGMENT * HCA_SEGMENT;
            length += bytes;
            continue;
        }
        const auto bytes = hca_get(s, HCA_DATA_BYTES);
        if (bytes) e.list.push_back({hca_get_long(s, HCA_DATA_ADDRESS), hca_get(s, HCA_DATA_KEY), bytes});
        length += bytes;
        at += HCA_SEGMENT;
    }
    if (length > max_bytes || (!inlined.empty() && !e.list.empty())) return false;
    if (!inlined.empty()) {
        e.inlined = allocate_slice(inlined.size());
        std::memcpy(e.inlined.data(), inlined.data(), inlined.size());
    }
    e.length = static_cast<std::uint32_t>(length);
    return true;
}

}  // namespace

bool decode_send(const std::uint8_t* wqe, std::uint32_t size, unsigned transport, send_wqe& e) {
    if (size < HCA_SEGMENT) return false;
    e.signalled = hca_get(wqe, HCA_NEXT_SIGNALLED);
    e.solicited = hca_get(wqe, HCA_NEXT_SOLICITED);
    e.immediate = hca_get(wqe, HCA_NEXT_IMMEDIATE);
    std::uint32_t at = HCA_SEGMENT;
    const bool send = e.opcode == HCA_OP_SEND || e.opcode == HCA_OP_SEND_IMMEDIATE;
    const bool write = e.opcode == HCA_OP_WRITE || e.opcode == HCA_OP_WRITE_IMMEDIATE;
    if (transport == HCA_QP_UD) {
        if (!send || size < at + HCA_UD_SIZE) return false;
        e.to = decode_address(wqe + at);
        return decode_data(wqe, at + HCA_UD_SIZE, size, e);
    }
    if (transport == HCA_QP_MLX) {
        e.permissive = hca_get(wqe, HCA_NEXT_PERMISSIVE);
        return send && decode_data(wqe, at, size, e, true);
    }
    if (e.opcode == HCA_OP_NOP) return true;
    if (!send && !write && !(transport == HCA_QP_RC && e.has_response())) return false;
    if (!send) {
        if (size < at + HCA_SEGMENT) return false;
        e.remote = hca_get_long(wqe + at, HCA_REMOTE_ADDRESS);
        e.rkey = hca_get(wqe + at, HCA_REMOTE_KEY);
        at += HCA_SEGMENT;
    }
    if (e.is_atomic()) {
        if (size < at + HCA_SEGMENT) return false;
        e.swap_add = hca_get_long(wqe + at, HCA_ATOMIC_SWAP_ADD);
        e.compare = hca_get_long(wqe + at, HCA_ATOMIC_COMPARE);
        at += HCA_SEGMENT;
    }
    if (!decode_data(wqe, at, size, e) || (e.has_response() && e.inlined)) return false;
    return !e.is_atomic() || e.length == 8;
}

send_queues::send_queues(const sc_core::sc_module_name& name, const send_queue_params& p, const wiring& w)
    : model(name),
      params(p),
      m_adapter(w.adapter),
      m_bus(w.bus),
      m_translation(w.translation),
      m_eqs(w.event_queues),
      m_qps(w.queue_pairs) {}

bool send_queues::ring(std::uint32_t uar, std::uint32_t high, std::uint32_t low, const span_trail& spans) {
    std::uint8_t words[8];
    hca_put32(words, high);
    hca_put32(words + 4, low);
    auto* q = m_qps.find(hca_get(words, HCA_SEND_QPN));
    if (!q || q->attributes.uar != uar) return false;
    auto& s = q->send;
    const auto count = hca_get(words, HCA_SEND_COUNT);
    const auto outstanding = static_cast<std::uint16_t>(s.posted - s.completed);
    const auto state = q->attributes.state;
    if (count == 0 || hca_get(words, HCA_SEND_INDEX) != s.posted) return false;
    if (outstanding + count > q->attributes.sq.entries()) {
        if (state == HCA_QP_RTS) overrun(*q);
        return false;
    }
    if (state != HCA_QP_RTS && state != HCA_QP_SQD && state != HCA_QP_SQE && state != HCA_QP_ERR) return false;
    s.batches.push_back({static_cast<std::uint16_t>(count), static_cast<std::uint8_t>(hca_get(words, HCA_SEND_OPCODE)),
                         static_cast<std::uint8_t>(hca_get(words, HCA_SEND_SIZE)), hca_get(words, HCA_SEND_FENCE) != 0,
                         spans});
    if (bus_log_channel.open())
        bus_log_channel.line(*this, {q->attributes.number}, "qp {:#x} doorbell: {} entries from {} on",
                             q->attributes.number, count, s.posted);
    s.posted = static_cast<std::uint16_t>(s.posted + count);
    posted += count;
    m_pending.push_back({now() + params.doorbell_latency, q->weak()});
    doorbell_queue_full += !has_room();
    if (!m_due.scheduled()) schedule(m_due, m_pending.front().when);
    return true;
}

/// A doorbell told of more entries than its ring holds: those that wait may have been written over.
void send_queues::overrun(queue_pair& q) {
    count_warning(overruns, *this, "queue pair {:#x} is posted beyond its ring", q.attributes.number);
    m_eqs.post(event_queue_entry(HCA_EVENT_WQ_CATASTROPHIC_ERROR).set(HCA_EQE_NUMBER, q.attributes.number));
    m_qps.fail(q);
}

void send_queues::due() {
    while (!m_pending.empty() && m_pending.front().when <= now()) {
        const auto p = m_pending.front();
        const bool full = !has_room();
        m_pending.pop_front();
        if (full) m_adapter.doorbell_room();
        if (auto* q = m_qps.find(p.qp)) {
            if (q->attributes.flushes_sends())
                m_adapter.wqes_ready(*q);
            else
                fetch(*q);
        }
    }
    if (!m_pending.empty()) schedule(m_due, m_pending.front().when);
}

void send_queues::fetch(queue_pair& q) {
    auto& s = q.send;
    const auto& sq = q.attributes.sq;
    while (!s.batches.empty() && !q.attributes.flushes_sends() && s.fetches.size() < params.reads) {
        std::uint32_t under_way = 0;
        for (const auto& f : s.fetches) under_way += f.count;
        if (s.wqes.size() + under_way >= params.window) return;
        const auto next = static_cast<std::uint16_t>(s.fetched + under_way);
        const auto waiting = static_cast<std::uint16_t>(s.posted - next);
        if (!waiting) return;
        const auto index = next & (sq.entries() - 1);
        const auto fit = std::max<std::uint64_t>(params.fetch / sq.stride(), 1);
        const auto count = static_cast<std::uint32_t>(
            std::min<std::uint64_t>({waiting, fit, sq.entries() - index, params.window - s.wqes.size() - under_way}));
        const auto bytes = allocate_slice(std::size_t{count} * sq.stride());
        const auto first = sq.wqe_address(index), serial = ++m_fetch_serial;
        s.fetches.push_back({serial, bytes, count, first, now()});
        ++fetches;
        read_region(m_bus, m_translation,
                    {sq.lkey, sq.domain, first, static_cast<std::uint32_t>(bytes.length), local_read}, bytes,
                    [this, qp = q.weak(), serial](bool ok) {
                        if (auto* current = m_qps.find(qp)) fetched(*current, serial, ok);
                    });
    }
}

/// Entries are decoded in their order: opcode and size of one stand in the one before.
void send_queues::fetched(queue_pair& q, std::uint64_t serial, bool ok) {
    auto& s = q.send;
    const auto at = std::find_if(s.fetches.begin(), s.fetches.end(), [&](const auto& f) { return f.serial == serial; });
    if (at == s.fetches.end()) return;  // of a queue pair that has been reset since
    at->done = true;
    at->ok = ok;
    if (q.attributes.state == HCA_QP_ERR) {
        // Those that wait behind another one are not going to be decoded.
        s.fetches.erase(std::remove_if(s.fetches.begin(), s.fetches.end(), [](const auto& f) { return f.done; }),
                        s.fetches.end());
        return m_adapter.wqes_ready(q);
    }
    while (!s.fetches.empty() && s.fetches.front().done) {
        const auto f = s.fetches.front();
        s.fetches.pop_front();
        decode(q, f);
    }
    m_adapter.wqes_ready(q);
    if (auto* current = m_qps.find(q.weak())) fetch(*current);
}

void send_queues::decode(queue_pair& q, const send_state::fetch& f) {
    auto& s = q.send;
    const auto stride = q.attributes.sq.stride();
    if (!f.ok) count_warning(failures, *this, "send WQEs of queue pair {:#x} cannot be read", q.attributes.number);
    for (std::uint32_t i = 0; i < f.count; ++i) {
        auto& b = s.batches.front();
        const auto* wqe = f.bytes.data() + std::size_t{i} * stride;
        send_wqe e;
        e.index = s.fetched++;
        e.opcode = b.opcode;
        e.fence = b.fence;
        e.spans.follow(b.spans);
        e.spans.pass(doorbell_span, span_kind::service, f.began);
        e.spans.pass(fetch_span, span_kind::service, now());
        const auto size = std::uint32_t{b.size} * HCA_SEGMENT;
        if (!f.ok || size > stride || !decode_send(wqe, size, q.attributes.type, e))
            e.syndrome = f.ok ? HCA_LOCAL_QP_OPERATION : HCA_LOCAL_PROTECTION;
        e.signalled |= q.attributes.signal_all;
        if (bus_log_channel.open())
            bus_log_channel.line(*this, {q.attributes.number, e.syndrome != 0}, "qp {:#x} send WQE {} at {:#x}: {}",
                                 q.attributes.number, e.index, f.first + std::uint64_t{i} * stride, text_of(e));
        s.wqes.push_back(std::move(e));
        // Opcode, size and fence of the next one stand in this one, unless a doorbell of its own tells them.
        if (--b.count == 0) {
            s.batches.pop_front();
        } else {
            b.opcode = static_cast<std::uint8_t>(hca_get(wqe, HCA_NEXT_OPCODE));
            b.size = static_cast<std::uint8_t>(hca_get(wqe, HCA_NEXT_SIZE));
            b.fence = hca_get(wqe, HCA_NEXT_FENCE);
        }
    }
}

void send_queues::reset() {
    const bool full = !has_room();
    m_pending.clear();
    cancel(m_due);
    model::reset();
    if (full) m_adapter.doorbell_room();
}

}  // namespace fabricvp::hca
