// SPDX-License-Identifier: Apache-2.0
#include "platform/platform.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/spans.h"
#include "base/trace_format.h"
#include "platform/apps.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/config/config_printer.h"
#include "platform/config/machine_reader.h"
#include "platform/config/plugins.h"
#include "platform/console/console.h"
#include "platform/kernel_job.h"
#include "platform/loader/image_paths.h"
#include "platform/machine_frame.h"
#include "platform/platform_state.h"
#include "platform/progress.h"
#include "platform/renamed_statistics.h"
#include "platform/results/results.h"
#include "platform/results/run_folder.h"

namespace fabricvp {
namespace {

// SystemC elaborates once a process; a second machine could not even be built.
bool g_built = false;

void add_polls(statistics_snapshot& to, const machine& hardware) {
    static constexpr const char* reasons[] = {"", "code", "memory", "system", "counters", "too_long", "few_rounds"};
    const auto polls = hardware.polls();
    static_assert(std::size(reasons) == std::tuple_size_v<decltype(polls.executed)>);
    const auto set = [&](const std::string& name, std::uint64_t value) {
        to["sim.polls." + name] = static_cast<double>(value);
    };
    set("skipped_instructions", polls.skipped_instructions);
    set("skipped_slices", polls.skipped_slices);
    set("executed_first", polls.first_rounds);
    for (std::size_t i = 1; i < std::size(reasons); ++i) set(std::string("executed_") + reasons[i], polls.executed[i]);
}

}  // namespace

platform::platform() = default;
platform::~platform() = default;

std::unique_ptr<platform> platform::from_config(const std::string& path, const overrides& set,
                                                ranks::communicator* communicator) {
    const auto file = find_config(path);
    const auto yaml = read_file(file, 1 << 24);
    auto made = from_params(read_machine_params(yaml, file, set), file, communicator);
    for (auto& a : made->m->contexts) a.image_base = std::filesystem::path(file).parent_path().string();
    return made;
}

std::unique_ptr<platform> platform::from_text(const std::string& yaml, const std::string& name, const overrides& set) {
    return from_params(read_machine_params(yaml, name, set), name);
}

std::unique_ptr<platform> platform::from_params(const machine_params& params, const std::string& name,
                                                ranks::communicator* communicator) {
    if (g_built)
        throw input_error(
            "one process holds one platform, because SystemC elaborates once; run others in processes of their own");
    const char* const checked = std::getenv("FABRICVP_CHECK_STATISTICS");  // TESTING.md
    check_statistics(checked && *checked);
    std::unique_ptr<platform> made(new platform);
    const auto rejected = [&](const std::string& why) {  // some name file and line already
        return input_error(why.rfind(name + ":", 0) == 0 ? why : fmt::format("{}: {}", name, why));
    };
    try {
        made->m = std::make_unique<implementation>(params, "", communicator);
    } catch (const std::invalid_argument& e) {
        throw rejected(e.what());
    } catch (const std::runtime_error& e) {  // faults that cannot be planned, or the host has no room
        throw rejected(e.what());
    }
    g_built = true;
    return made;
}

machine& platform::hardware() { return *m->hardware; }
const machine& platform::hardware() const { return *m->hardware; }

std::size_t platform::node_count() const { return m->contexts.size(); }

void platform::load_images(std::size_t node, const image_set& images) {
    auto& a = m->contexts.at(node);
    const auto before = a.images;
    if (!app_of(images).empty()) a.images = {};
    const auto absolute = [](const std::string& named) {
        return named.compare(0, 9, "firmware:") == 0 ? named : std::filesystem::absolute(named).string();
    };
    if (!images.firmware.empty()) a.images.firmware = absolute(images.firmware);
    if (!images.kernel.empty()) a.images.kernel = absolute(images.kernel);
    if (!images.initrd.empty()) a.images.initrd = absolute(images.initrd);
    if (!images.append.empty()) a.images.append = images.append;
    a.images.tohost = a.images.tohost || images.tohost;
    try {
        m->load(node);
    } catch (...) {  // what a reset loads stays what it was
        a.images = before;
        throw;
    }
}

void platform::keep_initrd(std::size_t node) {
    auto& a = m->contexts.at(node);
    a.kept_initrd = read_file(find_image(a.images.initrd, a.image_base), std::size_t{1} << 32);
}

std::uint64_t platform::load_elf(std::size_t node, const std::string& path) {
    auto plan = std::make_unique<boot_plan>(m->memory(node));
    const auto entry = plan->add_elf(path, "ELF file");
    m->place(node, *plan);
    m->contexts[node].extras.push_back(std::move(plan));
    return entry;
}

void platform::load_binary(std::size_t node, const std::string& path, std::uint64_t address) {
    auto plan = std::make_unique<boot_plan>(m->memory(node));
    plan->add_raw(path, "binary", address);
    m->place(node, *plan);
    m->contexts[node].extras.push_back(std::move(plan));
}

run_result platform::run_until(ticks limit) {
    if (m->capture) m->capture->open();
    auto result = m->run(limit);
    if (m->capture) m->capture->flush();
    return result;
}

void platform::request_stop() { m->stop_wanted = true; }

void platform::stop_with_event(std::string detail) { m->end(run_outcome::event, std::move(detail)); }

void platform::stop_with(run_outcome outcome, std::string detail) { m->end(outcome, std::move(detail)); }

ticks platform::now() const { return m->hardware->timeline.now(); }

void platform::add_service(std::function<void()> poll) { m->services.push_back(std::move(poll)); }

std::shared_ptr<run_monitor> platform::monitor() {
    if (m->onlooker) {
        if (!m->running && !m->communicator) m->onlooker->show_again();
        return m->onlooker;
    }
    machine_frame::sources from;
    from.console = [this](std::size_t node) -> const std::string& { return serial(node).output(); };
    from.state = [this](std::size_t node) {
        const auto& o = outcome(node);
        return nlohmann::ordered_json{{"state", name_of(o.state)}, {"detail", o.detail}};
    };
    from.memory = [this](std::size_t node, std::uint64_t physical, void* data, std::size_t size, bool write) {
        return m->access_of_gpu(node, physical, data, size, write);
    };
    auto own = std::make_unique<local_subject>(
        *this, std::make_unique<machine_frame>(*m->hardware, *m->guard, std::move(from)));
    if (m->communicator)
        m->begin_look(std::move(own));
    else
        m->onlooker = std::make_shared<run_monitor>(std::move(own));
    return m->onlooker;
}

console& platform::serial(std::size_t node) { return *m->contexts.at(node).serial; }

std::size_t platform::read_memory(std::size_t node, std::uint64_t address, void* to, std::size_t size) {
    m->contexts.at(node);
    return m->host(node).bus.debug_read(address, to, size);
}

std::size_t platform::write_memory(std::size_t node, std::uint64_t address, const void* from, std::size_t size) {
    m->contexts.at(node);
    return m->host(node).bus.debug_write(address, from, size);
}

statistics_snapshot platform::implementation::own_statistics() const {
    auto values = snapshot_statistics();
    span_recorder::current().report(values);
    values["sim.time_s"] = static_cast<double>(hardware->timeline.now()) / ticks_per_second;
    values["sim.wall_s"] = wall.count();
    values["sim.events"] = static_cast<double>(hardware->timeline.steps());
    values["sim.instructions"] = static_cast<double>(hardware->instructions());
    add_polls(values, *hardware);
    if (synchronizer) add_rank(values);
    if (plan) add_plan(values);
    return values;
}

statistics_snapshot platform::statistics() const {
    auto values = m->rank_parts.empty() ? m->own_statistics() : ranks::merged_values(m->rank_parts);
    m->add_verdicts(values);
    return values;
}

std::string platform::resolved_config(bool with_results) const {
    config_printer printer;
    auto params = m->params;
    for (std::size_t i = 0; i < params.nodes.size(); ++i) {  // with the images that are in use
        const auto& a = m->contexts[i];
        auto& p = params.nodes[i].images;
        if (!a.kept_initrd && is_file_of_bytes(a.images.initrd)) continue;  // launches from Python come with theirs
        const auto located = [&](const std::string& named) {
            return named.empty() || named.compare(0, 9, "firmware:") == 0
                       ? named
                       : resolved_path(std::filesystem::absolute(std::filesystem::path(a.image_base) / named).string());
        };
        p = {located(a.images.firmware), located(a.images.kernel), located(a.images.initrd), a.images.append,
             a.images.tohost};
        if (with_results && a.kept_initrd) p.initrd = kept_initrd_name(i);
    }
    params.describe(printer);
    std::string plugins;
    for (const auto& file : loaded_plugins()) plugins += fmt::format("  - {}\n", yaml_scalar(file));
    return (plugins.empty() ? plugins : "plugins:\n" + plugins) + printer.text();
}

void platform::open_results(const std::string& folder) {
    m->results = std::make_unique<run_folder>(folder);
    write_file((std::filesystem::path(folder) / "run.json").string(), run_json(m->record(false)));
    for (std::size_t i = 0; i < m->contexts.size(); ++i) {
        if (!has(i)) continue;  // another rank's; its text comes at the end
        m->contexts[i].serial->log_into(
            (std::filesystem::path(folder) / fmt::format("console.node{}.log", i)).string());
    }
}

void platform::set_command(std::vector<std::string> command) { m->command = std::move(command); }

void platform::end_when_guests_wait() { m->input_wait = std::make_unique<input_wait_detector>(*m->hardware); }

void platform::reset() { m->restart(); }

void platform::reset(std::size_t node) {
    m->contexts.at(node).reset_wanted = true;
    m->serve_resets();
}

const node_outcome& platform::outcome(std::size_t node) const { return m->contexts.at(node).outcome; }

bool platform::has(std::size_t node) const { return m->hardware->nodes.at(node) != nullptr; }

bool platform::has_work() const {
    const auto& p = m->params;
    return !p.network.generators.empty() || !loaded_plugins().empty() ||
           std::any_of(m->contexts.begin(), m->contexts.end(), [](const auto& c) { return c.has_software(); }) ||
           std::any_of(p.nodes.begin(), p.nodes.end(), [](const auto& n) { return !n.fabric.generators.empty(); });
}

bool platform::owes_result(std::size_t node) const { return m->owes_result(node); }
bool platform::waits_for_user() const { return m->pacing.slept; }

std::optional<double> platform::app_instructions() const {
    double sum = 0;
    const auto members = members_of(m->hardware->params);
    for (std::size_t node = 0; node < m->contexts.size(); ++node) {
        const auto& images = m->contexts[node].images;
        if (app_of(images).empty()) continue;
        const auto known = work_of(images, members.at(node));
        if (!known) return std::nullopt;
        sum += known->host;
    }
    return sum > 0 ? std::optional<double>(sum) : std::nullopt;
}

std::optional<std::string> platform::long_work_message() const {
    app_work sum;
    std::string names;
    const auto members = members_of(m->hardware->params);
    for (std::size_t node = 0; node < m->contexts.size(); ++node) {
        const auto& images = m->contexts[node].images;
        const auto known = work_of(images, members.at(node));
        if (!known) continue;
        sum.host += known->host;
        sum.wavefronts += known->wavefronts;
        sum.events += known->events;
        const auto name = app_of(images);
        if (!is_distributed_app(name) || names != name) names += (names.empty() ? "" : ", ") + name;
    }
    constexpr double long_work = 60;
    if (m->started || sum.seconds() < long_work) return std::nullopt;
    return fmt::format(
        "{} takes about {} at this size: {:.1e} instructions of the host, {:.1e} of wavefronts, {:.1e} events; Ctrl-C "
        "ends the run",
        names, span_text(sum.seconds()), sum.host, sum.wavefronts, sum.events);
}

std::string platform::failure_message() const { return m->failure_message(); }

std::vector<platform::fault_description> platform::faults() const { return describe_faults(); }

void platform::inject(const std::string& target, const std::string& kind, ticks at, const overrides& arguments) {
    std::vector<unparsed_value> given;
    for (const auto& [key, value] : arguments) given.push_back({key, value, "argument"});
    m->planned_faults->inject(target, kind, at, given);
}

std::uint16_t platform::listen_gdb(std::size_t node, std::uint16_t port, bool hold) {
    auto& a = m->contexts.at(node);
    a.gdb.reset();
    gdb_process process;
    process.name = fmt::format("node{}", node);
    process.id = static_cast<unsigned>(node) + 1;
    for (auto& hart : m->host(node).harts) process.threads.push_back(hart.get());
    process.lockstep_threads = process.threads.size();
    auto& devices = m->hardware->nodes[node]->devices;
    a.wavefronts = devices.debuggers(process.threads,
                                     [this, node](std::uint64_t physical, void* data, std::size_t size, bool write) {
                                         return m->access_of_gpu(node, physical, data, size, write);
                                     });
    // Lanes and command processors have address spaces of their own, which one map cannot describe.
    if (a.wavefronts.empty())
        for (const auto& r : m->host(node).direct_memory) process.memory.push_back({r.base, r.size, r.value.writable});

    gdb_hooks hooks;
    hooks.end_slice = [this] { m->hardware->timeline.stop(); };
    hooks.reset = [this, node] { reset(node); };
    hooks.kill = [this] { m->end(run_outcome::interrupted, "the debugger ended the run"); };
    hooks.now = [this] { return now(); };
    hooks.statistics = [](const std::string& prefix) {
        if (const auto why = missing_statistic(prefix); !why.empty()) throw input_error(why);
        return snapshot_statistics(prefix);
    };
    hooks.restart_statistics = [] { restart_statistics(); };
    if (!a.wavefronts.empty())
        hooks.stop_only = [&a](const std::string& kernel) {
            for (auto& w : a.wavefronts) w->stop_only(kernel);
        };
    if (devices.have_queue_pairs())
        hooks.queue_pair = [&devices](std::optional<std::uint32_t> number) {
            return number ? devices.describe_queue_pair(*number) : devices.list_queue_pairs();
        };
    if (!a.wavefronts.empty())
        hooks.gpu_queue = [&a, &devices](const std::string& gpu, std::optional<unsigned> number) {
            return devices.describe_queues(a.wavefronts, gpu, number);
        };
    hooks.start_trace = [this](const std::string& file) {
        const auto form =
            std::filesystem::path(file).extension() == ".pftrace" ? trace_file::protobuf : trace_file::json;
        trace::options what;
        what.path = file;
        m->recording = std::make_unique<trace_recording>(what, form, -1);
        return file.empty() ? m->results ? m->results->path() + "/trace.json"
                                         : std::string("memory: give a file to keep the trace without --out")
                            : file;
    };
    hooks.stop_trace = [this] {
        if (m->recording) m->recording->stop();
    };
    hooks.while_stopped = [this, node] {
        m->serve_consoles();
        for (auto& service : m->services) service();
        if (m->onlooker) m->onlooker->look();
        for (std::size_t i = 0; i < m->contexts.size(); ++i)
            if (i != node && m->contexts[i].gdb) m->contexts[i].gdb->serve();
        return !m->stop_wanted && !m->ending;
    };
    auto server = std::make_unique<gdb_server>(std::move(process), std::move(hooks));
    try {
        const auto chosen = server->listen(port);
        if (hold) server->hold();
        a.gdb = std::move(server);
        return chosen;
    } catch (const std::runtime_error& e) {
        throw input_error(e.what());
    }
}

bool platform::debugged(std::size_t node) const {
    const auto& server = m->contexts.at(node).gdb;
    return server && server->attached();
}

void platform::detach_after_fork() {
    m->capture.reset();  // its file is the parent's; all of it is there, since nothing runs
    m->onlooker.reset();
    m->hardware->timeline.interrupt_at(never);
    for (auto& a : m->contexts) {
        a.serial->abandon();
        if (a.gdb) a.gdb->abandon();
        a.gdb.reset();
    }
}

void platform::check_names() const { m->check_scopes(); }

void platform::start_trace(const trace::options& what, trace_file form) {
    trace_recording::check_names(what.filter, [this](const std::string& name) {
        return !m->partition || m->partition->is_of_rank(name, m->communicator->rank());
    });
    const int rank = m->partition ? static_cast<int>(m->communicator->rank()) : -1;
    auto own = what;
    if (m->partition)  // parts become one file
        own.max_bytes = std::max(trace::smallest_file, what.max_bytes / m->communicator->count());
    m->recording = std::make_unique<trace_recording>(own, form, rank);
}

void platform::start_capture(const std::string& file, const std::string& filter, std::uint64_t max_bytes) {
    m->capture.reset();
    if (!file.empty())
        m->capture = std::make_unique<network_capture>(m->hardware->network.get(), file, filter, max_bytes);
}

}  // namespace fabricvp
