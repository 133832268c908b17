// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "base/bus_log.h"
#include "base/log.h"
#include "base/spans.h"
#include "platform/cli/command.h"
#include "platform/cli/run_parts.h"
#include "platform/cli/signals.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/console/console.h"
#include "platform/console/stdio_console.h"
#include "platform/params/machine_params.h"
#include "platform/progress.h"
#include "platform/results/outcome.h"
#include "platform/run_monitor.h"

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

std::uint64_t size_option(const options::variables_map& given, const std::string& name, std::uint64_t otherwise) {
    if (!given.count(name)) return otherwise;
    return quantity<byte_size>(text_option(given, name.c_str()), parameter_kind::byte_size, ("--" + name).c_str());
}

/// Neither stands alone. \throws input_error
void start_capture(platform& p, const options::variables_map& given) {
    for (const auto& [option, needed] :
         {std::pair{"capture-filter", "capture"}, {"capture-limit", "capture"}, {"record-limit", "record"}})
        if (given.count(option) && !given.count(needed))
            throw input_error(fmt::format("--{} needs --{}", option, needed));
    if (given.count("capture"))
        p.start_capture(text_option(given, "capture"), text_option(given, "capture-filter"),
                        size_option(given, "capture-limit", platform::default_file_limit));
}

void start_trace(platform& p, const options::variables_map& given) {
    for (const char* option : {"trace-filter", "trace-window", "trace-region", "trace-size", "trace-format"})
        if (given.count(option) && !given.count("trace")) throw input_error(fmt::format("--{} needs --trace", option));
    if (!given.count("trace")) return;
    if (!given.count("out")) throw input_error("--trace needs --out, the folder where the trace goes");
    trace::options what;
    what.filter = text_option(given, "trace-filter");
    what.region = text_option(given, "trace-region");
    what.max_bytes = size_option(given, "trace-size", what.max_bytes);
    if (given.count("trace-region") && given.count("trace-window"))
        throw input_error("--trace-region and --trace-window exclude each other");
    if (given.count("trace-window")) {
        const auto window = text_option(given, "trace-window");
        const auto dots = window.find("..");
        if (dots == std::string::npos)
            throw input_error(fmt::format("--trace-window {}: must be FROM..TO, e.g. 1ms..2ms", quoted(window)));
        what.from = quantity<duration>(window.substr(0, dots), parameter_kind::duration, "--trace-window");
        what.to = quantity<duration>(window.substr(dots + 2), parameter_kind::duration, "--trace-window");
    }
    const auto form = given.count("trace-format") ? parse_trace_file(text_option(given, "trace-format")) : trace_file();
    p.start_trace(what, form);
}

bool owes_result(const platform& p) {
    for (std::size_t i = 0; i < p.node_count(); ++i)
        if (p.owes_result(i)) return true;
    return false;
}

