// SPDX-License-Identifier: Apache-2.0
#include "hca/queues/event_queues.h"

#include <cstring>

#include "base/counted_warning.h"
#include "base/log.h"

namespace fabricvp::hca {

namespace {
constexpr std::uint8_t nowhere = 0xff;
}

event_queues::event_queues(const sc_core::sc_module_name& name, const wiring& w)
    : model(name), m_adapter(w.adapter), m_bus(w.bus), m_translation(w.translation) {
    m_routes.fill(nowhere);
}

unsigned event_queues::add(unsigned number, const std::uint8_t* c) {
    if (number >= m_queues.size()) return HCA_BAD_INDEX;
    auto& q = m_queues[number];
    if (q.valid) return HCA_BAD_OBJECT_STATE;
    const auto log_size = hca_get(c, HCA_EQC_LOG_SIZE), interrupt = hca_get(c, HCA_EQC_INTERRUPT);
    if (log_size < 1 || log_size > 22) return HCA_BAD_PARAMETER;
    const auto serial = q.serial + 1;
    q = {};
    q.serial = serial;
    q.valid = true;
    q.state = hca_get(c, HCA_EQC_STATE);
    q.interrupt = interrupt;
    q.log_size = log_size;
    q.domain = hca_get(c, HCA_EQC_PD);
    q.lkey = hca_get(c, HCA_EQC_LKEY);
    q.start = hca_get_long(c, HCA_EQC_START);
    q.consumer = hca_get(c, HCA_EQC_CONSUMER);
    q.producer = hca_get(c, HCA_EQC_PRODUCER);
    std::memcpy(q.context.data(), c, q.context.size());
    return HCA_OK;
}

unsigned event_queues::remove(unsigned number, std::uint8_t* context) {
    if (!exists(number)) return HCA_BAD_INDEX;
    auto& q = m_queues[number];
    if (context) {
        std::memcpy(context, q.context.data(), q.context.size());
        hca_set(context, HCA_EQC_STATUS, q.status);
        hca_set(context, HCA_EQC_STATE, q.state);
        hca_set(context, HCA_EQC_CONSUMER, q.consumer);
        hca_set(context, HCA_EQC_PRODUCER, q.producer);
    }
    dropped += q.waiting.size();
    const auto serial = q.serial;
    q = {};
    q.serial = serial;
    for (auto& r : m_routes)
        if (r == number) r = nowhere;
    return HCA_OK;
}

unsigned event_queues::route(unsigned number, std::uint64_t mask, bool unmap) {
    if (!exists(number)) return HCA_BAD_INDEX;
    for (unsigned type = 0; type < m_routes.size(); ++type) {
        if (!(mask >> type & 1)) continue;
        if (!unmap)
            m_routes[type] = static_cast<std::uint8_t>(number);
        else if (m_routes[type] == number)
            m_routes[type] = nowhere;
    }
    return HCA_OK;
}

void event_queues::post(const event_queue_entry& e) {
    const auto type = hca_get(e.bytes.data(), HCA_EQE_TYPE);
    if (const auto to = m_routes[type % m_routes.size()]; to != nowhere) return post(to, e);
    if (dropped.total() == 0)
        log(log_level::info, *this,
            "no event queue takes events of type {:#x}; further ones that are lost are only counted", type);
    ++dropped;
}

void event_queues::post(unsigned number, const event_queue_entry& e) {
    if (!exists(number) || m_queues[number].status) {
        ++dropped;
        return;
    }
    auto& q = m_queues[number];
    q.waiting.push_back(e);
    q.waiting.back().posted_at = now();
    pump(number);
}

/// Writes what waits, one after the other. What is written at once comes back here: then the loop outside goes on.
void event_queues::pump(unsigned number) {
    auto& q = m_queues[number];
    if (q.pumping) return;
    q.pumping = true;
    while (!q.writing && !q.waiting.empty()) write_next(number);
    q.pumping = false;
}

void event_queues::write_next(unsigned number) {
    auto& q = m_queues[number];
    if (q.producer - q.consumer >= 1u << q.log_size) {
        count_warning(overflows, *this, "event queue {} is full", number);
        q.status = HCA_STATUS_OVERFLOW;
        dropped += q.waiting.size();
        q.waiting.clear();
        post(event_queue_entry(HCA_EVENT_EQ_OVERFLOW).set(HCA_EQE_NUMBER, number));
        return;
    }
    q.writing = true;
    const auto e = q.waiting.front();
    q.waiting.pop_front();
    const auto slot = q.start + HCA_EQE_SIZE * std::uint64_t{q.producer & ((1u << q.log_size) - 1)};
    m_translation.translate({q.lkey, q.domain, slot, HCA_EQE_SIZE, local_write, true},
                            [this, number, e, serial = q.serial](violation v, const bus_ranges& where) {
                                if (auto& current = m_queues[number]; current.valid && current.serial == serial)
                                    write(number, e, v, where);
                                else
                                    ++dropped;
                            });
}

void event_queues::write(unsigned number, const event_queue_entry& e, violation v, const bus_ranges& where) {
    auto& q = m_queues[number];
    q.writing = false;
    if (v != violation::none || where.size() != 1) {
        count_warning(write_failures, *this, "the buffer of event queue {} cannot be written", number);
        q.status = HCA_STATUS_WRITE_FAILED;
        dropped += q.waiting.size() + 1;
        q.waiting.clear();
        return;
    }
    auto bytes = allocate_slice(HCA_EQE_SIZE);
    std::memcpy(bytes.data(), e.bytes.data(), HCA_EQE_SIZE);  // with the owner bit 0: software's
    m_bus.write(where[0].address, bytes);
    ++q.producer;
    ++events;
    if (span_recorder::on()) {
        span_trail spans;
        spans.resume(e.posted_at);
        spans.pass(event_span, span_kind::service, now());
        span_recorder::current().finish(spans, e.posted_at, now(), this, "event",
                                        hca_get(e.bytes.data(), HCA_EQE_TYPE));
    }
    if (q.state == HCA_ARMED || q.state == HCA_ALWAYS_ARMED) fire(q);
    pump(number);
}

void event_queues::fire(queue& q) {
    if (q.state != HCA_ALWAYS_ARMED) q.state = HCA_FIRED;
    ++interrupts;
    m_adapter.interrupt(q.interrupt);
}

void event_queues::arm(unsigned number) {
    if (!exists(number)) return;
    auto& q = m_queues[number];
    if (q.state != HCA_ALWAYS_ARMED) q.state = HCA_ARMED;
    if (q.producer != q.consumer) fire(q);
}

void event_queues::set_consumer(unsigned number, std::uint32_t counter) {
    if (!exists(number)) return;
    auto& q = m_queues[number];
    // Only what has been produced can have been consumed.
    if (q.producer - counter <= 1u << q.log_size)
        q.consumer = counter;
    else
        count_warning(bad_consumers, *this, "consumer counter {} of event queue {} is none that it can have", counter,
                      number);
}

void event_queues::reset() {
    for (auto& q : m_queues) {
        const auto serial = q.serial + 1;
        q = {};
        q.serial = serial;
    }
    m_routes.fill(nowhere);
    model::reset();
}

}  // namespace fabricvp::hca
