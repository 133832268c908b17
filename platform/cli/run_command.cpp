// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>

#include "base/bus_log.h"
#include "base/log.h"
#include "base/spans.h"
#include "platform/cli/command.h"
#include "platform/cli/signals.h"
#include "platform/config/config_tree.h"
#include "platform/console.h"
#include "platform/console/stdio_console.h"
#include "platform/files.h"
#include "platform/progress.h"

namespace fabricvp::cli {
namespace {

/// A quantity with its unit.
template <class T>
T quantity(const std::string& text, parameter_kind kind, const char* option) {
    T value;
    parameter p(option, "", kind, &value);
    try {
        p.parse(text);
    } catch (const std::invalid_argument& e) {
        throw input_error(fmt::format("{}: {}", option, e.what()));
    }
    return value;
}

void start_trace(platform& p, const options::variables_map& given) {
    for (const char* option : {"trace-filter", "trace-window", "trace-size"})
        if (given.count(option) && !given.count("trace")) throw input_error(fmt::format("--{} needs --trace", option));
    if (!given.count("trace")) return;
    if (!given.count("out")) throw input_error("--trace needs --out, the folder where trace.json goes");
    ticks from = 0, to = never;
    if (given.count("trace-window")) {
        const auto window = text_option(given, "trace-window");
        const auto dots = window.find("..");
        if (dots == std::string::npos) throw input_error(fmt::format("--trace-window {}: must be FROM..TO, e.g. 1ms..2ms", quoted(window)));
        from = quantity<duration>(window.substr(0, dots), parameter_kind::duration, "--trace-window");
        to = quantity<duration>(window.substr(dots + 2), parameter_kind::duration, "--trace-window");
    }
    std::uint64_t most = 256 << 20;
    if (given.count("trace-size")) most = quantity<byte_size>(text_option(given, "trace-size"), parameter_kind::byte_size, "--trace-size");
    p.start_trace(from, to, text_option(given, "trace-filter"), most);
}

bool attach_consoles(platform& p, const options::variables_map& given, bool quiet) {
    std::vector<std::string> wanted(p.node_count(), "none");
    wanted[0] = "stdio";
    for (const auto& [node, where] : by_node(given, "console", p)) wanted[node] = where;
    bool on_terminal = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        p.serial(i).attach(wanted[i]);
        on_terminal = on_terminal || wanted[i] == "stdio";
        if (p.serial(i).port() && !quiet)
            fmt::print(stderr, "fabricvp: console of node{} on 127.0.0.1:{}\n", i, p.serial(i).port());
    }
    return on_terminal;
}

options::options_description describe() {
    options::options_description o;
    options::options_description run("run");
    run.add_options()("time", options::value<std::string>()->value_name("TIME"), "end after this simulated time, e.g. 10ms")(
        "until", options::value<std::string>()->value_name("WHOM"), "with several nodes: end when all have ended (default), any, or one (node0); simulation.until")(
        "out", options::value<std::string>()->value_name("DIR"), "write stats.json, stats.csv, config.resolved.yaml, console logs and, where GPUs are linked, fabric.svg there")(
        "console", options::value<arguments>()->value_name("WHERE"),
        "stdio (default for node0), file:PATH, tcp:PORT or none; nodeN=WHERE for other nodes")(
        "script", options::value<arguments>()->value_name("FILE"), "let a script speak with the guest: lines with expect, type, command, prompt, timeout, finish")(
        "replay", options::value<arguments>()->value_name("FILE"), "type a recorded console input (console.nodeN.input of an earlier run)")(
        "record", options::value<std::string>()->value_name("FILE"), "record what GPUs of node0 send to each other in the measured part, for fabricvp replay")(
        "gdb", options::value<arguments>()->value_name("PORT"), "wait for GDB on this loopback port (0: any); nodeN=PORT for other nodes")(
        "gdb-nowait", "start at once; GDB may connect later")(
        "trace", "record a trace for ui.perfetto.dev into DIR/trace.json")(
        "trace-filter", options::value<std::string>()->value_name("GLOB"), "only components with such names, e.g. node0.host.hart*")(
        "trace-window", options::value<std::string>()->value_name("FROM..TO"), "only this part of simulated time")(
        "trace-size", options::value<std::string>()->value_name("SIZE"), "end the trace before its file grows larger (default 256 MiB)")(
        "capture", options::value<std::string>()->value_name("FILE"), "write packets of the network there as they leave adapters: for Wireshark, or a table if it ends in .csv")(
        "capture-filter", options::value<std::string>()->value_name("GLOB"), "only ports with such names, e.g. network.switch0.*")(
        "log-bus", options::value<arguments>()->value_name("KIND"), "print what blocks of this kind read from their bus and write to it, decoded; hca: doorbells, work queue entries, completions")(
        "spans", "record where the time of every access goes: per component in stats.json, one by one in the trace")(
        "quiet", "no progress and no summary");
    o.add(run).add(image_options()).add(kernel_options()).add(override_options());
    return o;
}

int execute(const options::variables_map& given) {
    const bool quiet = given.count("quiet") > 0;
    const auto limit = time_limit(given);
    auto p = make_platform(given, given.count("until") ? platform::overrides{{"simulation.until", text_option(given, "until")}} : platform::overrides{});
    load_images(*p, given);
    for (const auto& [node, file] : by_node(given, "replay", *p)) p->serial(node).replay(read_file(file, 1 << 26), file);
    for (const auto& [node, file] : by_node(given, "script", *p)) p->run_script(node, read_file(file, 1 << 20), file);
    p->set_command(command_line());
    if (quiet) set_log_threshold(log_level::error);
    start_trace(*p, given);
    if (given.count("capture-filter") && !given.count("capture")) throw input_error("--capture-filter needs --capture");
    if (given.count("capture")) p->start_capture(text_option(given, "capture"), text_option(given, "capture-filter"));
    if (given.count("spans") && !given.count("out")) throw input_error("--spans needs --out, the folder where stats.json goes");
    if (given.count("spans")) span_recorder::current().enable(true);
    if (given.count("gdb-nowait") && !given.count("gdb")) throw input_error("--gdb-nowait needs --gdb");
    if (given.count("log-bus"))
        for (const auto& kind : given["log-bus"].as<arguments>())
            if (!bus_log::show(kind)) throw input_error(fmt::format("--log-bus: '{}' is no kind of block that tells; there is {}", kind, fmt::join(bus_log::kinds(), ", ")));
    for (const auto& [node, port] : by_node(given, "gdb", *p)) {
        const bool wait = !given.count("gdb-nowait");
        const auto chosen = p->listen_gdb(node, static_cast<std::uint16_t>(number_option(port, 0, 65535, "--gdb")), wait);
        fmt::print(stderr, "fabricvp: GDB port of node{} is 127.0.0.1:{}{}\n", node, chosen, wait ? ", waiting for a debugger" : "");
    }
    p->end_when_guests_wait();
    const signal_scope signals(*p);
    const bool on_terminal = attach_consoles(*p, given, quiet);
    if (given.count("out")) p->open_results(text_option(given, "out"));  // fail now rather than after the run
    if (given.count("record")) p->record(text_option(given, "record"));
    std::optional<progress_line> progress;
    if (const bool terminal = isatty(STDERR_FILENO); !quiet && !(terminal && on_terminal && isatty(STDOUT_FILENO))) {
        progress.emplace(*p, limit, terminal);
        p->add_service([&] { progress->poll(); });
    }
    const auto result = p->run_until(limit);
    progress.reset();
    for (std::size_t i = 0; i < p->node_count(); ++i) p->serial(i).attach("none");  // gives the terminal back
    if (given.count("out")) p->write_results(given["out"].as<std::string>());
    if (given.count("record")) {
        const auto told = p->finish_recording();
        if (!quiet) fmt::print(stderr, "fabricvp: {}\n", told);
    }
    const auto complaint = p->complaint();
    const int exit = exit_status(result, complaint);
    if (result.outcome == run_outcome::refused) fmt::print(stderr, "fabricvp: {}\n", result.detail);
    else if (!quiet || exit == status::guest_failed) report(*p, result, complaint);
    return exit;
}

}  // namespace

