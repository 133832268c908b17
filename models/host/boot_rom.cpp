// SPDX-License-Identifier: Apache-2.0
#include "host/boot_rom.h"

#include <algorithm>

#include "abi/memory_map.h"

namespace fabricvp::host {

namespace {

struct reset_code {
    std::uint32_t instructions[6] = {
        0x00000297,  // auipc t0, 0
        0x02828613,  // addi  a2, t0, 40      fw_dynamic information
        0xf1402573,  // csrr  a0, mhartid
        0x0202b583,  // ld    a1, 32(t0)      device tree
        0x0182b283,  // ld    t0, 24(t0)      entry
        0x00028067,  // jr    t0
    };
    std::uint64_t entry = 0;
    std::uint64_t device_tree = 0;
    struct {
        std::uint64_t magic = 0x4942534f;  // "OSBI"
        std::uint64_t version = 2;
        std::uint64_t next_address = 0;
        std::uint64_t next_mode = 0;  // 1: supervisor, 3: machine
        std::uint64_t options = 0;
        std::uint64_t boot_hart = 0;
    } dynamic;
};
static_assert(sizeof(reset_code) == 88);

}  // namespace

boot_rom::boot_rom(const sc_core::sc_module_name& name) : bus_target(name), memory(VIRT_BOOT_ROM_SIZE) {}

void boot_rom::program(const boot_information& information) {
    reset_code code;
    code.entry = information.entry;
    code.device_tree = information.device_tree;
    code.dynamic.next_address = information.next_stage;
    code.dynamic.next_mode = information.next_stage ? 1 : 3;
    memory.write(0, &code, sizeof code);
}

bus_target::outcome boot_rom::access(bus_payload& payload, ticks&) {
    const auto offset = payload.get_address();
    const auto size = payload.get_data_length();
    if (!memory.contains(offset, size)) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    } else if (!payload.is_read() || payload.get_byte_enable_ptr()) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    } else {
        memory.read(offset, payload.get_data_ptr(), size);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    return outcome::done;
}

unsigned boot_rom::debug_access(bus_payload& payload) {
    const auto offset = payload.get_address();
    if (offset >= memory.size()) return 0;
    const auto size = std::min<std::uint64_t>(payload.get_data_length(), memory.size() - offset);
    if (payload.is_read())
        memory.read(offset, payload.get_data_ptr(), size);
    else
        memory.write(offset, payload.get_data_ptr(), size);
    return static_cast<unsigned>(size);
}

}  // namespace fabricvp::host
