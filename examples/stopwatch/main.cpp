// SPDX-License-Identifier: Apache-2.0
// A program of its own around the platform: a stock machine, two more devices on its bus, and a firmware that uses them.
#include <cstdio>

#include <systemc>

#include "base/foreign_target.h"
#include "platform/console.h"
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
        auto platform = fabricvp::platform::from_config(argv[1]);
        auto& host = platform->hardware().nodes[0]->host;

        stopwatch watch("stopwatch");
        host.bus.map("stopwatch", STOPWATCH_BASE, STOPWATCH_SIZE, watch.bus);
        watch.interrupt.connect([&](bool level) { host.set_interrupt_source(STOPWATCH_IRQ, level); });

        scratchpad pad("scratchpad");
        fabricvp::foreign_target<64> adapter("adapter");
        adapter.out.bind(pad.socket);
        host.bus.map("scratchpad", SCRATCHPAD_BASE, SCRATCHPAD_SIZE, adapter.bus);

        fabricvp::image_set images;
        images.firmware = argv[2];
        platform->load_images(0, images);
        platform->serial(0).on_output([](char c) { std::putchar(c); });
        const auto result = platform->run_until(fabricvp::ticks_per_second);
        std::printf("%s; the alarm rang %llu times\n", result.detail.c_str(), static_cast<unsigned long long>(watch.alarms.value()));
        return result.outcome == fabricvp::run_outcome::power_off ? result.guest_status : 1;
    } catch (const fabricvp::input_error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}
