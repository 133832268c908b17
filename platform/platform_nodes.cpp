// SPDX-License-Identifier: Apache-2.0
// How the nodes of a machine end, and what that means for the run.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "abi/finisher.h"
#include "platform/apps.h"
#include "platform/common/input_error.h"
#include "platform/platform_state.h"
#include "platform/results/junit.h"
#include "platform/results/outcome.h"

namespace fabricvp {
namespace {

bool ended(const node_context& a) { return a.outcome.state != node_state::running; }
bool rejected(const node_context& a) {
    return a.outcome.state == node_state::failed && a.outcome.status == FINISHER_REFUSED;
}

/// What a guest has said at last, without the end of the line.
std::string last_line(const std::string& output) {
    const auto end = output.find_last_not_of("\r\n");
    if (end == std::string::npos) return {};
    const auto before = output.find_last_of("\r\n", end);
    const auto begin = before == std::string::npos ? 0 : before + 1;
    return output.substr(begin, end + 1 - begin);
}

}  // namespace

void platform::implementation::node_ended(std::size_t i, node_state state, int status, std::string detail) {
    auto& a = contexts[i];
    if (ended(a)) return;
    a.outcome = {state, status, std::move(detail), hardware->timeline.now()};
    a.end_unreported = true;
    hardware->nodes[i]->power_down();
    if (synchronizer) unreported_ends.push_back(i);
    plan_end();
    if (end_at != never) hardware->timeline.stop();
}

void platform::implementation::plan_end() {
    ticks decided = never;
    const auto only = node_index(params.simulation.until);
    if (all_ended()) {
        decided = 0;
        for (const auto& a : contexts)
            if (ended(a)) decided = std::max(decided, a.outcome.at);
    }
    for (std::size_t i = 0; i < contexts.size(); ++i)
        if (ended(contexts[i]) && (params.simulation.until == "any" || only == i || rejected(contexts[i])))
            decided = std::min(decided, contexts[i].outcome.at);
    if (decided != never) end_at = std::min(end_at, decided + lookahead);
}

void platform::implementation::node_rejected(std::size_t i) {
    const auto last_output = last_line(contexts[i].serial->output());
    const std::string detail = last_output.empty()
                                   ? fmt::format("node{} refuses what it was asked for", i)
                                   : input_error(fmt::format("node{}: {}", i, last_output)).what();  // printable
    node_ended(i, node_state::failed, FINISHER_REFUSED, detail);
}

void platform::implementation::report_ends() {
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        auto& a = contexts[i];
        if (!ended(a) || !a.gdb) continue;
        if (std::exchange(a.end_unreported, false)) a.gdb->ended(a.outcome.status);
        hardware->nodes[i]->power_down();  // a debugger that leaves, or comes later, does not wake the dead
    }
}

bool platform::implementation::determines_end(std::size_t i) const {
    const auto only = node_index(params.simulation.until);
    return only ? *only == i : contexts[i].has_software() || (hardware->nodes[i] && hardware->nodes[i]->replay);
}

bool platform::implementation::all_ended() const {
    bool one = false;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        one = one || ended(contexts[i]);
        if (!ended(contexts[i]) && (contexts[i].has_software() || determines_end(i))) return false;
    }
    return one;
}

void platform::implementation::end_by_nodes() {
    const node_context* first = nullptr;
    for (const auto& a : contexts)
        if (rejected(a) && (!first || a.outcome.at < first->outcome.at)) first = &a;
    if (first) return end(run_outcome::rejected, first->outcome.detail, FINISHER_REFUSED);
    auto which = node_index(params.simulation.until);
    if (params.simulation.until == "any")
        for (std::size_t i = 0; i < contexts.size(); ++i)
            if (ended(contexts[i]) && (!which || contexts[i].outcome.at < contexts[*which].outcome.at)) which = i;
    std::vector<const node_outcome*> outcomes;
    for (std::size_t i = 0; i < contexts.size(); ++i)
        if (ended(contexts[i]) && (!which || *which == i)) outcomes.push_back(&contexts[i].outcome);
    // Failures first, the earliest before others.
    std::stable_sort(outcomes.begin(), outcomes.end(), [](const node_outcome* a, const node_outcome* b) {
        const bool failed = a->state == node_state::failed;
        return failed != (b->state == node_state::failed) ? failed : failed && a->at < b->at;
    });
    constexpr std::size_t max = 4;  // name a few, count the rest
    std::string detail;
    for (std::size_t i = 0; i < std::min(max, outcomes.size()); ++i) detail += (i ? "; " : "") + outcomes[i]->detail;
    if (outcomes.size() > max) detail += fmt::format("; and {} more have ended", outcomes.size() - max);
    const bool failed = outcomes.front()->state == node_state::failed;
    end(failed ? run_outcome::guest_failure : run_outcome::power_off, std::move(detail),
        failed ? outcomes.front()->status : 0);
}

void platform::implementation::add_verdicts(statistics_snapshot& values) const {
    bool all_reported = true, some = false, right = true;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        const auto& a = contexts[i];
        if (!app_of(a.images).empty()) {
            all_reported = all_reported && ended(a);
            if (ended(a)) {
                const bool ok = a.outcome.state == node_state::powered_off;
                values[fmt::format("node{}.app.ok", i)] = ok;
                some = true;
                right = right && ok;
            }
        }
        if (!a.test) continue;
        values[fmt::format("node{}.tohost.test", i)] = static_cast<double>(*a.test);
        auto& first = values.try_emplace("tohost.test", 0.0).first->second;
        if (first == 0) first = static_cast<double>(*a.test);
    }
    if (some && (all_reported || !right)) values["app.ok"] = right;
}

