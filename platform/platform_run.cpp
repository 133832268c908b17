// SPDX-License-Identifier: Apache-2.0
// Run control: the calendar runs in slices of simulated time whose borders depend on nothing but time, and everything
// around the simulation (consoles, debuggers, watchdog, `tohost`) is served between them.
#include <algorithm>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "platform/platform_state.h"
#include "platform/results/outcome.h"
#include "platform/run_failure.h"

namespace fabricvp {
namespace {

using wall_clock = std::chrono::steady_clock;

}  // namespace

run_result platform::implementation::run(ticks limit) {
    if (running || hardware->timeline.in_callback())
        throw std::logic_error("run_until() was called while the simulation runs");
    if (!started) start();
    running = true;
    ending.reset();
    if (onlooker) onlooker->run_begins();
    if (look) look->run_begins();
    pacing.active = pacing.slept = false;
    const auto began = wall_clock::now();
    const auto leave = [&](bool in_step) {
        running = false;
        stop_wanted = false;
        wall += wall_clock::now() - began;
        hardware->timeline.cancel(idle->event);
        for (auto& a : contexts) {
            a.serial->poll();
            if (a.script) a.script->poll(hardware->timeline.now());  // a guest's last words count
        }
        if (look && !in_step) return;
        if (onlooker) onlooker->run_ended(ending ? ending->detail : "");
        if (look) go_on_after_look();
    };
    end_at = never;
    slice_end = hardware->timeline.now();
    try {
        synchronizer ? run_with_ranks(limit) : run_slices(limit);
    } catch (...) {
        leave(false);
        throw;
    }
    leave(true);
    report_ends();
    return *ending;
}

void platform::implementation::run_slices(ticks limit) {
    auto& timeline = hardware->timeline;
    if (all_ended()) return end_by_nodes();
    while (true) {
        serve();
        serve_onlooker();
        if (stop_wanted) end(run_outcome::interrupted, "stopped on request");
        if (ending) return;
        if (timeline.now() >= limit) return end_by_limit();
        if (!step(limit)) return;
        if (timeline.now() >= end_at) return end_by_nodes();
        after_slice(limit);
    }
}

void platform::implementation::end_by_limit() {
    if (end_at != never)
        end_by_nodes();
    else
        end(run_outcome::time_limit, "the time limit was reached");
}

void platform::implementation::after_slice(ticks limit) {
    auto& timeline = hardware->timeline;
    if (recording) recording->sample(timeline.now());
    // Where stops of the calendar lie between slices, ranks would not see all of them; so a network's nodes are not
    // looked at there.
    if (!lookahead || timeline.now() >= slice_end || timeline.next_event_time() == never) check_tohost();
    if (timeline.now() >= end_at) end_by_nodes();
    if (ending) return;
    serve_resets();
    if (lookahead && timeline.now() < slice_end) return;
    if (const auto stuck = guard->check(timeline.now())) end(run_outcome::watchdog, *stuck);
    if (!ending && external_input_possible())
        pace(all_harts_wait());
    else if (!ending && input_wait && limit == never && !scheduled_input_pending())
        if (const auto guests = input_wait->look(timeline.now()); guests.some && guests.all)
            end(run_outcome::interrupted, input_wait_message);
}

/// One slice. \returns false if the run is over because nothing can happen any more
bool platform::implementation::step(ticks limit) {
    auto& timeline = hardware->timeline;
    const auto now = timeline.now();
    slice_end = std::min({limit, next_slice_end(now), end_at});
    for (const auto& a : contexts) {
        slice_end = std::min(slice_end, a.serial->next_input());
        if (a.script && !lookahead) slice_end = std::min(slice_end, std::max(a.script->deadline(), now + 1));
    }

    const bool quiet = timeline.next_event_time() == never && !sc_core::sc_pending_activity();
    if (quiet && end_at != never) {
        timeline.schedule(idle->event, slice_end = end_at);
    } else if (quiet) {
        const auto [stuck, harts] = guard->idle();
        if (stuck) {
            end(run_outcome::watchdog, "watchdog: nothing is scheduled any more, and something still waits: " + harts);
            return false;
        }
        if (!scheduled_input_pending() && !external_input_possible()) {
            if (limit == never) {
                end(run_outcome::idle, "nothing can happen any more: " + harts);
                return false;
            }
            slice_end = limit;
        }
        timeline.schedule(idle->event, slice_end);  // time passes, though nothing happens
    }
    if (lookahead && slice_end != never) timeline.schedule(idle->event, slice_end + 1);  // no hart runs ahead over it
    timeline.run_until(slice_end);
    while (timeline.interrupted() && !ending && !stop_wanted) {
        serve_onlooker();
        if (!ending && !stop_wanted) timeline.run_until(slice_end);
    }
    timeline.cancel(idle->event);
    return true;
}

/// Where the run stands still, what has to do with simulated time is not served: scripts, and input that is not a
/// person's. So all happens as if it had not.
void platform::implementation::serve_onlooker() {
    if (!onlooker) return;
    while (onlooker->look() && !ending && !stop_wanted) {
        for (auto& service : services) service();
        for (auto& a : contexts) {
            a.serial->serve_person();
            if (a.serial->wants_quit()) end(run_outcome::interrupted, "the console was closed");
            if (a.gdb) a.gdb->poll();
        }
        onlooker->rest();
    }
}

void platform::implementation::serve() {
    serve_consoles();
    serve_scripts();
    for (auto& service : services) service();
    if (const auto why = take_run_failure()) end(run_outcome::rejected, *why);
    for (auto& a : contexts)
        if (a.gdb) a.gdb->poll();
    report_ends();
}

void platform::implementation::serve_consoles() {
    for (auto& a : contexts) {
        a.serial->poll();
        if (a.serial->wants_quit()) end(run_outcome::interrupted, "the console was closed");
    }
}

void platform::implementation::check_tohost() {
    for (std::size_t i = 0; i < contexts.size() && !ending; ++i) {
        auto& port = contexts[i].tohost;
        if (!port) continue;
        const auto code = port->poll();
        if (!code) continue;
        contexts[i].test = *code;
        if (*code == 0)
            node_ended(i, node_state::powered_off, 0, fmt::format("node{}: tohost: passed", i));
        else
            node_ended(i, node_state::failed, 1, fmt::format("node{}: tohost: test {} failed", i, *code));
    }
}

/// Recordings and scripts, which live in simulated time.
bool platform::implementation::scheduled_input_pending() const {
    return (lookahead && scripts_pending) || std::any_of(contexts.begin(), contexts.end(), [this](const auto& a) {
               return a.serial->next_input() != never || (a.script && !lookahead && a.script->deadline() != never);
           });
}

bool platform::implementation::external_input_possible() const {
    if (onlooker && onlooker->watched()) return true;
    return std::any_of(contexts.begin(), contexts.end(),
                       [](const auto& a) { return a.serial->may_type() || (a.gdb && a.gdb->attached()); });
}

bool platform::implementation::all_harts_wait() const {
    for (const auto& n : hardware->nodes)
        if (n)
            for (const auto& hart : n->host.harts)
                if (!hart->waiting() && !hart->halted()) return false;
    return true;
}

/// An idle machine with a person in front of it lives at the pace of the wall clock.
void platform::implementation::pace(bool all_wait) {
    constexpr auto nap = std::chrono::milliseconds(10);
    pacing.slept = false;
    if (!all_wait) {
        pacing.active = false;
        return;
    }
    const auto now = hardware->timeline.now();
    if (!pacing.active) {
        pacing.active = true;
        pacing.wall = wall_clock::now();
        pacing.simulated = now;
    }
    const auto simulated = std::chrono::nanoseconds((now - pacing.simulated) / 1000);
    const auto ahead = simulated - (wall_clock::now() - pacing.wall);
    if (ahead <= std::chrono::milliseconds(1)) return;
    pacing.slept = true;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(ahead, nap));
}

}  // namespace fabricvp
