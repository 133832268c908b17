// SPDX-License-Identifier: Apache-2.0
#include "host/msi_writer.h"

#include <algorithm>

namespace fabricvp::host {

struct msi_writer::message {
    bus_payload* payload = allocate_payload();
    std::uint32_t data = 0;

    message() { payload->acquire(); }
    message(const message&) = delete;
    ~message() {
        payload->clear_extension<initiator_extension>();
        payload->release();
    }
};

msi_writer::msi_writer(const sc_core::sc_module_name& name) : model(name) {
    bus.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    m_initiator.initiator = this;
}

msi_writer::~msi_writer() = default;

void msi_writer::send(std::uint64_t address, std::uint32_t data) {
    auto m = std::make_unique<message>();
    m->data = data;
    auto& p = *m->payload;
    p.set_command(tlm::TLM_WRITE_COMMAND);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&m->data));
    p.set_data_length(4);
    p.set_streaming_width(4);
    p.set_byte_enable_ptr(nullptr);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    p.set_extension(&m_initiator);
    ++sent;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (bus->nb_transport_fw(p, phase, delay) == tlm::TLM_COMPLETED)
        finish(p);
    else
        m_in_flight.push_back(std::move(m));
}

void msi_writer::finish(const bus_payload& payload) {
    if (!payload.is_response_ok()) ++errors;
}

tlm::tlm_sync_enum msi_writer::nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    const auto at =
        std::find_if(m_in_flight.begin(), m_in_flight.end(), [&](const auto& m) { return m->payload == &payload; });
    if (at != m_in_flight.end()) {
        finish(payload);
        m_in_flight.erase(at);
    }
    return tlm::TLM_COMPLETED;
}

}  // namespace fabricvp::host
