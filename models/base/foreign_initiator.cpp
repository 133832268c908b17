// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_initiator.h"

#include <algorithm>

namespace fabricvp {

foreign_initiator_base::foreign_initiator_base(const sc_core::sc_module_name& name) : model(name) {
    bus.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

pooled_ptr<foreign_initiator_base::request> foreign_initiator_base::accept(bus_payload& foreign_side,
                                                                           const sc_core::sc_time& delay,
                                                                           bool blocking) {
    ++accesses;
    auto r = m_pool.make();
    r->adapter = this;
    r->foreign_side = &foreign_side;
    r->blocking = blocking;
    r->completed = r->abandoned = false;
    // The foreign payload may have no memory manager, so one of ours goes on; the data are not copied.
    r->bus_side = allocate_payload();
    r->bus_side->acquire();
    r->bus_side->set_command(foreign_side.get_command());
    r->bus_side->set_address(foreign_side.get_address());
    r->bus_side->set_data_ptr(foreign_side.get_data_ptr());
    r->bus_side->set_data_length(foreign_side.get_data_length());
    r->bus_side->set_streaming_width(foreign_side.get_streaming_width());
    r->bus_side->set_byte_enable_ptr(foreign_side.get_byte_enable_ptr());
    r->bus_side->set_byte_enable_length(foreign_side.get_byte_enable_length());
    r->bus_side->set_extension(foreign_side.get_extension<atomic_extension>());
    r->bus_side->set_extension(foreign_side.get_extension<initiator_extension>());
    r->bus_side->set_extension(r.get());
    m_in_flight.push_back(r);
    schedule(r->due, std::max<ticks>((sc_core::sc_time_stamp() + delay).value(), now()));
    return r;
}

void foreign_initiator_base::b_transport(bus_payload& payload, sc_core::sc_time& delay) {
    const pooled_ptr<request> r = accept(payload, delay, true);
    while (!r->completed) sc_core::wait(r->finished);
    delay = sc_core::SC_ZERO_TIME;
}

tlm::tlm_sync_enum foreign_initiator_base::nb_transport_fw(bus_payload& payload, tlm::tlm_phase& phase,
                                                           sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) {  // END_RESP
        payload.release();
        return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    accept(payload, delay, false);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void foreign_initiator_base::send(request& r) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const auto status = bus->nb_transport_fw(*r.bus_side, phase, delay);
    if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP))
        schedule_in(r.responded, delay.value());
}

tlm::tlm_sync_enum foreign_initiator_base::nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase,
                                                           sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    if (auto* r = payload.get_extension<request>()) schedule_in(r->responded, delay.value());
    return tlm::TLM_COMPLETED;
}

void foreign_initiator_base::finish(request& done) {
    const auto at = std::find(m_in_flight.begin(), m_in_flight.end(), &done);
    const pooled_ptr<request> r = *at;
    m_in_flight.erase(at);
    const auto status = r->bus_side->get_response_status();
    const bool ended = !r->abandoned && status != tlm::TLM_INCOMPLETE_RESPONSE;
    r->foreign_side->set_response_status(ended ? status : tlm::TLM_GENERIC_ERROR_RESPONSE);
    r->foreign_side->set_dmi_allowed(false);
    r->bus_side->clear_extension<request>();
    r->bus_side->release();
    sc_core::sc_time delay = sc_core::sc_time::from_value(now()) - sc_core::sc_time_stamp();
    if (r->blocking) {
        r->completed = true;
        r->finished.notify(delay);
    } else {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        if (foreign().nb_transport_bw(*r->foreign_side, phase, delay) != tlm::TLM_ACCEPTED) r->foreign_side->release();
    }
    timeline().note_foreign_call();
}

void foreign_initiator_base::reset() {
    const auto under_way = m_in_flight;
    for (const auto& r : under_way) {
        r->abandoned = true;
        if (!r->due.scheduled())
            continue;  // its target has it, and reads and writes the foreign data until it responds
        cancel(r->due);
        schedule(r->responded, now());
    }
    model::reset();
}

bool foreign_initiator_base::get_direct_mem_ptr(bus_payload&, tlm::tlm_dmi& dmi) {
    dmi.allow_none();
    return false;
}

unsigned foreign_initiator_base::transport_dbg(bus_payload& payload) { return bus->transport_dbg(payload); }

}  // namespace fabricvp
