// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <fmt/format.h>

#include "base/log.h"
#include "platform/cli/command.h"
#include "platform/cli/signals.h"
#include "platform/machine.h"
#include "platform/progress.h"

namespace fabricvp::cli {
namespace {

options::options_description replay_options() {
    options::options_description o;
    options::options_description replay("replay");
    replay.add_options()("time", options::value<std::string>()->value_name("TIME"),
                         "end after this simulated time, e.g. 10ms")(
        "replica-placement", options::value<std::string>()->value_name("contiguous|interleaved"),
        "where the machine has several times as many GPUs as the recording, each as many play it: neighbours "
        "(contiguous), "
        "or GPU n of all together (interleaved)")("out", options::value<std::string>()->value_name("DIR"),
                                                  "write stats.json, stats.csv, regions.json, topology.json, "
                                                  "config.resolved.yaml and run.json there, and pictures")(
        "quiet", "no progress and no summary");
    o.add(replay).add(override_options());
    return o;
}

int replay(const options::variables_map& given) {
    const bool quiet = given.count("quiet") > 0;
    const auto limit = time_limit(given);
    load_plugins(given);
    auto p = platform::from_recording(text_option(given, "FILE"), text_option(given, "CONFIG"), overrides_of(given),
                                      given.count("replica-placement") ? text_option(given, "replica-placement") : "");
    p->set_command(command_line());
    if (quiet) set_log_threshold(log_level::error);
    const signal_scope signals(*p);
    if (given.count("out")) p->open_results(text_option(given, "out"));  // fail now rather than after the run
    std::optional<progress_line> progress;
    if (!quiet) {
        progress.emplace(*p, limit);
        p->add_service([&] { progress->poll(); });
    }
    const auto result = p->run_until(limit);
    progress.reset();
    if (given.count("out")) write_results(*p, text_option(given, "out"));
    const auto failure_message = p->failure_message();
    const int exit = exit_status(*p, result, failure_message);
    if (!quiet || exit == status::guest_failed) {
        const auto values = p->statistics();
        fmt::print(stderr, "fabricvp: {}; {:.6f} s simulated in {:.2f} s\n",
                   failure_message.empty() ? result.detail : failure_message, values.at("sim.time_s"),
                   values.at("sim.wall_s"));
    }
    return exit;
}

}  // namespace

command replay_command() {
    return {"replay",
            "FILE CONFIG [options]",
            "Plays what `fabricvp run … --record FILE` has recorded over the fabric of another machine, whose GPUs "
            "must be the same, or a multiple of them.",
            "fabricvp replay spmv.recording machine.yaml --set node.fabric.links.4.lanes=4 --out results",
            replay_options,
            {"FILE", "CONFIG"},
            replay};
}

}  // namespace fabricvp::cli
