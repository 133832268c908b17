// SPDX-License-Identifier: Apache-2.0
#include "hca/queues/receive_queues.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/counted_warning.h"
#include "hca/queues/debug_text.h"

namespace fabricvp::hca {

receive_wqe decode_receive(const std::uint8_t* wqe, std::uint32_t stride, std::uint32_t offset) {
    receive_wqe e;
    e.offset = offset;
    for (std::uint32_t at = HCA_SEGMENT; at + HCA_SEGMENT <= stride; at += HCA_SEGMENT) {
        const auto key = hca_get(wqe + at, HCA_DATA_KEY), bytes = hca_get(wqe + at, HCA_DATA_BYTES);
        if (key == HCA_INVALID_LKEY && bytes == 0) break;
        if (bytes) e.list.push_back({hca_get_long(wqe + at, HCA_DATA_ADDRESS), key, bytes});
        e.capacity += bytes;
    }
    return e;
}

void receive_queue_params::describe(parameter_visitor& v) {
    v.field("prefetch", prefetch, between{1, 64},
            "entries of a receive queue that are fetched at a time where they lie behind each other");
}

receive_queues::receive_queues(const sc_core::sc_module_name& name, const receive_queue_params& p, const wiring& w)
    : model(name),
      params(p),
      m_bus(w.bus),
      m_translation(w.translation),
      m_doorbell_records(w.doorbell_records),
      m_srqs(w.shared_receive_queues),
      m_eqs(w.event_queues),
      m_qps(w.queue_pairs) {}

void receive_queues::consume(queue_pair& q, done finished) {
    if (q.attributes.has_srq) return consume_shared(q, std::move(finished));
    consume_own(q, std::move(finished), false);
}

void receive_queues::consume_own(queue_pair& q, done finished, bool record_is_new) {
    auto& r = q.receive_queue;
    if (!r.ready.empty()) {
        r.wqe = std::move(r.ready.front());
        r.ready.pop_front();
        ++r.consumed;
        ++consumed;
        read_ahead(q);
        return finished(consume_status::consumed);
    }
    if (r.reading) {
        *r.reading = [this, finished = std::move(finished)](queue_pair* current) {
            if (!current || current->attributes.state == HCA_QP_ERR) return finished(consume_status::failed);
            consume_own(*current, finished, false);
        };
        return;
    }
    const auto posted = static_cast<std::uint16_t>(r.posted - r.consumed);
    if (posted > q.attributes.rq.entries()) return finished(consume_status::failed);
    if (posted) {
        r.reading = std::make_shared<std::function<void(queue_pair*)>>();  // nothing else reads these entries now
        return fetch_own(q, [this, finished = std::move(finished)](queue_pair* current, bool ok) {
            if (current) current->receive_queue.reading = nullptr;
            if (!ok) return finished(consume_status::failed);
            consume_own(*current, finished, true);
        });
    }
    if (record_is_new) {
        ++empty;
        return finished(consume_status::empty);
    }
    m_doorbell_records.read(
        q.attributes.rq.uar, q.attributes.rq.record,
        [this, qp = q.weak(), finished = std::move(finished)](bool ok, std::uint32_t count) mutable {
            auto* current = m_qps.find(qp);
            if (!current || !ok) return finished(consume_status::failed);
            current->receive_queue.posted = static_cast<std::uint16_t>(count);
            consume_own(*current, std::move(finished), true);
        });
}

/// Keeps entries at hand for the messages to come, as far as software is known to have posted them.
void receive_queues::read_ahead(queue_pair& q) {
    auto& r = q.receive_queue;
    if (r.reading || !r.reads_ahead || r.ready.size() > params.prefetch / 2) return;
    const auto next = static_cast<std::uint16_t>(r.consumed + r.ready.size());
    const auto known = static_cast<std::uint16_t>(r.posted - next);
    if (known > q.attributes.rq.entries()) return;
    r.reading = std::make_shared<std::function<void(queue_pair*)>>();
    const auto end = [this, follow = r.reading](queue_pair* current, bool ok) {
        if (current) {
            current->receive_queue.reading = nullptr;
            current->receive_queue.reads_ahead = ok;
        }
        if (*follow) (*follow)(current);
    };
    if (known) return fetch_own(q, end);
    m_doorbell_records.read(q.attributes.rq.uar, q.attributes.rq.record,
                            [this, qp = q.weak(), end, next](bool ok, std::uint32_t count) {
                                auto* current = m_qps.find(qp);
                                if (current && ok) current->receive_queue.posted = static_cast<std::uint16_t>(count);
                                end(current, ok);
                                current = m_qps.find(qp);
                                if (current && current->receive_queue.posted != next) read_ahead(*current);
                            });
}

/// Reads entries behind those that are there. \param finished hears null if the queue pair is gone then
void receive_queues::fetch_own(queue_pair& q, std::function<void(queue_pair* q, bool ok)> finished) {
    const auto& rq = q.attributes.rq;
    auto& r = q.receive_queue;
    const auto next = static_cast<std::uint16_t>(r.consumed + r.ready.size());
    const auto index = next & (rq.entries() - 1);
    const auto known = static_cast<std::uint16_t>(r.posted - next);
    const auto count = static_cast<std::uint32_t>(
        std::min<std::uint64_t>({known, params.prefetch, rq.entries() - index, icm::page / rq.stride()}));
    const auto bytes = allocate_slice(count * rq.stride());
    const auto first = rq.wqe_address(index);
    ++fetches;
    auto decode = [this, qp = q.weak(), bytes, first, count, finished = std::move(finished)](bool ok) {
        auto* current = m_qps.find(qp);
        if (!current) return finished(nullptr, false);
        ok = ok && current->attributes.state != HCA_QP_ERR;  // there, what was posted has been flushed
        const auto stride = current->attributes.rq.stride();
        for (std::uint32_t i = 0; ok && i < count; ++i) {
            current->receive_queue.ready.push_back(
                decode_receive(bytes.data() + i * stride, stride, static_cast<std::uint32_t>(first + i * stride)));
            if (bus_log_channel.open())
                bus_log_channel.line(*this, {qp.number}, "qp {:#x} receive WQE at {:#x}: {}", qp.number,
                                     first + i * stride, text_of(current->receive_queue.ready.back()));
        }
        finished(current, ok);
    };
    read_region(m_bus, m_translation, {rq.lkey, rq.domain, first, static_cast<std::uint32_t>(bytes.length), local_read},
                bytes, std::move(decode));
}

void receive_queues::remaining(queue_pair& q, std::function<void(std::uint32_t entries, bool readable)> finished) {
    m_doorbell_records.read(q.attributes.rq.uar, q.attributes.rq.record,
                            [this, qp = q.weak(), finished = std::move(finished)](bool ok, std::uint32_t count) {
                                auto* current = m_qps.find(qp);
                                if (!current) return;
                                const auto left = static_cast<std::uint16_t>(
                                    (ok ? count : current->receive_queue.posted) - current->receive_queue.consumed);
                                finished(left <= current->attributes.rq.entries() ? left : 0u, ok);
                            });
}

shared_receive_queue* receive_queues::find_shared(std::uint32_t srqn, std::uint32_t serial) {
    auto* s = m_srqs.find(srqn);
    return s && s->serial == serial ? s : nullptr;
}

void receive_queues::consume_shared(queue_pair& q, done finished) {
    auto* s = m_srqs.find(q.attributes.srqn);
    if (!s || s->failed) return finished(consume_status::failed);
    auto& waiting = m_waiters[s->number];
    waiting.push_back({q.weak(), std::move(finished)});
    if (waiting.size() == 1) serve(s->number, s->serial, false);
}

void receive_queues::serve(std::uint32_t srqn, std::uint32_t serial, bool record_is_new) {
    auto* s = find_shared(srqn, serial);
    if (!s || s->failed) return complete_waiter(srqn, consume_status::failed, nullptr);
    const auto posted = static_cast<std::uint16_t>(s->posted - s->consumed);
    if (posted > s->queue.entries()) return complete_waiter(srqn, consume_status::failed, nullptr);
    if (posted) return fetch_shared(srqn, serial);
    if (record_is_new) {
        ++empty;
        return complete_waiter(srqn, consume_status::empty, nullptr);
    }
    m_doorbell_records.read(s->queue.uar, s->queue.record, [this, srqn, serial](bool ok, std::uint32_t count) {
        auto* current = find_shared(srqn, serial);
        if (current && ok) current->posted = static_cast<std::uint16_t>(count);
        serve(srqn, serial, true);
    });
}

void receive_queues::fetch_shared(std::uint32_t srqn, std::uint32_t serial) {
    const auto* s = find_shared(srqn, serial);
    const auto stride = s->queue.stride();
    const auto at = s->next;
    const auto bytes = allocate_slice(stride);
    ++fetches;
    read_region(m_bus, m_translation, {s->queue.lkey, s->queue.domain, at, stride, local_read}, bytes,
                [this, srqn, serial, at, stride, bytes](bool ok) {
                    auto* current = find_shared(srqn, serial);
                    if (!current) return complete_waiter(srqn, consume_status::failed, nullptr);
                    if (!ok) {
                        current->failed = true;
                        count_warning(failures, *this, "entries of shared receive queue {:#x} cannot be read", srqn);
                        m_eqs.post(event_queue_entry(HCA_EVENT_SRQ_CATASTROPHIC_ERROR).set(HCA_EQE_NUMBER, srqn));
                        return complete_waiter(srqn, consume_status::failed, nullptr);
                    }
                    const auto wqe = decode_receive(bytes.data(), stride, static_cast<std::uint32_t>(at));
                    if (bus_log_channel.open())
                        bus_log_channel.line(*this, {}, "shared queue {:#x} receive WQE at {:#x}: {}", srqn, at,
                                             text_of(wqe));
                    current->next = std::uint64_t{hca_get32(bytes.data()) & ~0x3fu};
                    ++current->consumed;
                    ++consumed;
                    check_limit(srqn, serial, false);
                    complete_waiter(srqn, consume_status::consumed, &wqe);
                });
}

/// The one that is being served gets its entry, or hears why not; then the next one's turn has come.
void receive_queues::complete_waiter(std::uint32_t srqn, consume_status status, const receive_wqe* wqe) {
    auto found = m_waiters.find(srqn);
    if (found == m_waiters.end()) return;
    const auto w = std::move(found->second.front());
    found->second.pop_front();
    const bool more = !found->second.empty();
    if (!more) m_waiters.erase(found);
    if (auto* q = m_qps.find(w.qp); q && wqe) q->receive_queue.wqe = *wqe;
    w.finished(status);
    if (!more) return;
    const auto* s = m_srqs.find(srqn);
    serve(srqn, s ? s->serial : 0, false);
}

void receive_queues::check_limit(std::uint32_t srqn, std::uint32_t serial, bool record_is_new) {
    auto* s = find_shared(srqn, serial);
    if (!s || s->limit == 0 || static_cast<std::uint16_t>(s->posted - s->consumed) >= s->limit) return;
    if (record_is_new) {
        s->limit = 0;
        m_eqs.post(event_queue_entry(HCA_EVENT_SRQ_LIMIT).set(HCA_EQE_NUMBER, srqn));
        return;
    }
    m_doorbell_records.read(s->queue.uar, s->queue.record, [this, srqn, serial](bool ok, std::uint32_t count) {
        auto* current = find_shared(srqn, serial);
        if (current && ok) current->posted = static_cast<std::uint16_t>(count);
        check_limit(srqn, serial, true);
    });
}

void receive_queues::reset() {
    m_waiters.clear();
    model::reset();
}

}  // namespace fabricvp::hca
