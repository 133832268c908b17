// SPDX-License-Identifier: Apache-2.0
#include "host/finisher.h"

#include "abi/finisher.h"
#include "abi/memory_map.h"
#include "base/counted_warning.h"

namespace fabricvp::host {

finisher::finisher(const sc_core::sc_module_name& name)
    : register_target(name, VIRT_FINISHER_SIZE),
      command(registers, "command", FINISHER_COMMAND, 4, 0,
              {{"command", 0, 16, field_access::write_only, "0x3333 fail, 0x5555 pass (power off), 0x7777 reset"},
               {"status", 16, 16, field_access::write_only, "exit status of a failure"}}) {
    command.on_write([this](std::size_t, std::uint64_t written) { execute(written); });
}

void finisher::execute(std::uint64_t written) {
    command.set(0);
    const auto status = static_cast<int>(written >> 16 & 0xffff);
    switch (written & 0xffff) {
        case FINISHER_PASS:
            if (on_power_off) on_power_off(0);
            break;
        case FINISHER_FAIL:
            if (on_power_off) on_power_off(status ? status : 1);
            break;
        case FINISHER_RESET:
            if (on_reset) on_reset();
            break;
        default: count_warning(unknown_commands, *this, "unknown command {:#x} ignored", written);
    }
}

}  // namespace fabricvp::host
