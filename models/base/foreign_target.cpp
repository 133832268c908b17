// SPDX-License-Identifier: Apache-2.0
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "base/foreign_target.h"

#include <algorithm>

namespace fabricvp {

void foreign_target_params::describe(parameter_visitor& v) {
    v.choice("protocol", protocol, "how the target is called: blocking (b_transport) or non_blocking (nb_transport)");
    v.field("outstanding", outstanding, between{1, 256}, "accesses that a blocking target may hold at a time");
    v.field("atomics", atomics, "the target performs the atomic extension; otherwise atomics are refused");
}

void foreign_target_base::request::recycle() {
    payload = nullptr;
    abandoned = end_resp_pending = false;
}

foreign_target_base::foreign_target_base(const sc_core::sc_module_name& name, const foreign_target_params& p)
    : bus_target(name), params(p) {
    if (params.protocol == foreign_protocol::non_blocking) return;
    for (std::uint64_t i = 0; i < params.outstanding; ++i)
        sc_core::sc_spawn([this] { work(); }, sc_core::sc_gen_unique_name("worker"));
}

sc_core::sc_time foreign_target_base::run_ahead() const {
    return sc_core::sc_time::from_value(now()) - sc_core::sc_time_stamp();
}

bus_target::outcome foreign_target_base::access(bus_payload& payload, ticks&) {
    if (payload.get_extension<atomic_extension>() && !params.atomics) {
        ++rejected_atomics;
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return outcome::done;
    }
    ++accesses;
    auto r = m_pool.make();
    r->adapter = this;
    r->payload = &payload;
    r->due = now();
    m_waiting.push_back(std::move(r));
    if (params.protocol == foreign_protocol::non_blocking) {
        send_next();
    } else {
        m_work.notify(run_ahead());
        timeline().note_foreign_call();
    }
    return outcome::pending;
}

void foreign_target_base::work() {
    for (;;) {
        while (m_waiting.empty() || m_waiting.front()->due > now()) sc_core::wait(m_work);
        pooled_ptr<request> r = m_waiting.front();
        m_waiting.pop_front();
        m_in_flight.push_back(r);
        if (!m_waiting.empty())
            m_work.notify(sc_core::sc_time::from_value(std::max(m_waiting.front()->due, now()) - now()));
        sc_core::sc_time delay = run_ahead();
        foreign().b_transport(*r->payload, delay);
        respond_at(*r, (sc_core::sc_time_stamp() + delay).value());
    }
}

void foreign_target_base::send_next() {
    if (m_in_request_phase || m_waiting.empty()) return;
    pooled_ptr<request> r = m_waiting.front();
    m_waiting.pop_front();
    m_in_flight.push_back(r);
    m_in_request_phase = r.get();
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = run_ahead();
    const auto status = foreign().nb_transport_fw(*r->payload, phase, delay);
    timeline().note_foreign_call();
    if (status == tlm::TLM_ACCEPTED) return;
    const ticks when = std::max<ticks>((sc_core::sc_time_stamp() + delay).value(), now());
    if (m_in_request_phase == r.get()) schedule(m_channel_free, when);
    if (status == tlm::TLM_UPDATED && phase != tlm::BEGIN_RESP) return;
    r->end_resp_pending = status == tlm::TLM_UPDATED;
    respond_at(*r, when);
}

void foreign_target_base::release_request_channel() {
    m_in_request_phase = nullptr;
    send_next();
}

tlm::tlm_sync_enum foreign_target_base::nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase,
                                                        sc_core::sc_time& delay) {
    request* r = find(payload);
    if (!r) return tlm::TLM_COMPLETED;  // completed already: a harmless protocol error of the target
    const ticks when = std::max<ticks>((sc_core::sc_time_stamp() + delay).value(), now());
    if (m_in_request_phase == r && !m_channel_free.scheduled()) schedule(m_channel_free, when);
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    respond_at(*r, when);
    return tlm::TLM_COMPLETED;
}

foreign_target_base::request* foreign_target_base::find(const bus_payload& payload) {
    for (auto& r : m_in_flight)
        if (r->payload == &payload) return r.get();
    return nullptr;
}

void foreign_target_base::respond_at(request& r, ticks when) {
    if (!r.responded.scheduled()) schedule(r.responded, when);
}

void foreign_target_base::respond(request& done) {
    const auto at = std::find(m_in_flight.begin(), m_in_flight.end(), &done);
    const pooled_ptr<request> r = *at;
    m_in_flight.erase(at);
    if (r->end_resp_pending) {
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay = run_ahead();
        foreign().nb_transport_fw(*r->payload, phase, delay);
        timeline().note_foreign_call();
    }
    if (r->abandoned)
        abandon(*r->payload);
    else
        complete(*r->payload);
}

void foreign_target_base::reset() {
    for (auto& r : m_waiting) abandon(*r->payload);
    m_waiting.clear();
    for (auto& r : m_in_flight) r->abandoned = true;
    model::reset();
}

unsigned foreign_target_base::debug_access(bus_payload& payload) { return foreign().transport_dbg(payload); }

}  // namespace fabricvp
