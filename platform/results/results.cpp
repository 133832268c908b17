// SPDX-License-Identifier: Apache-2.0
#include "platform/results/results.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/config/renamed_names.h"
#include "platform/params/machine_params.h"
#include "platform/results/outcome.h"

namespace fabricvp {
namespace {

using found_notes = notes_finder::found;
using fixed_notes = std::map<std::string_view, found_notes>;

const fixed_notes& platform_notes() {
    static const fixed_notes notes = {
        {"sim.time_s", {"s", "simulated time"}},
        {"sim.wall_s", {"s", "wall-clock time spent in run()"}},
        {"sim.events", {"1", "steps of the calendar with and without events"}},
        {"sim.instructions", {"1", "instructions retired by all harts"}},
        {"sim.polls.skipped_instructions", {"1", "instructions that sleeping harts accounted for, not executed"}},
        {"sim.polls.skipped_slices", {"1", "slices up to a pause that they slept over"}},
        {"sim.polls.executed_first", {"1", "slices up to a pause that were executed: the one before was another"}},
        {"sim.polls.executed_code", {"1", "the same: their code was not known to be there at no cost"}},
        {"sim.polls.executed_memory",
         {"1", "the same: what they load or store takes time, or more than bytes depend on it"}},
        {"sim.polls.executed_system",
         {"1", "the same: they use CSRs or floating point, or foreign models are at work"}},
        {"sim.polls.executed_counters", {"1", "the same: what they do to registers is not understood"}},
        {"sim.polls.executed_too_long", {"1", "the same: they are too long"}},
        {"sim.polls.executed_few_rounds", {"1", "the same: they end soon"}},
    };
    return notes;
}

/// Of a node (node0.app.ok), or of all together.
found_notes verdict_notes(std::string_view path) {
    const auto dot = path.find('.');
    const auto rest = dot != path.npos && node_index(std::string(path.substr(0, dot))) ? path.substr(dot + 1) : path;
    if (rest == "app.ok") return {"1", "1: the applications' results are right, 0: one is wrong or a kernel faulted"};
    if (rest == "tohost.test") return {"1", "0: passed, else the number of the failed test"};
    return {};
}

/// Of one rank of a run (sim.rank0.windows).
found_notes rank_notes(std::string_view path) {
    static const fixed_notes together = {
        {"sim.parallel.work_s", {"s", "processor time of all ranks' windows, without waiting"}},
        {"sim.parallel.critical_path_s", {"s", "processor time of each window's busiest rank"}},
        {"sim.parallel.bound", {"1", "work over critical path: how many times as fast ranks can be as one process"}},
        {"sim.parallel.work_events", {"1", "events of all ranks' windows"}},
        {"sim.parallel.critical_path_events", {"1", "events of the rank that had most of them in a window"}},
        {"sim.parallel.bound_by_events", {"1", "the bound if all events took the same time"}},
        {"sim.parallel.windows", {"1", "windows of simulated time, after each of which ranks exchange messages"}},
        {"sim.parallel.active_ranks", {"1", "mean number of ranks that had events in a window"}},
        {"sim.parallel.planned_ranks", {"1", "ranks that were planned, in a run of one process"}},
    };
    if (const auto found = together.find(path); found != together.end()) return found->second;
    if (path.compare(0, 8, "sim.rank") != 0) return {};
    if (path.find(".waited_for.rank") != path.npos)
        return {"s", "part of waited_s at whose end that rank was the last one at work; planned: it had most to do"};
    static const fixed_notes notes = {
        {"windows", {"1", "windows of simulated time in which it took part"}},
        {"work_s", {"s", "processor time of its windows, without waiting"}},
        {"work_events", {"1", "events of its windows"}},
        {"waited_s", {"s", "wall-clock time between its windows: it sent messages, waited, or had nothing to do"}},
        {"user_s", {"s", "processor time of the process"}},
        {"system_s", {"s", "processor time of the process in the operating system"}},
        {"memory_bytes", {"B", "most memory that the process had"}},
    };
    const auto found = notes.find(path.substr(path.find('.', 8) + 1));
    return found == notes.end() ? found_notes{} : found->second;
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void append_csv_cell(std::string& out, std::string_view text) {
    const auto special = [](char c) { return c == ',' || c == '"' || c == '\n'; };
    if (std::none_of(text.begin(), text.end(), special)) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) out.append(c == '"' ? 2 : 1, c);
    out += '"';
}

/// As JSON has it.
void append_quoted(std::string& out, const std::string& text) {
    const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::all_of(text.begin(), text.end(), plain))
        out.append(1, '"').append(text).append(1, '"');
    else
        out += nlohmann::json(text).dump();
}

/// number_text() without a string of its own.
void append_number(std::string& out, double value) {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!std::isfinite(value))
        out += "null";
    else if (std::abs(value) <= exact && value == std::floor(value))
        fmt::format_to(std::back_inserter(out), "{}", static_cast<std::int64_t>(value));
    else
        fmt::format_to(std::back_inserter(out), "{}", value);
}

}  // namespace

