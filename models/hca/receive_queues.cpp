// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queues.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "hca/entry_text.h"

namespace fabricvp::hca {

receive_entry decode_receive(const std::uint8_t* wqe, std::uint32_t stride, std::uint32_t offset) {
    receive_entry e;
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

receive_queues::receive_queues(const sc_core::sc_module_name& name, const receive_queue_params& p, bus_access& bus,
                               translation& memory, doorbell_records& records, shared_receive_queues& shared,
                               event_queues& events, queue_pairs& pairs)
    : model(name),
      params(p),
      m_bus(bus),
      m_memory(memory),
      m_records(records),
      m_shared(shared),
      m_events(events),
      m_pairs(pairs) {}

void receive_queues::take(queue_pair& q, done finished) {
    if (q.attributes.has_srq) return take_shared(q, std::move(finished));
    take_own(q, std::move(finished), false);
}

void receive_queues::take_own(queue_pair& q, done finished, bool record_is_new) {
    auto& r = q.receives;
    if (!r.ready.empty()) {
        r.entry = std::move(r.ready.front());
        r.ready.pop_front();
        ++r.taken;
        ++taken;
        return finished(take_status::taken);
    }
    const auto posted = static_cast<std::uint16_t>(r.posted - r.taken);
    if (posted > q.attributes.rq.entries()) return finished(take_status::failed);
    if (posted) return fetch_own(q, std::move(finished));
    if (record_is_new) {
        ++empty;
        return finished(take_status::empty);
    }
    m_records.read(q.attributes.rq.uar, q.attributes.rq.record,
                   [this, number = q.attributes.number, serial = q.serial, finished = std::move(finished)](
                       bool ok, std::uint32_t count) mutable {
                       auto* now = m_pairs.find(number, serial);
                       if (!now || !ok) return finished(take_status::failed);
                       now->receives.posted = static_cast<std::uint16_t>(count);
                       take_own(*now, std::move(finished), true);
                   });
}

void receive_queues::fetch_own(queue_pair& q, done finished) {
    const auto& rq = q.attributes.rq;
    const auto index = q.receives.taken & (rq.entries() - 1);
    const auto known = static_cast<std::uint16_t>(q.receives.posted - q.receives.taken);
    const auto count = static_cast<std::uint32_t>(
        std::min<std::uint64_t>({known, params.prefetch, rq.entries() - index, icm::page / rq.stride()}));
    const auto bytes = allocate_slice(count * rq.stride());
    const auto first = rq.entry(index);
    ++fetches;
    auto decode = [this, number = q.attributes.number, serial = q.serial, bytes, first, count,
                   finished = std::move(finished)](bool ok) {
        auto* now = m_pairs.find(number, serial);
        if (!now || !ok) return finished(take_status::failed);
        const auto stride = now->attributes.rq.stride();
        for (std::uint32_t i = 0; i < count; ++i) {
            now->receives.ready.push_back(
                decode_receive(bytes.data() + i * stride, stride, static_cast<std::uint32_t>(first + i * stride)));
            if (told.open())
                told.line(*this, "qp {:#x} receive entry at {:#x}: {}", number, first + i * stride,
                          text_of(now->receives.ready.back()));
        }
        take_own(*now, finished, true);
    };
    read_region(m_bus, m_memory, {rq.lkey, rq.domain, first, static_cast<std::uint32_t>(bytes.length), local_read},
                bytes, std::move(decode));
}

void receive_queues::remaining(queue_pair& q, std::function<void(std::uint32_t)> finished) {
    m_records.read(q.attributes.rq.uar, q.attributes.rq.record,
                   [this, number = q.attributes.number, serial = q.serial, finished = std::move(finished)](
                       bool ok, std::uint32_t count) {
                       auto* now = m_pairs.find(number, serial);
                       if (!now) return;
                       const auto left =
                           static_cast<std::uint16_t>((ok ? count : now->receives.posted) - now->receives.taken);
                       finished(left <= now->attributes.rq.entries() ? left : 0u);
                   });
}

shared_receive_queue* receive_queues::find_shared(std::uint32_t srqn, std::uint32_t serial) {
    auto* s = m_shared.find(srqn);
    return s && s->serial == serial ? s : nullptr;
}

void receive_queues::take_shared(queue_pair& q, done finished) {
    auto* s = m_shared.find(q.attributes.srqn);
    if (!s || s->failed) return finished(take_status::failed);
    auto& waiting = m_waiters[s->number];
    waiting.push_back({q.attributes.number, q.serial, std::move(finished)});
    if (waiting.size() == 1) serve(s->number, s->serial, false);
}

void receive_queues::serve(std::uint32_t srqn, std::uint32_t serial, bool record_is_new) {
    auto* s = find_shared(srqn, serial);
    if (!s || s->failed) return answer(srqn, take_status::failed, nullptr);
    const auto posted = static_cast<std::uint16_t>(s->posted - s->taken);
    if (posted > s->queue.entries()) return answer(srqn, take_status::failed, nullptr);
    if (posted) return fetch_shared(srqn, serial);
    if (record_is_new) {
        ++empty;
        return answer(srqn, take_status::empty, nullptr);
    }
    m_records.read(s->queue.uar, s->queue.record, [this, srqn, serial](bool ok, std::uint32_t count) {
        auto* now = find_shared(srqn, serial);
        if (now && ok) now->posted = static_cast<std::uint16_t>(count);
        serve(srqn, serial, true);
    });
}

void receive_queues::fetch_shared(std::uint32_t srqn, std::uint32_t serial) {
    const auto* s = find_shared(srqn, serial);
    const auto stride = s->queue.stride();
    const auto at = s->next;
    const auto bytes = allocate_slice(stride);
    ++fetches;
    read_region(m_bus, m_memory, {s->queue.lkey, s->queue.domain, at, stride, local_read}, bytes,
                [this, srqn, serial, at, stride, bytes](bool ok) {
                    auto* now = find_shared(srqn, serial);
                    if (!now) return answer(srqn, take_status::failed, nullptr);
                    if (!ok) {
                        now->failed = true;
                        log(log_level::warning, *this, "entries of shared receive queue {:#x} cannot be read", srqn);
                        m_events.post(event_entry(HCA_EVENT_SRQ_CATASTROPHE).set(HCA_EQE_NUMBER, srqn));
                        return answer(srqn, take_status::failed, nullptr);
                    }
                    const auto entry = decode_receive(bytes.data(), stride, static_cast<std::uint32_t>(at));
                    if (told.open())
                        told.line(*this, "shared queue {:#x} receive entry at {:#x}: {}", srqn, at, text_of(entry));
                    now->next = std::uint64_t{hca_get32(bytes.data()) & ~0x3fu};
                    ++now->taken;
                    ++taken;
                    check_limit(srqn, serial, false);
                    answer(srqn, take_status::taken, &entry);
                });
}

/// The one that is being served gets its entry, or hears why not; then the next one's turn has come.
void receive_queues::answer(std::uint32_t srqn, take_status status, const receive_entry* entry) {
    auto found = m_waiters.find(srqn);
    if (found == m_waiters.end()) return;
    const auto w = std::move(found->second.front());
    found->second.pop_front();
    const bool more = !found->second.empty();
    if (!more) m_waiters.erase(found);
    if (auto* q = m_pairs.find(w.qpn, w.serial); q && entry) q->receives.entry = *entry;
    w.finished(status);
    if (!more) return;
    const auto* s = m_shared.find(srqn);
    serve(srqn, s ? s->serial : 0, false);
}

void receive_queues::check_limit(std::uint32_t srqn, std::uint32_t serial, bool record_is_new) {
    auto* s = find_shared(srqn, serial);
    if (!s || s->limit == 0 || static_cast<std::uint16_t>(s->posted - s->taken) >= s->limit) return;
    if (record_is_new) {
        s->limit = 0;
        m_events.post(event_entry(HCA_EVENT_SRQ_LIMIT).set(HCA_EQE_NUMBER, srqn));
        return;
    }
    m_records.read(s->queue.uar, s->queue.record, [this, srqn, serial](bool ok, std::uint32_t count) {
        auto* now = find_shared(srqn, serial);
        if (now && ok) now->posted = static_cast<std::uint16_t>(count);
        check_limit(srqn, serial, true);
    });
}

void receive_queues::reset() {
    m_waiters.clear();
    model::reset();
}

}  // namespace fabricvp::hca