ticks time_limit(const options::variables_map& given) {
    return given.count("time") ? quantity<duration>(text_option(given, "time"), parameter_kind::duration, "--time").value : never;
}

int exit_status(const run_result& result, const std::string& complaint) {
    switch (result.outcome) {
        case run_outcome::power_off:
        case run_outcome::time_limit: return complaint.empty() ? status::ok : status::guest_failed;
        case run_outcome::event: return complaint.empty() ? status::ok : status::guest_failed;
        case run_outcome::refused: return status::bad_input;
        case run_outcome::interrupted: return signal_scope::seen() ? status::interrupted : status::ok;
        default: return status::guest_failed;
    }
}

void report(const platform& p, const run_result& result, const std::string& complaint) {
    const auto values = p.statistics();
    const double wall = values.at("sim.wall_s");
    const bool told = complaint.empty() || result.outcome == run_outcome::guest_failure;
    const auto why = told ? result.detail : fmt::format("{}; {}", complaint, result.detail);
    fmt::print(stderr, "fabricvp: {}; {:.6f} s simulated in {:.2f} s, {} instructions, {:.1f} MIPS\n", why,
               values.at("sim.time_s"), wall, static_cast<std::uint64_t>(values.at("sim.instructions")),
               wall > 0 ? values.at("sim.instructions") / wall / 1e6 : 0.0);
}

command run_command() {
    return {"run", "CONFIG [options]", "Runs a machine until it powers off, a time limit or Ctrl-C (Ctrl-] on a terminal console).",
            "fabricvp run uboot --time 2s --out results", describe, {"CONFIG"}, execute};
}

}  // namespace fabricvp::cli