std::string number_text(double value) {
    std::string out;
    append_number(out, value);
    return out;
}

std::string statistics_json(const statistics_snapshot& values) {
    std::string out = "{";
    out.reserve(values.size() * 64);
    const char* separator = "\n  ";
    for (const auto& [path, value] : values) {
        out += separator;
        append_quoted(out, path);
        out += ": ";
        append_number(out, value);
        separator = ",\n  ";
    }
    return out + "\n}\n";
}

std::string regions_json(const std::vector<const std::vector<host::marker::region>*>& nodes) {
    std::string out = "[";
    const char* separator = "\n";
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const auto& r : *nodes[i]) {
            const auto seconds = [](ticks t) { return number_text(static_cast<double>(t) / ticks_per_second); };
            out += fmt::format("{}{{\"node\": {}, \"label\": {}, \"from_s\": {}, \"to_s\": {}, \"statistics\": {}}}",
                               separator, i, nlohmann::json(r.label).dump(), seconds(r.from), seconds(r.to),
                               statistics_json(r.values));
            separator = ",\n";
        }
    return out + "]\n";
}

notes_finder::notes_finder(std::vector<const notes_by_path*> foreign) : m_foreign(std::move(foreign)) {
    m_own.reserve(all_statistics().size());
    for (const auto* s : all_statistics()) m_own.emplace(s->path(), s);
}

notes_finder::found notes_finder::operator()(const std::string& path) const {
    for (const auto* notes : m_foreign)
        if (const auto at = notes->find(path); at != notes->end()) return {at->second.unit, at->second.help};
    if (path.compare(0, 4, "sim.") == 0) {
        if (const auto own = platform_notes().find(path); own != platform_notes().end()) return own->second;
        if (const auto rank = rank_notes(path); !rank.help.empty()) return rank;
    }
    if (ends_with(path, "app.ok") || ends_with(path, "tohost.test"))
        if (const auto verdict = verdict_notes(path); !verdict.help.empty()) return verdict;
    for (auto end = path.size(); end != std::string::npos && end != 0; end = path.rfind('.', end - 1))
        if (const auto s = m_own.find(std::string_view(path).substr(0, end)); s != m_own.end())
            return {s->second->unit(), s->second->help()};
    return {};
}

notes_by_path notes_of(const statistics_snapshot& values) {
    const notes_finder find;
    notes_by_path notes;
    for (const auto& value : values) {
        const auto found = find(value.first);
        notes.emplace_hint(notes.end(), value.first, statistic_notes{std::string(found.unit), std::string(found.help)});
    }
    return notes;
}