/// Where keys go, which is not to be guessed.
void explain_keys(bool interrupt_key) {
    std::fputs(interrupt_key ? "fabricvp: Ctrl-C ends the run, a second one at once\n"
                             : "fabricvp: keys go to the guest, Ctrl-C too; Ctrl-] ends the run\n",
               stderr);
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

options::options_description run_options() {
    options::options_description o;
    options::options_description run("run");
    run.add_options()("time", options::value<std::string>()->value_name("TIME"),
                      "end after this simulated time, e.g. 10ms")(
        "until", options::value<std::string>()->value_name("WHOM"),
        "with several nodes: end when all have ended (default), any, or one (node0); simulation.until")(
        "seed", options::value<std::string>()->value_name("N"),
        "of everything random: inputs that applications make, errors of links (default 1); simulation.seed")(
        "out", options::value<std::string>()->value_name("DIR"),
        "write stats.json, stats.csv, topology.json, config.resolved.yaml and console logs there, and pictures of the "
        "machine")("console", options::value<arguments>()->value_name("WHERE"),
                   "stdio (default for node0), file:PATH, tcp:PORT or none; nodeN=WHERE for other nodes")(
        "console-limit", options::value<std::string>()->value_name("SIZE"),
        "end files of consoles, console.nodeN.log too, before they grow larger (default 256 MiB)")(
        "script", options::value<arguments>()->value_name("FILE"),
        "let a script speak with the guest: lines with expect, type, command, prompt, timeout, finish")(
        "junit", options::value<std::string>()->value_name("FILE"),
        "write results of --script there for a CI server, one test case a line of the script; also when it fails")(
        "replay", options::value<arguments>()->value_name("FILE"),
        "type a recorded console input (console.nodeN.input of an earlier run)")(
        "record", options::value<std::string>()->value_name("FILE"),
        "record what GPUs of node0 send to each other in the measured part, for fabricvp replay")(
        "record-limit", options::value<std::string>()->value_name("SIZE"),
        "leave out work-groups that begin when the recording's file has grown so large (default 1 GiB)")(
        "gdb", options::value<arguments>()->value_name("PORT"),
        "wait for GDB on this loopback port (0: any); nodeN=PORT for other nodes")(
        "gdb-nowait", "start at once; GDB may connect later")(
        "monitor", options::value<std::string>()->value_name("PORT")->implicit_value("0"),
        "serve a page on this loopback port (0: any) that shows the run and steers it: links, consoles, GPUs, queue "
        "pairs, who waits; pause, step, speed, faults")("monitor-wait",
                                                        "with --monitor, wait for the page's \"continue\"")(
        "trace", "record a trace for ui.perfetto.dev into DIR/trace.json")(
        "trace-format", options::value<std::string>()->value_name("json|protobuf"),
        "protobuf: into DIR/trace.pftrace, many times smaller, times rounded to nanoseconds")(
        "trace-filter", options::value<std::string>()->value_name("GLOB"),
        "only components with such names, e.g. node0.host.hart*")(
        "trace-window", options::value<std::string>()->value_name("FROM..TO"), "only this part of simulated time")(
        "trace-region", options::value<std::string>()->value_name("LABEL"),
        "only while software has a region with this label open, such as the applications' `kernels`")(
        "trace-size", options::value<std::string>()->value_name("SIZE"),
        "end the trace before its file grows larger (default 256 MiB)")(
        "capture", options::value<std::string>()->value_name("FILE"),
        "write packets of the network there as they leave adapters: for Wireshark, or a table if it ends in .csv")(
        "capture-filter", options::value<std::string>()->value_name("GLOB"),
        "only ports with such names, e.g. network.switch0.*")(
        "capture-limit", options::value<std::string>()->value_name("SIZE"),
        "end the capture before its file grows larger (default 1 GiB)")(
        "log-bus", options::value<arguments>()->value_name("KIND[:FILTER,…]"),
        "print what blocks of this kind read from their bus and write to it, decoded; gpu: doorbells, AQL packets, "
        "kernels, signals; hca: doorbells, work queue entries, completions. Filters: queue=N (gpu), qp=N (hca), error, "
        "block=GLOB, e.g. --log-bus gpu:queue=0,error")(
        "ranks", options::value<std::string>()->value_name("N"),
        "run the machine as N processes, cut at links of its network; mpirun -n N fabricvp run … does so as well")(
        "transport", options::value<std::string>()->value_name("KIND"),
        "how processes of --ranks exchange messages: shared_memory (default), or mpi, by mpirun")(
        "plan-ranks", options::value<std::string>()->value_name("N"),
        "measure in one process what N ranks would have to do, and what they could gain: sim.parallel.* in stats.json")(
        "spans", "record where the time of every access goes: per component in stats.json, one by one in the trace")(
        "profile", options::value<std::string>()->value_name("FILE.html")->implicit_value("-"),
        "sample where harts, command processors and wavefronts spend simulated time: a flame graph (default: "
        "DIR/profile.html), and folded stacks beside it")("profile-period",
                                                          options::value<std::string>()->value_name("TIME"),
                                                          "simulated time from sample to sample (default 1 us)")(
        "coverage", options::value<std::string>()->value_name("FILE.info"),
        "count executions of the guests' source lines, as a tracefile for lcov and genhtml")(
        "symbols", options::value<arguments>()->value_name("FILE"),
        "for --profile and --coverage: an ELF file of a guest that the machine does not load itself; repeatable")(
        "quiet", "no progress and no summary");
    o.add(run).add(image_options()).add(kernel_options()).add(program_options()).add(override_options());
    return o;
}

int run(const options::variables_map& given) {
    if (const auto status = run_ranks(given)) return *status;
    const out_folder folder(given);
    const bool quiet = given.count("quiet") > 0;
    const auto limit = time_limit(given);
    std::vector<kernel_output> outputs;
    auto p = prepare(given, nullptr, outputs);
    for (const auto& [node, file] : by_node(given, "replay", *p))
        p->serial(node).replay(read_file(file, 1 << 26), file);
    for (const auto& [node, file] : by_node(given, "script", *p)) p->run_script(node, read_file(file, 1 << 20), file);
    const held_file junit = check_junit(given);
    if (given.count("plan-ranks"))
        p->plan_ranks(static_cast<unsigned>(
            number_option(text_option(given, "plan-ranks"), 1, machine_params::max_nodes, "--plan-ranks")));
    start_capture(*p, given);
    const auto profile_page = start_profile(*p, given);
    const held_file coverage = check_coverage(given);
    if (given.count("spans") && !given.count("out"))
        throw input_error("--spans needs --out, the folder where stats.json goes");
    if (given.count("spans")) span_recorder::current().enable(true);
    if (given.count("gdb-nowait") && !given.count("gdb")) throw input_error("--gdb-nowait needs --gdb");
    if (given.count("log-bus"))
        for (const auto& wanted : given["log-bus"].as<arguments>()) start_bus_log(wanted);
    for (const auto& [node, port] : by_node(given, "gdb", *p)) {
        const bool wait = !given.count("gdb-nowait");
        const auto chosen =
            p->listen_gdb(node, static_cast<std::uint16_t>(number_option(port, 0, 65535, "--gdb")), wait);
        fmt::print(stderr, "fabricvp: GDB port of node{} is 127.0.0.1:{}{}\n", node, chosen,
                   wait ? ", waiting for a debugger" : "");
    }
    p->end_when_guests_wait();
    const signal_scope signals(*p);
    const auto page = serve_page(*p, given);  // closed while Ctrl-C still is the run's
    configure_consoles(*p, given);
    if (given.count("record"))
        p->record(text_option(given, "record"), size_option(given, "record-limit", platform::default_file_limit));
    const bool on_terminal = attach_consoles(*p, given, quiet);
    require_work(*p, given);
    if (on_terminal && !quiet && isatty(STDIN_FILENO)) explain_keys(owes_result(*p));
    if (given.count("out")) p->open_results(text_option(given, "out"));  // fail now rather than after the run
    std::optional<progress_line> progress;
    if (!quiet) {
        progress.emplace(*p, limit);
        p->add_service([&] { progress->poll(); });
    }
    const auto result = p->run_until(limit);
    progress.reset();
    for (std::size_t i = 0; i < p->node_count(); ++i) p->serial(i).attach("none");  // gives the terminal back
    explain_empty_bus_logs();
    if (given.count("out")) write_results(*p, given["out"].as<std::string>());
    write_kernel_outputs(*p, outputs);
    write_profile(*p, given, profile_page);
    if (given.count("record")) {
        const auto told = p->finish_recording();
        if (!quiet) fmt::print(stderr, "fabricvp: {}\n", told);
    }
    const auto failure_message = p->failure_message();
    const int exit = exit_status(*p, result, failure_message);
    write_junit(*p, given, exit == status::ok ? "" : failure_message.empty() ? result.detail : failure_message);
    conclude(*p, result, failure_message, exit, quiet);
    return exit;
}

/// Share of memory transactions above which kernels' stacks are worth a warning.
constexpr double max_scratch = 0.2;

/// What lanes of all GPUs executed, and whether stacks took a large part of their memory transactions.
void report_kernels(const statistics_snapshot& values) {
    double wavefronts = 0, lanes = 0;  // instructions
    double transactions = 0, scratch = 0;
    for (const auto& [path, value] : values) {
        const auto dots = std::count(path.begin(), path.end(), '.');  // compute units count instructions, too
        const auto name = std::string_view(path).substr(path.rfind('.') + 1);
        if (dots == 2 && name == "wavefront_instructions") wavefronts += value;
        if (dots == 2 && name == "lane_instructions") lanes += value;
        if (path.find(".memory.unit") == std::string::npos) continue;
        if (name == "transactions") transactions += value;
        if (name == "scratch") scratch += value;
    }
    if (wavefronts > 0)
        fmt::print(stderr, "fabricvp: {:.0f} wavefront-instructions by {:.1f} lanes on average\n", wavefronts,
                   lanes / wavefronts);
    if (scratch > max_scratch * transactions)
        fmt::print(
            stderr,
            "fabricvp: {:.0f} % of the lanes' memory transactions are for their stacks (of a source in OpenCL C, HIP "
            "or CUDA, `fabricvp cc --report` shows which kernels keep registers there)\n",
            100 * scratch / transactions);
}

/// What planned ranks could gain.
void report_plan(const statistics_snapshot& values) {
    const auto planned = values.find("sim.parallel.planned_ranks");
    if (planned == values.end()) return;
    const auto of = [&](const char* name) { return values.at(std::string("sim.parallel.") + name); };
    const double windows = of("windows");
    fmt::print(stderr,
               "fabricvp: {:.0f} planned rank{} can be {:.2f} times as fast as one process at most ({:.2f} by events): "
               "{:.0f} windows of {:.0f} events, {:.1f} ranks at work in each\n",
               planned->second, planned->second == 1 ? "" : "s", of("bound"), of("bound_by_events"), windows,
               windows > 0 ? of("work_events") / windows : 0, of("active_ranks"));
}

}  // namespace

