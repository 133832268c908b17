// SPDX-License-Identifier: Apache-2.0
// A third-party target: plain SystemC and TLM-2.0, loosely timed, nothing of FabricVP in it.
#pragma once

#include <cstdint>
#include <cstring>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

struct scratchpad : sc_core::sc_module {
    tlm_utils::simple_target_socket<scratchpad, 64> socket{"socket"};

    explicit scratchpad(const sc_core::sc_module_name& name) : sc_module(name) {
        socket.register_b_transport(this, &scratchpad::b_transport);
    }

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        wait(delay + sc_core::sc_time(20, sc_core::SC_NS));  // it may block: it is called from a thread
        delay = sc_core::SC_ZERO_TIME;
        if (payload.get_address() + payload.get_data_length() > sizeof bytes) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        auto* at = bytes + payload.get_address();
        if (payload.is_read()) std::memcpy(payload.get_data_ptr(), at, payload.get_data_length());
        if (payload.is_write()) std::memcpy(at, payload.get_data_ptr(), payload.get_data_length());
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    std::uint8_t bytes[4096] = {};
};
