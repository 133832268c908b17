// SPDX-License-Identifier: Apache-2.0
#include "host/pcie_root_bus.h"

#include <cstring>

namespace fabricvp::host {

bus_target::outcome pcie_window::access(bus_payload& payload, ticks&) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (payload.is_read()) {
        ++unclaimed_reads;
        std::memset(payload.get_data_ptr(), 0xff, payload.get_data_length());
    } else if (payload.is_write()) {
        ++unclaimed_writes;
    } else {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    return outcome::done;
}

unsigned pcie_window::debug_access(bus_payload& payload) {
    if (payload.is_read()) std::memset(payload.get_data_ptr(), 0xff, payload.get_data_length());
    return payload.get_data_length();
}

}  // namespace fabricvp::host
