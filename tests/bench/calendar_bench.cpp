// SPDX-License-Identifier: Apache-2.0
// Timed events a second of the calendar against stock SystemC notifications: 1,000 timers at random times (1 ps … 1 us
// ahead), with 8 SC_THREADs waking every microsecond, each at a phase of its own, beside them. Both sides are measured
// in alternating rounds; a round is a child process, because SystemC elaborates once a process. Seconds are those of
// the processor: other load does not count. Prints one JSON object.
//
//     calendar_bench [ROUNDS [systemc]]    only stock SystemC, the yardstick of other measurements
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "base/calendar.h"

using namespace fabricvp;

namespace {

constexpr unsigned timers = 1'000, foreign_threads = 8;
constexpr ticks max_delay = 1'000'000;

std::uint64_t fired = 0;

/// The same sequence of delays on both sides.
struct random_delay {
    explicit random_delay(std::uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {}
    ticks operator()() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return 1 + ((state >> 32) * max_delay >> 32);
    }
    std::uint64_t state;
};

struct calendar_timer {
    explicit calendar_timer(std::uint64_t seed) : delay(seed) { calendar::current().schedule(event, delay()); }
    void fire() {
        ++fired;
        calendar::current().schedule_in(event, delay());
    }
    random_delay delay;
    calendar_event event{method<&calendar_timer::fire>, this};
};

struct systemc_timer : sc_core::sc_module {
    SC_HAS_PROCESS(systemc_timer);
    systemc_timer(const sc_core::sc_module_name& name, std::uint64_t seed) : sc_module(name), delay(seed) {
        SC_METHOD(fire);
        sensitive << event;
        dont_initialize();
        event.notify(sc_core::sc_time::from_value(delay()));
    }
    void fire() {
        ++fired;
        event.notify(sc_core::sc_time::from_value(delay()));
    }
    random_delay delay;
    sc_core::sc_event event;
};

struct waking_thread : sc_core::sc_module {
    SC_HAS_PROCESS(waking_thread);
    waking_thread(const sc_core::sc_module_name& name, unsigned phase) : sc_module(name), phase(phase) {
        SC_THREAD(run);
    }
    void run() {
        wait(sc_core::sc_time(phase, sc_core::SC_NS));
        for (;;) {
            wait(sc_core::sc_time(1, sc_core::SC_US));
            ++wakes;
        }
    }
    unsigned phase;
    std::uint64_t wakes = 0;
};

double measure(bool with_calendar, ticks span) {
    std::unique_ptr<calendar> c;
    if (with_calendar) c = std::make_unique<calendar>();
    std::vector<std::unique_ptr<calendar_timer>> calendar_side;
    std::vector<std::unique_ptr<systemc_timer>> systemc_side;
    std::vector<std::unique_ptr<waking_thread>> threads;
    for (unsigned i = 0; i < timers; ++i) {
        if (with_calendar)
            calendar_side.push_back(std::make_unique<calendar_timer>(i + 1));
        else
            systemc_side.push_back(std::make_unique<systemc_timer>(sc_core::sc_gen_unique_name("timer"), i + 1));
    }
    for (unsigned i = 0; i < foreign_threads; ++i)
        threads.push_back(std::make_unique<waking_thread>(sc_core::sc_gen_unique_name("thread"), i * 125));
    const auto run = [&](ticks until) {
        if (c)
            c->run_until(until);
        else
            sc_core::sc_start(sc_core::sc_time::from_value(until) - sc_core::sc_time_stamp());
    };
    run(span / 10);
    const std::uint64_t before = fired;
    const std::clock_t start = std::clock();
    run(span);
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (threads[0]->wakes + 2 < span / 1'000'000) return 0;
    return static_cast<double>(fired - before) / took;
}

double in_child(bool with_calendar, ticks span) {
    int ends[2];
    if (pipe(ends) != 0) return 0;
    const pid_t child = fork();
    if (child == 0) {
        const double rate = measure(with_calendar, span);
        const bool sent = write(ends[1], &rate, sizeof rate) == sizeof rate;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    double rate = 0;
    if (read(ends[0], &rate, sizeof rate) != sizeof rate) rate = 0;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return rate;
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    const auto rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 15;
    const bool only_systemc = argc > 2 && std::strcmp(argv[2], "systemc") == 0;
    if (rounds == 0 || (argc > 2 && !only_systemc)) {
        std::fputs("usage: calendar_bench [ROUNDS [systemc]]\n", stderr);
        return 2;
    }
    std::vector<double> calendar_side, systemc_side;
    for (unsigned long i = 0; i < rounds; ++i) {
        if (!only_systemc) calendar_side.push_back(in_child(true, 1'000'000'000));
        systemc_side.push_back(in_child(false, 150'000'000));
    }
    const double baseline = median(systemc_side), value = only_systemc ? baseline : median(calendar_side);
    if (value == 0 || baseline == 0) {
        std::fputs("calendar_bench: a round failed\n", stderr);
        return 1;
    }
    if (only_systemc)
        std::printf("{\"value\": %.0f, \"unit\": \"timed events/s\"}\n", value);
    else
        std::printf("{\"value\": %.0f, \"baseline\": %.0f, \"ratio\": %.3f, \"unit\": \"timed events/s\"}\n", value,
                    baseline, value / baseline);
    return 0;
}
