// SPDX-License-Identifier: Apache-2.0
// A program of its own around the platform: a kind of device that configurations may name then, a third-party model
// put on the bus by hand, and a firmware that uses both.
#include <cstdio>

#include <systemc>

#include "base/foreign_target.h"
#include "host/device_kind.h"
#include "platform/common/input_error.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/platform.h"
#include "scratchpad.h"
#include "stopwatch.h"

int sc_main(int, char*[]) { return 0; }  // SystemC's library refers to it

int main(int argc, char* argv[]) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: stopwatch_machine CONFIG FIRMWARE.elf\n");
        return 2;
    }
    try {
        fabricvp::host::add_device_kind(
            fabricvp::host::make_device_kind<stopwatch, stopwatch_params>("stopwatch", "counts and rings"));
        auto platform = fabricvp::platform::from_config(argv[1]);
        auto& host = platform->hardware().nodes[0]->host;

        scratchpad pad("scratchpad");
        fabricvp::foreign_target<64> adapter("adapter");
        adapter.out.bind(pad.socket);
        host.bus.map("scratchpad", SCRATCHPAD_BASE, SCRATCHPAD_SIZE, adapter.bus);

        fabricvp::image_set images;
        images.firmware = argv[2];
        platform->load_images(0, images);
        platform->serial(0).on_output([](char c) { std::putchar(c); });
        const auto& watch = dynamic_cast<const stopwatch&>(*host.devices.at(0));
        const auto result = platform->run_until(fabricvp::ticks_per_second);
        std::printf("%s; the alarm rang %llu times\n", result.detail.c_str(),
                    static_cast<unsigned long long>(watch.alarms.value()));
        return result.outcome == fabricvp::run_outcome::power_off ? result.guest_status : 1;
    } catch (const fabricvp::input_error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}