std::shared_ptr<void> serve_page(platform& p, const options::variables_map& given) {
    if (given.count("monitor-wait") && !given.count("monitor")) throw input_error("--monitor-wait needs --monitor");
    if (!given.count("monitor")) return nullptr;
    const auto text = text_option(given, "monitor");
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
        throw input_error(fmt::format(
            "--monitor {}: a port is a number from 0 to 65535; CONFIG stands before --monitor", quoted(text)));
    const auto port = static_cast<std::uint16_t>(number_option(text, 0, 65535, "--monitor"));
    if (!page_server_of_caller())
        throw input_error("--monitor: the command of the Python package serves the page, not this program");
    if (given.count("monitor-wait")) p.monitor()->pause();
    return page_server_of_caller()(p.monitor(), given["CONFIG"].as<std::string>(), port);
}

void require_work(const platform& p, const options::variables_map& given) {
    if (p.has_work()) return;
    for (const char* option : {"time", "gdb", "script"})
        if (given.count(option)) return;
    throw input_error("nothing to run: give --app, --program, --kernel-elf or --firmware");
}

void configure_consoles(platform& p, const options::variables_map& given) {
    console_options o;
    o.max_file_bytes = size_option(given, "console-limit", o.max_file_bytes);
    o.interrupt_key = owes_result(p);
    for (std::size_t i = 0; i < p.node_count(); ++i) p.serial(i).configure(o);
}