/// In a word: by what was simulated, by a time limit, or from outside.
std::string ended_by(const run_result& r) {
    if (r.outcome == run_outcome::time_limit) return "time";
    return r.outcome == run_outcome::interrupted && r.detail != input_wait_message ? "interrupted" : "guest";
}

std::string platform::implementation::failure_message() const {
    const bool by_nodes = ending && ending->outcome == run_outcome::power_off;  // they have said all there is to say
    const bool in_time = ending && ending->outcome != run_outcome::time_limit;
    for (std::size_t i = 0; i < contexts.size() && !by_nodes; ++i)
        if (determines_end(i) && contexts[i].outcome.state == node_state::failed) return contexts[i].outcome.detail;
    for (std::size_t i = 0; i < contexts.size() && !by_nodes && !in_time; ++i) {
        const auto& a = contexts[i];
        if (!determines_end(i) || ended(a)) continue;
        if (a.images.tohost) return fmt::format("node{}: tohost: the guest has not said whether it passed", i);
        if (const auto app = app_of(a.images); !app.empty())
            return fmt::format("node{}: application {} has not ended", i, app);
    }
    for (const auto& [node, script] : script_reports())
        if (!script.current_line.empty()) return script.current_line + ": the script was not done";
    return {};
}

std::string platform::script_results(const std::string& failure) const {
    const auto seconds = [](ticks time) { return static_cast<double>(time) / ticks_per_second; };
    std::vector<junit_suite> suites;
    bool explained = false;
    for (const auto& [i, script] : m->script_reports()) {
        std::string output = m->contexts[i].serial->output();
        for (const auto& p : m->rank_parts)
            if (const auto part = p.nodes.find(i); part != p.nodes.end()) output = part->second.console;
        junit_suite suite{fmt::format("node{}: {}", i, script.name), {}, std::move(output)};
        for (const auto& line : script.lines) {
            junit_case c{fmt::format("{}: {}", line.line, line.source), 0, {}, {}};
            if (line.progress == script_progress::done)
                c.seconds = seconds(line.end - line.begin);
            else if (line.progress == script_progress::waits)
                c.skipped = "the script did not come here";
            else {
                c.seconds = seconds(now() - line.begin);
                c.failure = !script.failure.empty() ? script.failure
                            : !failure.empty()      ? failure
                                                    : "the run ended before";
                explained = true;
            }
            suite.cases.push_back(std::move(c));
        }
        suites.push_back(std::move(suite));
    }
    if (!suites.empty()) suites.front().cases.push_back({"end of the run", 0, explained ? "" : failure, {}});
    return junit_xml(suites);
}

void platform::run_script(std::size_t node, const std::string& text, const std::string& name) {
    auto& a = m->contexts.at(node);
    auto script = std::make_unique<console_script>(text, name);
    m->has_scripts = true;
    if (!has(node)) return;
    a.script = std::move(script);
    a.script->type = [&a](std::string_view typed) { a.serial->type(typed); };
    a.serial->mute_input();
    a.serial->on_output([this, &a](char c) {
        a.script->on_byte(c, now());
        if (a.script->done() && !m->lookahead) m->hardware->timeline.stop();
    });
}

std::map<std::size_t, platform::implementation::script_state> platform::implementation::look_at_scripts() {
    std::map<std::size_t, script_state> all;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        const auto& script = contexts[i].script;
        if (!script) continue;
        script->poll(hardware->timeline.now());
        all[i] = {script->deadline() != never, script->done(), script->finishes(), script->failure()};
    }
    return all;
}

void platform::implementation::conclude_scripts(const std::map<std::size_t, script_state>& all) {
    bool all_done = true, finishes = false;
    scripts_pending = false;
    for (const auto& [node, script] : all) {
        if (!script.failure.empty()) return end(run_outcome::guest_failure, script.failure, 1);
        all_done = all_done && script.done;
        finishes = finishes || script.finishes;
        scripts_pending = scripts_pending || script.waits;
    }
    if (!all.empty() && all_done && !finishes) end(run_outcome::event, "the script is done");
}

void platform::implementation::serve_scripts() {
    if (has_scripts && (!lookahead || hardware->timeline.now() >= slice_end)) conclude_scripts(look_at_scripts());
}

std::map<std::size_t, script_report> platform::implementation::script_reports() const {
    std::map<std::size_t, script_report> all;
    for (std::size_t i = 0; i < contexts.size(); ++i)
        if (const auto& s = contexts[i].script) all[i] = s->report();
    for (const auto& p : rank_parts)
        for (const auto& [i, part] : p.nodes)
            if (part.script) all[i] = *part.script;
    return all;
}

bool platform::implementation::owes_result(std::size_t i) const {
    const auto& a = contexts[i];
    return determines_end(i) && !ended(a) && (a.images.tohost || !app_of(a.images).empty());
}

run_record platform::implementation::record(bool complete) const {
    run_record r;
    r.complete = complete;
    r.command = command;
    r.seed = params.simulation.seed;
    r.until = params.simulation.until;
    r.time = hardware->timeline.now();
    if (complete) r.result = ending;
    if (ending) r.ended = ended_by(*ending);
    for (const auto& a : contexts) r.nodes.push_back({a.outcome, app_of(a.images), a.test});
    return r;
}

}  // namespace fabricvp