std::string statistics_csv(const statistics_snapshot& values, const notes_finder& notes) {
    std::string out = "path,value,unit,help\n";
    out.reserve(values.size() * 128);
    for (const auto& [path, value] : values) {
        const auto known = notes(path);
        append_csv_cell(out, path);
        out += ',';
        append_number(out, value);
        out += ',';
        append_csv_cell(out, known.unit);
        out += ',';
        append_csv_cell(out, known.help);
        out += '\n';
    }
    return out;
}

const char* name_of(run_outcome outcome) {
    switch (outcome) {
        case run_outcome::time_limit: return "time_limit";
        case run_outcome::power_off: return "power_off";
        case run_outcome::guest_failure: return "guest_failure";
        case run_outcome::rejected: return "refused";
        case run_outcome::breakpoint: return "breakpoint";
        case run_outcome::event: return "event";
        case run_outcome::interrupted: return "interrupted";
        case run_outcome::idle: return "idle";
        case run_outcome::watchdog: return "watchdog";
    }
    return "";
}

const char* name_of(node_state state) {
    return state == node_state::running ? "running" : state == node_state::powered_off ? "powered_off" : "failed";
}

std::string run_json(const run_record& r) {
    using json = nlohmann::ordered_json;
    const auto seconds = [](ticks t) { return static_cast<double>(t) / ticks_per_second; };
    json out = {{"complete", r.complete},
                {"version", FABRICVP_VERSION},
                {"command", r.command},
                {"seed", r.seed},
                {"until", r.until}};
    if (r.result) {
        out["ended"] = r.ended;
        out["outcome"] = name_of(r.result->outcome);
        out["status"] = r.result->guest_status;
        out["detail"] = r.result->detail;
    }
    if (r.complete) out["time_s"] = seconds(r.time);
    for (std::size_t i = 0; i < r.nodes.size(); ++i) {
        const auto& n = r.nodes[i];
        json node = {{"node", fmt::format("node{}", i)}};
        if (!n.app.empty()) node["app"] = n.app;
        if (r.complete) {
            node["outcome"] = name_of(n.outcome.state);
            if (n.outcome.state != node_state::running) {
                node["status"] = n.outcome.status;
                node["detail"] = n.outcome.detail;
                node["time_s"] = seconds(n.outcome.at);
            }
            if (n.test) node["tohost_test"] = *n.test;
        }
        out["nodes"].push_back(std::move(node));
    }
    return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

bool is_earlier_run(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (!std::filesystem::exists(folder / "run.json", ignored)) return false;
    const auto run = nlohmann::json::parse(read_file((folder / "run.json").string(), 1 << 24), nullptr, false);
    return run.is_object() && has_earlier_names(run.value("version", ""));
}

statistics_snapshot read_statistics(const std::string& path) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    const auto has = [&](const char* name) {
        return std::filesystem::exists(std::filesystem::path(path) / name, ignored);
    };
    if (folder && has("result.json") && !has("stats.json"))
        throw input_error(
            path + ": is the folder of an experiment, not of a run: fabricvp.experiments.read_tables() reads it");
    if (const auto run = std::filesystem::path(path) / "run.json"; folder && std::filesystem::exists(run, ignored))
        if (const auto parsed = nlohmann::json::parse(read_file(run.string(), 1 << 24), nullptr, false);
            !parsed.is_object() || !parsed.value("complete", false))
            throw input_error(run.string() + ": this run has not ended, or was killed: there are no results");
    const auto file = folder ? (std::filesystem::path(path) / "stats.json").string() : path;
    const auto parsed = nlohmann::json::parse(read_file(file, 1 << 28), nullptr, false);
    if (!parsed.is_object()) throw input_error(file + ": not a file of statistics (a JSON object of numbers)");
    const bool earlier = folder && is_earlier_run(path);
    statistics_snapshot values;
    for (const auto& [key, value] : parsed.items()) {
        if (!value.is_number() && !value.is_null())
            throw input_error(fmt::format("{}: '{}' is not a number", file, key));
        values[earlier ? current_path(key) : key] = value.is_null() ? std::nan("") : value.get<double>();
    }
    return values;
}

}  // namespace fabricvp