std::unique_ptr<platform> prepare(const options::variables_map& given, ranks::communicator* communicator,
                                  std::vector<kernel_output>& outputs) {
    check_program_options(given);
    platform::overrides more;
    for (const char* option : {"until", "seed"})
        if (given.count(option)) more.emplace_back(std::string("simulation.") + option, text_option(given, option));
    auto p = make_platform(given, more, communicator);
    outputs = load_images(*p, given);
    p->set_command(command_line());
    if (given.count("quiet")) set_log_threshold(log_level::error);
    start_trace(*p, given);
    return p;
}

std::string start_profile(platform& p, const options::variables_map& given) {
    for (const auto& file : given.count("symbols") ? given["symbols"].as<arguments>() : arguments()) {
        if (given.count("profile") || given.count("coverage"))
            p.add_symbols(file);
        else
            throw input_error("--symbols needs --profile or --coverage");
    }
    if (given.count("kernel-elf") && (given.count("profile") || given.count("coverage")))
        p.add_symbols(text_option(given, "kernel-elf"));
    if (given.count("profile-period") && !given.count("profile")) throw input_error("--profile-period needs --profile");
    if (given.count("coverage")) p.start_coverage();
    if (!given.count("profile")) return {};
    auto page = text_option(given, "profile");
    if (page == "-" && !given.count("out")) throw input_error("--profile needs FILE.html, or --out");
    if (page == "-")
        page = text_option(given, "out") + "/profile.html";  // a folder that is made later
    else
        platform::check_profile_name(page);
    ticks period = 1'000'000;
    if (given.count("profile-period"))
        period = quantity<duration>(text_option(given, "profile-period"), parameter_kind::duration, "--profile-period");
    p.start_profile(period);
    return page;
}

