// SPDX-License-Identifier: Apache-2.0
// A machine of which other processes have parts (ranks/): what this one builds, how the run goes on together, and what
// is gathered in the end.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <sys/resource.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "platform/common/files.h"
#include "platform/platform_state.h"
#include "platform/results/outcome.h"
#include "platform/topology.h"

namespace fabricvp {

using json = nlohmann::json;

machine_partition platform::implementation::local_partition() {
    if (!communicator) return {};
    machine_partition s;
    s.has = [this](std::size_t node) { return partition->of_node(node) == communicator->rank(); };
    s.network.here = [this](const std::string& name) { return partition->of_vertex(name) == communicator->rank(); };
    s.network.adapter_port = [this](const std::string& name) -> const network::port_params& {
        const auto dot = name.find('.');
        const auto ends = params.nodes.at(node_index(name.substr(0, dot)).value()).devices.network_ends();
        return std::find_if(ends.begin(), ends.end(), [&](const auto& e) { return e.name == name.substr(dot + 1); })
            ->port->link;
    };
    s.network.send = [this](const std::string& name, const network::link_message& m) {
        if (name.empty())
            synchronizer->post(m);
        else
            synchronizer->post(partition->of_vertex(name), m);
    };
    return s;
}

void platform::implementation::create_synchronizer() {
    ranks::window_synchronizer::hooks h;
    h.deliver = [this](const network::link_message& m) { hardware->network->receive(m); };
    h.control_messages = [this] { return control_messages(); };
    h.apply_control_messages = [this](const std::string& reported) { apply_control_messages(reported); };
    h.limit = [this] { return std::min({slice_end, look_end, end_at}); };
    h.stopped = [this] { serve_resets(); };
    synchronizer =
        std::make_unique<ranks::window_synchronizer>(*communicator, hardware->timeline, lookahead, std::move(h));
}

/// Nodes that have ended, and faults whose marks have come.
std::string platform::implementation::control_messages() {
    if (unreported_ends.empty() && forwarded_faults.empty()) return {};
    json all = {{"faults", std::exchange(forwarded_faults, {})}, {"ends", json::array()}};
    for (const auto i : std::exchange(unreported_ends, {})) {
        const auto& a = contexts[i];
        all["ends"].push_back({i, static_cast<int>(a.outcome.state), a.outcome.status, a.outcome.detail, a.outcome.at,
                               a.test ? json(*a.test) : json()});
    }
    return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

void platform::implementation::apply_control_messages(const std::string& control_messages) {
    const auto all = json::parse(control_messages);
    for (const auto& [number, when] : all.at("faults").get<std::vector<std::pair<std::size_t, ticks>>>())
        planned_faults->order(number, when);
    for (const auto& e : all.at("ends")) {
        auto& a = contexts.at(e.at(0).get<std::size_t>());
        a.outcome = {static_cast<node_state>(e.at(1).get<int>()), e.at(2), e.at(3), e.at(4)};
        if (!e.at(5).is_null()) a.test = e.at(5).get<std::uint64_t>();
    }
    plan_end();
}

/// As run_slices(), in step with the other ranks: whatever ends the run, ends it in all of them at one time.
void platform::implementation::run_with_ranks(ticks limit) {
    auto& timeline = hardware->timeline;
    if (all_ended()) return end_by_nodes();
    while (!ending) {
        serve_consoles();
        if (has_scripts) agree_on_scripts();
        for (auto& service : services) service();
        if (ending) return;
        if (timeline.now() >= limit) return end_by_limit();
        slice_end = std::min(limit, next_slice_end(timeline.now()));
        const bool quiet = !run_ranks_to_slice_end();
        if (ending) return;
        if (timeline.now() >= end_at) return end_by_nodes();
        if (recording) recording->sample(timeline.now());
        check_tohost();
        serve_resets();
        agree_on_end(limit, quiet);
    }
}

/// \returns false if nothing is scheduled in any rank any more
bool platform::implementation::run_ranks_to_slice_end() {
    auto& timeline = hardware->timeline;
    for (;;) {
        if (look && timeline.now() >= look->next()) serve_onlooker_of_ranks();
        if (ending) return true;
        if (look) look_end = look->next();
        const bool quiet = !synchronizer->run();
        const auto until = std::min({slice_end, look_end, end_at});
        if (quiet) synchronizer->advance_to(until);
        if (timeline.now() >= std::min(slice_end, end_at)) return !quiet;
    }
}

/// Makes the monitor of the whole machine in rank 0, which the others help with.
void platform::implementation::begin_look(std::unique_ptr<run_subject> own) {
    look = std::make_unique<ranked_look>(*communicator, *partition, std::move(own));
    if (communicator->rank() == 0) {
        auto whole = std::make_unique<ranked_subject>(*look);
        looked_at = whole.get();
        onlooker = std::make_shared<run_monitor>(std::move(whole));
    }
    go_on_after_look();
}

/// Where all ranks stand still: as serve_onlooker(), by rank 0.
void platform::implementation::serve_onlooker_of_ranks() {
    while (onlooker && onlooker->look() && !stop_wanted) {
        for (auto& service : services) service();
        onlooker->rest();
    }
    go_on_after_look();
    if (look->stopped()) end(run_outcome::interrupted, "stopped on request");
}

void platform::implementation::go_on_after_look() {
    if (onlooker)
        look->go_on(looked_at->look_at(), onlooker->watched(), stop_wanted);
    else
        look->follow();
}

/// As serve_scripts(), of all ranks' scripts.
void platform::implementation::agree_on_scripts() {
    json own = json::array();
    for (const auto& [node, s] : look_at_scripts()) own.push_back({node, s.waits, s.done, s.finishes, s.failure});
    std::map<std::size_t, script_state> all;
    for (const auto& reported : synchronizer->all(own.dump(-1, ' ', false, json::error_handler_t::replace)))
        for (const auto& s : json::parse(reported))
            all[s.at(0).get<std::size_t>()] = {s.at(1), s.at(2), s.at(3), s.at(4)};
    conclude_scripts(all);
}

/// All ranks say how things stand with them, so that all come to the same conclusion.
void platform::implementation::agree_on_end(ticks limit, bool quiet) {
    const auto now = hardware->timeline.now();
    json own = {{"stop", stop_wanted.load()}, {"resets", hardware->timeline.next_event_time() != never}};
    if (quiet) {
        const auto [stuck, harts] = guard->idle();
        own["idle"] = {stuck, harts};
    } else if (const auto stuck = guard->check(now)) {
        own["stuck"] = *stuck;
    }
    const bool watched = look && look->watched();
    own["rests"] = watched && all_harts_wait();
    if (input_wait && limit == never && !scripts_pending && !watched) {
        const auto guests = input_wait->look(now);
        own["guests"] = {guests.some, guests.all};
    }
    bool some = false, all_wait = true, moves = false, stop = false, stuck = false, all_rest = true;
    std::string harts;
    for (const auto& reported : synchronizer->all(own.dump(-1, ' ', false, json::error_handler_t::replace))) {
        const auto its = json::parse(reported);
        if (its.contains("stuck") && !ending) end(run_outcome::watchdog, its["stuck"]);
        stop = stop || its["stop"].get<bool>();
        moves = moves || its["resets"].get<bool>();
        all_rest = all_rest && its["rests"].get<bool>();
        if (its.contains("guests")) {
            some = some || its["guests"][0].get<bool>();
            all_wait = all_wait && its["guests"][1].get<bool>();
        }
        if (!its.contains("idle")) continue;
        stuck = stuck || its["idle"][0].get<bool>();
        if (const std::string its_harts = its["idle"][1]; !its_harts.empty())
            harts += (harts.empty() ? "" : ", ") + its_harts;
    }
    if (stop) end(run_outcome::interrupted, "stopped on request");
    if (watched && onlooker && !ending) pace(all_rest);
    if (quiet && !moves && end_at == never) {
        if (stuck)
            end(run_outcome::watchdog, "watchdog: nothing is scheduled any more, and something still waits: " + harts);
        else if (watched)
            return;  // who looks on may type
        else if (limit == never && !scripts_pending)
            end(run_outcome::idle, "nothing can happen any more: " + harts);
        else if (limit != never)
            synchronizer->advance_to(limit);
    } else if (some && all_wait) {
        end(run_outcome::interrupted, input_wait_message);
    }
}

void platform::implementation::add_parallel_work(statistics_snapshot& values, const ranks::parallel_work& work) {
    values["sim.parallel.work_s"] = work.seconds();
    values["sim.parallel.critical_path_s"] = work.critical_path_seconds();
    values["sim.parallel.bound"] = work.bound();
    values["sim.parallel.work_events"] = static_cast<double>(work.events());
    values["sim.parallel.critical_path_events"] = static_cast<double>(work.critical_path_events());
    values["sim.parallel.bound_by_events"] = work.bound_by_events();
    values["sim.parallel.windows"] = static_cast<double>(work.windows());
    values["sim.parallel.active_ranks"] = work.active_ranks();
}

/// What ranks would have to do, in a process that has the whole machine.
void platform::implementation::add_plan(statistics_snapshot& values) const {
    const auto measured = plan->measured();
    add_parallel_work(values, measured.work());
    values["sim.parallel.planned_ranks"] = measured.ranks();
    for (unsigned r = 0; r < measured.ranks(); ++r) {
        const auto rank = fmt::format("sim.rank{}.", r);
        values[rank + "work_s"] = measured.work_of(r).seconds;
        values[rank + "work_events"] = static_cast<double>(measured.work_of(r).events);
        for (unsigned other = 0; other < measured.ranks(); ++other)
            if (other != r) values[fmt::format("{}waited_for.rank{}_s", rank, other)] = measured.waited(r, other);
    }
}

void platform::plan_ranks(unsigned count) {
    m->planned_parts = std::make_unique<ranks::partition>(m->params, count);
    if (count > 1)
        for (std::size_t i = 0; i < m->contexts.size(); ++i)
            if (m->contexts[i].has_software()) m->planned_parts->check_scope(i, m->params.nodes[i].host.marker.scope);
    m->plan = std::make_unique<ranks::rank_plan>(*m->planned_parts, m->lookahead, run_slice);
}

/// What this rank has cost; rank 0 has what all know.
void platform::implementation::add_rank(statistics_snapshot& values) const {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    const auto rank = fmt::format("sim.rank{}.", communicator->rank());
    values[rank + "windows"] = static_cast<double>(synchronizer->count());
    values[rank + "waited_s"] = communicator->waited();
    for (unsigned r = 0; r < communicator->count(); ++r)
        if (r != communicator->rank())
            values[fmt::format("{}waited_for.rank{}_s", rank, r)] = synchronizer->waited_for(r);
    if (communicator->rank() == 0) add_parallel_work(values, synchronizer->work());
    values[rank + "work_s"] = synchronizer->own_seconds();
    values[rank + "work_events"] = static_cast<double>(synchronizer->own_events());
    values[rank + "user_s"] = seconds(used.ru_utime);
    values[rank + "system_s"] = seconds(used.ru_stime);
    values[rank + "memory_bytes"] = static_cast<double>(used.ru_maxrss) * 1024;
}

ranks::rank_part platform::implementation::own_rank_part() {
    ranks::rank_part p;
    p.values = own_statistics();
    p.notes = notes_of(p.values);
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        if (!hardware->nodes[i]) continue;
        const auto& node = *hardware->nodes[i];
        auto& part = p.nodes[i];
        part.console = contexts[i].serial->output();
        part.input = contexts[i].serial->recorded_input();
        part.regions = node.host.marker.regions();
    }
    for (auto& [i, script] : script_reports()) p.nodes[i].script = std::move(script);
    p.topology = topology_text(topology_of(*hardware));
    if (profile && profile->samples()) p.stacks = profile->stacks(hardware->timeline.now());
    if (profile && profile->counts_executions()) p.executions = profile->executions().table();
    if (recording) p.trace = read_file(recording->finished(), std::size_t{1} << 34);
    return p;
}

void platform::gather() {
    if (!m->communicator) return;
    std::vector<ranks::bytes> out(m->communicator->count()), in(m->communicator->count());
    const auto own = ranks::to_bytes(m->own_rank_part());
    if (m->communicator->rank() != 0) out[0].assign(own.begin(), own.end());
    m->communicator->all_to_all(out, in);
    if (m->communicator->rank() != 0) return;
    m->rank_parts.clear();
    for (std::size_t r = 0; r < in.size(); ++r)
        m->rank_parts.push_back(ranks::parse_rank_part(r == 0 ? own : std::string(in[r].begin(), in[r].end())));
}

}  // namespace fabricvp
