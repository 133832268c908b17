// SPDX-License-Identifier: Apache-2.0
#include "hca/queues/completion_queues.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/counted_warning.h"
#include "base/trace_flow.h"
#include "hca/queues/debug_text.h"

namespace fabricvp::hca {

completion_queues::completion_queues(const sc_core::sc_module_name& name, const wiring& w)
    : model(name),
      m_bus(w.bus),
      m_translation(w.translation),
      m_doorbell_records(w.doorbell_records),
      m_eqs(w.event_queues) {}

void completion_queues::configure(unsigned log_entries) {
    m_log_entries = log_entries;
    m_queues.clear();
}

const completion_queues::queue* completion_queues::find(std::uint32_t number) const {
    const auto found = m_queues.find(number & ((1u << m_log_entries) - 1));
    return found != m_queues.end() && found->second->number == number ? found->second.get() : nullptr;
}

completion_queues::queue* completion_queues::find(std::uint32_t number, std::uint32_t serial) {
    auto* q = find(number);
    return q && q->serial == serial ? q : nullptr;
}

unsigned completion_queues::add(std::uint32_t number, const std::uint8_t* c) {
    auto& place = m_queues[number & ((1u << m_log_entries) - 1)];
    if (place) return HCA_BAD_OBJECT_STATE;
    const auto log_size = hca_get(c, HCA_CQC_LOG_SIZE);
    if (log_size < 1 || log_size > 22 || !m_eqs.exists(hca_get(c, HCA_CQC_EQN))) {
        m_queues.erase(number & ((1u << m_log_entries) - 1));
        return log_size < 1 || log_size > 22 ? HCA_BAD_PARAMETER : HCA_BAD_RESOURCE;
    }
    place = std::make_unique<queue>();
    auto& q = *place;
    q.number = number;
    q.serial = ++m_serial;
    q.state = hca_get(c, HCA_CQC_STATE);
    q.log_size = log_size;
    q.eqn = hca_get(c, HCA_CQC_EQN);
    q.uar = hca_get(c, HCA_CQC_UAR);
    q.domain = hca_get(c, HCA_CQC_PD);
    q.lkey = hca_get(c, HCA_CQC_LKEY);
    q.start = hca_get_long(c, HCA_CQC_START);
    q.consumer = hca_get(c, HCA_CQC_CONSUMER);
    q.producer = q.solicited = hca_get(c, HCA_CQC_PRODUCER);
    q.consumer_record = hca_get(c, HCA_CQC_CONSUMER_RECORD);
    std::memcpy(q.context.data(), c, q.context.size());
    return HCA_OK;
}

unsigned completion_queues::remove(std::uint32_t number, std::uint8_t* context) {
    auto* q = find(number);
    if (!q) return HCA_BAD_INDEX;
    if (context) {
        std::memcpy(context, q->context.data(), q->context.size());
        hca_set(context, HCA_CQC_STATUS, q->status);
        hca_set(context, HCA_CQC_STATE, q->state);
        hca_set(context, HCA_CQC_LOG_SIZE, q->log_size);
        hca_set(context, HCA_CQC_LKEY, q->lkey);
        hca_set(context, HCA_CQC_NOTIFIED, q->notified);
        hca_set(context, HCA_CQC_SOLICITED, q->solicited);
        hca_set(context, HCA_CQC_CONSUMER, q->consumer);
        hca_set(context, HCA_CQC_PRODUCER, q->producer);
    }
    if (q->resize) q->resize->finished(HCA_BAD_OBJECT_STATE);
    dropped += q->waiting.size();
    m_queues.erase(number & ((1u << m_log_entries) - 1));
    return HCA_OK;
}

void completion_queues::resize(std::uint32_t number, const std::uint8_t* m, std::function<void(unsigned)> finished) {
    auto* q = find(number);
    const auto log_size = hca_get(m, HCA_RESIZE_LOG_SIZE);
    if (!q) return finished(HCA_BAD_INDEX);
    if (q->resize || q->status) return finished(HCA_BAD_OBJECT_STATE);
    if (log_size < 1 || log_size > 22) return finished(HCA_BAD_PARAMETER);
    q->resize =
        std::make_unique<queue::resizing>(queue::resizing{q->waiting.size(), hca_get_long(m, HCA_RESIZE_START),
                                                          log_size, hca_get(m, HCA_RESIZE_LKEY), std::move(finished)});
    pump(*q);
}

void completion_queues::complete(std::uint32_t number, const completion_queue_entry& e) {
    auto* q = find(number);
    if (!q || q->status) {
        ++dropped;
        return;
    }
    q->waiting.push_back(e);
    pump(*q);
}

void completion_queues::remove_completions(std::uint32_t number, std::uint32_t qpn) {
    auto* q = find(number);
    if (!q) return;
    const auto of_it = [qpn](const completion_queue_entry& e) { return hca_get(e.bytes.data(), HCA_CQE_QPN) == qpn; };
    if (q->resize) {
        const auto end = q->waiting.begin() + static_cast<std::ptrdiff_t>(q->resize->after);
        q->resize->after -= static_cast<std::size_t>(std::count_if(q->waiting.begin(), end, of_it));
    }
    q->waiting.erase(std::remove_if(q->waiting.begin(), q->waiting.end(), of_it), q->waiting.end());
    pump(*q);
}

/// Writes what waits, one after the other. What is written at once comes back here: then the loop outside goes on.
void completion_queues::pump(queue& q) {
    if (q.pumping) return;
    q.pumping = true;
    const auto number = q.number, serial = q.serial;
    while (!q.writing && !q.status) {
        if (q.resize && q.resize->after == 0) {
            end_resize(q);
            if (!find(number, serial)) return;
            continue;
        }
        if (q.waiting.empty()) break;
        write_next(q);
        if (!find(number, serial)) return;
    }
    q.pumping = false;
}

/// What software has taken, the doorbell record tells.
void completion_queues::read_consumer(queue& q) {
    q.writing = true;
    m_doorbell_records.read(q.uar, q.consumer_record,
                            [this, number = q.number, serial = q.serial](bool ok, std::uint32_t consumer) {
                                auto* current = find(number, serial);
                                if (!current) return;
                                if (ok && current->producer - consumer <= 1u << current->log_size)
                                    current->consumer = consumer;
                                current->consumer_is_new = true;
                                current->writing = false;
                                pump(*current);
                            });
}

/// All older completions are written. Those that software has not taken keep their places, so the new buffer has to be
/// long enough for them.
void completion_queues::end_resize(queue& q) {
    const bool fits = q.producer - q.consumer <= 1u << q.resize->log_size;
    if (!fits && !q.consumer_is_new) return read_consumer(q);
    q.consumer_is_new = false;  // software may take more until that counts again
    const auto r = std::exchange(q.resize, nullptr);
    if (fits) {
        q.start = r->start;
        q.log_size = r->log_size;
        q.lkey = r->lkey;
    }
    r->finished(fits ? HCA_OK : HCA_BAD_SIZE);
}

void completion_queues::write_next(queue& q) {
    const auto number = q.number, serial = q.serial;
    if (q.producer - q.consumer >= 1u << q.log_size)  // as far as is known
        return q.consumer_is_new ? fail(q, HCA_CQ_OVERRUN) : read_consumer(q);
    q.writing = true;
    q.consumer_is_new = false;
    const auto e = q.waiting.front();
    q.waiting.pop_front();
    if (q.resize) --q.resize->after;
    const auto slot = q.start + HCA_CQE_SIZE * std::uint64_t{q.producer & ((1u << q.log_size) - 1)};
    m_translation.translate({q.lkey, q.domain, slot, HCA_CQE_SIZE, local_write, true},
                            [this, number, serial, e](violation v, const bus_ranges& where) {
                                if (auto* current = find(number, serial))
                                    write(*current, e, v, where);
                                else
                                    ++dropped;
                            });
}

void completion_queues::write(queue& q, const completion_queue_entry& e, violation v, const bus_ranges& where) {
    q.writing = false;
    if (v != violation::none || where.size() != 1) {
        ++dropped;
        return fail(q, HCA_CQ_ACCESS);
    }
    auto bytes = allocate_slice(HCA_CQE_SIZE);
    std::memcpy(bytes.data(), e.bytes.data(), HCA_CQE_SIZE);  // with the owner bit 0: software's
    if (span_recorder::on() && !e.spans.empty()) {
        auto spans = e.spans;
        spans.pass(cqe_span, span_kind::service, now());
        if (trace::on()) {
            std::uint64_t last;
            std::memcpy(&last, e.bytes.data() + HCA_CQE_SIZE - sizeof last, sizeof last);
            trace::note_result(*this, where[0].address + HCA_CQE_SIZE - sizeof last, last, now());
        }
        m_bus.write_last(where[0].address, bytes, {this, e.what, hca_get(e.bytes.data(), HCA_CQE_QPN)}, spans);
    } else {
        m_bus.write(where[0].address, bytes);
    }
    if (bus_log_channel.open())
        bus_log_channel.line(*this, {hca_get(e.bytes.data(), HCA_CQE_QPN), is_error(e.bytes.data())},
                             "cq {:#x} completion {} to bus address {:#x}: {}", q.number, q.producer, where[0].address,
                             text_of_completion(e.bytes.data()));
    ++q.producer;
    ++cqes;
    if (e.solicited) q.solicited = q.producer;
    if (q.state == HCA_ARMED || (q.state == HCA_ARMED_SOLICITED && e.solicited)) notify(q);
    pump(q);
}

void completion_queues::fail(queue& q, unsigned syndrome) {
    if (syndrome == HCA_CQ_OVERRUN)
        count_warning(overruns, *this, "completion queue {:#x} is full", q.number);
    else
        count_warning(write_failures, *this, "completion queue {:#x} cannot be written", q.number);
    q.status = syndrome == HCA_CQ_OVERRUN ? HCA_STATUS_OVERFLOW : HCA_STATUS_WRITE_FAILED;
    q.writing = false;
    dropped += q.waiting.size();
    q.waiting.clear();
    if (q.resize) std::exchange(q.resize, nullptr)->finished(HCA_BAD_OBJECT_STATE);
    m_eqs.post(event_queue_entry(HCA_EVENT_CQ_ERROR).set(HCA_EQE_NUMBER, q.number).set(HCA_EQE_CQ_SYNDROME, syndrome));
}

void completion_queues::notify(queue& q) {
    q.state = HCA_FIRED;
    q.notified = q.producer;
    m_eqs.post(q.eqn, event_queue_entry(HCA_EVENT_COMPLETION).set(HCA_EQE_NUMBER, q.number));
}

bool completion_queues::ring(std::uint32_t uar, std::uint32_t high, std::uint32_t low) {
    std::uint8_t words[8];
    hca_put32(words, high);
    hca_put32(words + 4, low);
    auto* q = find(hca_get(words, HCA_ARM_CQN));
    const auto wanted = hca_get(words, HCA_ARM_COMMAND);
    if (!q || q->uar != uar || (wanted != HCA_ARM_SOLICITED && wanted != HCA_ARM_NEXT && wanted != HCA_ARM_MULTIPLE))
        return false;
    ++armed;
    if (q->status) return true;
    if (q->producer - low <= 1u << q->log_size) q->consumer = low;
    q->state = wanted == HCA_ARM_SOLICITED ? HCA_ARMED_SOLICITED : HCA_ARMED;
    // What has come meanwhile is told at once, since software may have looked before.
    const auto until = wanted == HCA_ARM_SOLICITED ? q->solicited : q->producer;
    if (static_cast<std::int32_t>(until - low) > 0) notify(*q);
    return true;
}

void completion_queues::reset() {
    m_queues.clear();
    m_log_entries = 0;
    model::reset();
}

}  // namespace fabricvp::hca
