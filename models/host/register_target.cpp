// SPDX-License-Identifier: Apache-2.0
#include "host/register_target.h"

namespace fabricvp::host {

bus_target::outcome register_target::access(bus_payload& payload, ticks&) {
    const auto offset = payload.get_address();
    const auto size = payload.get_data_length();
    if (payload.get_byte_enable_ptr()) {
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    } else if (size != 1 && size != 2 && size != 4 && size != 8) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    } else if (!payload.is_read() && !payload.is_write()) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);  // registers know no atomics
    } else {
        auto& bank = bank_at(offset);
        const bool ok = payload.is_read() ? bank.read(offset, payload.get_data_ptr(), size)
                                          : bank.write(offset, payload.get_data_ptr(), size);
        payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    return outcome::done;
}

unsigned register_target::debug_access(bus_payload& payload) {
    unsigned done = 0;
    for (; done < payload.get_data_length(); ++done) {
        const auto offset = payload.get_address() + done;
        auto* byte = payload.get_data_ptr() + done;
        auto& bank = bank_at(offset);
        if (!(payload.is_read() ? bank.read(offset, byte, 1, true) : bank.write(offset, byte, 1, true))) break;
    }
    return done;
}

}  // namespace fabricvp::host