held_file check_coverage(const options::variables_map& given) {
    return given.count("coverage") ? check_writable(text_option(given, "coverage")) : held_file();
}

void write_profile(platform& p, const options::variables_map& given, const std::string& page) {
    if (!page.empty()) p.write_profile(page);
    if (given.count("coverage")) write_file(text_option(given, "coverage"), p.coverage());
}

held_file check_junit(const options::variables_map& given) {
    if (!given.count("junit")) return {};
    if (!given.count("script")) throw input_error("--junit needs --script, whose lines are its test cases");
    return check_writable(text_option(given, "junit"));
}

void write_junit(const platform& p, const options::variables_map& given, const std::string& failure) {
    if (given.count("junit")) write_file(text_option(given, "junit"), p.script_results(failure));
}

void conclude(const platform& p, const run_result& result, const std::string& failure_message, int exit, bool quiet) {
    if (result.outcome == run_outcome::rejected)
        fmt::print(stderr, "fabricvp: {}\n", result.detail);
    else if (!quiet || exit == status::guest_failed)
        report(p, result, failure_message);
}

ticks time_limit(const options::variables_map& given) {
    return given.count("time")
               ? quantity<duration>(text_option(given, "time"), parameter_kind::duration, "--time").value
               : never;
}

int exit_status(const platform& p, const run_result& result, const std::string& failure_message) {
    switch (result.outcome) {
        case run_outcome::power_off:
        case run_outcome::time_limit: return failure_message.empty() ? status::ok : status::guest_failed;
        case run_outcome::event: return failure_message.empty() ? status::ok : status::guest_failed;
        case run_outcome::rejected: return status::bad_input;
        case run_outcome::interrupted: return signal_scope::seen() || owes_result(p) ? status::interrupted : status::ok;
        default: return status::guest_failed;
    }
}

void report(const platform& p, const run_result& result, const std::string& failure_message) {
    const auto values = p.statistics();
    const double wall = values.at("sim.wall_s");
    const bool told = failure_message.empty() || result.outcome == run_outcome::guest_failure;
    const auto why = told ? result.detail : fmt::format("{}; {}", failure_message, result.detail);
    auto text = fmt::format("fabricvp: {}; {:.6f} s simulated in {:.2f} s", why, values.at("sim.time_s"), wall);
    const double instructions = values.at("sim.instructions"), mips = wall > 0 ? instructions / wall / 1e6 : 0.0;
    if (mips >= 0.05)  // harts of some machines rest
        text += fmt::format(", {:.0f} instructions, {:.1f} MIPS", instructions, mips);
    fmt::print(stderr, "{}\n", text);
    report_kernels(values);
    report_plan(values);
}

command run_command() {
    return {"run",
            "CONFIG [options]",
            "Runs a machine until it powers off, a time limit or Ctrl-C (Ctrl-] on a terminal console).",
            "fabricvp run uboot --time 2s --out results",
            run_options,
            {"CONFIG"},
            run};
}

}  // namespace fabricvp::cli
