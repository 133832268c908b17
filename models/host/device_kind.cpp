// SPDX-License-Identifier: Apache-2.0
#include "host/device_kind.h"

#include <utility>

#include "abi/memory_map.h"
#include "base/kind_registry.h"
#include "host/rtc.h"
#include "host/uart.h"

namespace fabricvp::host {

std::vector<device_kind>& device_settings::kinds() {
    static std::vector<device_kind> all = {
        make_device_kind<uart, uart_params>("uart", "a serial port that is not connected"),
        make_device_kind<rtc, rtc_params>("rtc", "a real-time clock"),
    };
    return all;
}

void add_device_kind(const device_kind& kind) { add_kind(kind, "host devices"); }

void device_params::describe(parameter_visitor& v) {
    v.field("name", name, "name of the device; device0, device1, … unless given");
    v.field("base", base, between{0, 1e18},
            "physical address of its registers, which covers nothing else; must be given");
    v.field("interrupt", interrupt, between{0, VIRT_PLIC_SOURCES},
            "source of the interrupt controller that it drives alone; 0: none");
    device.describe(v);
    if (auto where = v.origin_of("name"); !where.empty()) origin = std::move(where);
}

}  // namespace fabricvp::host
