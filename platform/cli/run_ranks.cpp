// SPDX-License-Identifier: Apache-2.0
// `run --ranks`: one machine as several processes.
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "platform/cli/run_parts.h"
#include "platform/cli/signals.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/console/console.h"
#include "platform/params/machine_params.h"
#include "platform/progress.h"
#include "platform/ranks/fork_ranks.h"
#include "platform/ranks/mpi_library.h"
#include "platform/ranks/mpirun.h"

namespace fabricvp::cli {
namespace {

/// What only a process that has the whole machine can do.
void check_with_ranks(const options::variables_map& given) {
    for (const char* option : {"plan-ranks", "gdb", "gdb-nowait", "replay", "record", "record-limit", "spans",
                               "capture", "capture-filter", "capture-limit", "trace-region", "log-bus"})
        if (given.count(option))
            throw input_error(
                fmt::format("--{} does not go with ranks: it needs the whole machine in one process", option));
    if (given.count("console"))
        for (const auto& where : given["console"].as<arguments>())
            if (const auto to = where.substr(where.find('=') + 1); to != "none" && to.compare(0, 5, "file:") != 0)
                throw input_error(fmt::format(
                    "--console {} does not go with ranks, which take no input; give file:PATH or none", quoted(where)));
}

/// What is wrong with the input of one rank ends all, and is said once. \returns what any of them found
std::string agree_on_errors(ranks::communicator& communicator, const std::string& own) {
    const std::string version = FABRICVP_VERSION;
    const auto text = version + '\n' + own;
    std::vector<ranks::bytes> to(communicator.count(), ranks::bytes(text.begin(), text.end())), from(to.size());
    communicator.all_to_all(to, from);
    from[communicator.rank()] = to[0];
    for (std::size_t r = 0; r < from.size(); ++r) {
        const std::string its(from[r].begin(), from[r].end());
        const auto end = its.find('\n');
        if (const auto other = its.substr(0, end); other != version)
            return fmt::format("ranks are of different versions: rank {} is {}, rank {} is {}", communicator.rank(),
                               version, r, other.size() < 20 ? quoted(other) : "of none");
        if (end + 1 < its.size()) return its.substr(end + 1);
    }
    return {};
}

/// How a rank's process is run.
struct surroundings {
    bool own_terminal;                      ///< standard error is the user's, not a pipe of mpirun's
    std::function<void()> results_written;  ///< to be called by rank 0
};

/// One rank of several: all of them come here.
int execute_rank(const options::variables_map& given, ranks::process_communicator& communicator,
                 const surroundings& around) {
    const bool first = communicator.rank() == 0;
    const bool quiet = given.count("quiet") > 0 || !first;
    if (!first)  // all ranks compute the subnet, and say the same of it
        set_log_sink([write = set_log_sink({})](log_level level, const std::string& source, const std::string& text) {
            if (source != "network") write(level, source, text);
        });
    std::unique_ptr<platform> p;
    std::vector<kernel_output> outputs;
    ticks limit = never;
    std::string error;
    std::optional<out_folder> folder;
    held_file junit, coverage;  // while the run lasts
    std::string profile_page;
    try {
        if (first) folder.emplace(given);
        check_with_ranks(given);
        limit = time_limit(given);
        p = prepare(given, &communicator, outputs);
        configure_consoles(*p, given);
        for (const auto& [node, where] : by_node(given, "console", *p))
            if (p->has(node)) p->serial(node).attach(where);
        require_work(*p, given);
        for (const auto& [node, file] : by_node(given, "script", *p))
            p->run_script(node, read_file(file, 1 << 20), file);
        profile_page = start_profile(*p, given);
        if (first) junit = check_junit(given);
        if (first) coverage = check_coverage(given);
    } catch (const input_error& e) {
        error = e.what();
    } catch (const std::bad_alloc&) {
        error = "out of memory";
    }
    std::shared_ptr<void> page;
    auto found = agree_on_errors(communicator, error);
    if (found.empty()) {
        try {
            if (given.count("monitor")) p->monitor();  // all ranks together
            if (first) page = serve_page(*p, given);
            if (first && given.count("out")) p->open_results(text_option(given, "out"));
        } catch (const input_error& e) {
            error = e.what();
        }
        found = agree_on_errors(communicator, error);
    }
    if (!found.empty()) {
        communicator.finish();
        if (!first) return status::ok;
        throw input_error(found);
    }
    p->end_when_guests_wait();
    const signal_scope signals(*p);
    const auto shown = std::move(page);  // closed while Ctrl-C still is the run's
    if (first && p->has(0) && !given.count("console")) p->serial(0).on_output([](char c) { std::putchar(c); });
    std::optional<progress_line> line;
    progress_log log(*p, limit);
    if (!quiet && around.own_terminal) {
        line.emplace(*p, limit);
        p->add_service([&] { line->poll(); });
    } else if (!quiet && ranks::shown_on_terminal()) {
        log.begin();
        p->add_service([&] { log.poll(); });
    }
    p->add_service([] { std::fflush(stdout); });
    const auto result = p->run_until(limit);
    line.reset();
    for (std::size_t i = 0; i < p->node_count(); ++i) p->serial(i).attach("none");
    p->gather();
    if (!first) {
        communicator.finish();
        return status::ok;  // the first one says how it ended
    }
    const auto failure_message = p->failure_message();
    const int exit = exit_status(*p, result, failure_message);
    try {
        if (given.count("out")) write_results(*p, given["out"].as<std::string>());
        write_kernel_outputs(*p, outputs);
        write_profile(*p, given, profile_page);
        write_junit(*p, given, exit == status::ok ? "" : failure_message.empty() ? result.detail : failure_message);
    } catch (const input_error&) {
        communicator.finish();
        throw;
    }
    around.results_written();
    conclude(*p, result, failure_message, exit, quiet);
    communicator.finish();
    return exit;
}

enum class transport { shared_memory, mpi };

/// \throws input_error
std::optional<transport> transport_of(const options::variables_map& given) {
    if (!given.count("transport")) return std::nullopt;
    const auto text = text_option(given, "transport");
    if (text == "shared_memory") return transport::shared_memory;
    if (text == "mpi") return transport::mpi;
    throw input_error(fmt::format("--transport {}: must be shared_memory or mpi", quoted(text)));
}

int fork_ranks(const options::variables_map& given, unsigned count) {
    const auto run =
        ranks::fork_ranks(count, [&](ranks::process_communicator& communicator, const auto& results_written) {
            return report_errors([&] { return execute_rank(given, communicator, {true, results_written}); });
        });
    if (run.results_written && given.count("out")) note_results(text_option(given, "out"));
    return run.status;
}

}  // namespace

std::optional<int> run_ranks(const options::variables_map& given) {
    const auto here = ranks::launched_rank();
    const bool by_mpirun = here && here->count > 1;
    std::optional<std::uint64_t> wanted;
    std::optional<transport> how;
    try {
        if (given.count("ranks"))
            wanted = number_option(text_option(given, "ranks"), 1, machine_params::max_nodes, "--ranks");
        how = transport_of(given);
        if (how && !wanted && !by_mpirun) throw input_error("--transport needs --ranks");
        if (here && wanted && *wanted != here->count)
            throw input_error(fmt::format("--ranks {}: mpirun has started {}", *wanted, here->count));
        if (by_mpirun && how == transport::shared_memory)
            throw input_error(
                "--transport shared_memory: mpirun has started the ranks, which exchange messages by MPI");
        if (wanted.value_or(1) > 1 || by_mpirun) {
            if (by_mpirun || how == transport::mpi) ranks::check_mpi();
            check_with_ranks(given);
        }
    } catch (const input_error&) {
        if (here && here->rank != 0) return status::ok;  // rank 0 says it
        throw;
    }
    if (by_mpirun) {
        const auto communicator = ranks::open_mpi();
        return execute_rank(given, *communicator, {false, [] {}});
    }
    if (wanted.value_or(1) == 1) return std::nullopt;
    const auto count = static_cast<unsigned>(*wanted);
    return how == transport::mpi ? ranks::mpirun(count) : fork_ranks(given, count);
}

}  // namespace fabricvp::cli
