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
#include "platform/fabric_drawing.h"
#include "platform/files.h"
#include "platform/platform_state.h"

namespace fabricvp {

using json = nlohmann::json;

machine_share platform::implementation::share() {
    if (!others) return {};
    machine_share s;
    s.has = [this](std::size_t node) { return parts->of_node(node) == others->rank(); };
    s.network.here = [this](const std::string& name) { return parts->of_vertex(name) == others->rank(); };
    s.network.adapter_port = [this](const std::string& name) -> const network::port_params& {
        const auto dot = name.find('.');
        auto& hcas = params.nodes.at(node_index(name.substr(0, dot)).value()).hcas;
        return std::find_if(hcas.begin(), hcas.end(), [&](const auto& h) { return h.name == name.substr(dot + 1); })
            ->network.link;
    };
    s.network.send = [this](const std::string& name, const network::link_message& m) {
        if (name.empty())
            team->post(m);
        else
            team->post(parts->of_vertex(name), m);
    };
    return s;
}

void platform::implementation::join_team() {
    ranks::windows::hooks h;
    h.deliver = [this](const network::link_message& m) { hardware->network->hear(m); };
    h.tell = [this] { return news(); };
    h.learn = [this](const std::string& said) { learn(said); };
    h.limit = [this] { return std::min(border, end_at); };
    h.stopped = [this] { serve_resets(); };
    team = std::make_unique<ranks::windows>(*others, hardware->timeline, lookahead, std::move(h));
}

/// Nodes that have ended, and faults whose marks have come.
std::string platform::implementation::news() {
    if (untold.empty() && fault_orders.empty()) return {};
    json all = {{"faults", std::exchange(fault_orders, {})}, {"ends", json::array()}};
    for (const auto i : std::exchange(untold, {})) {
        const auto& a = around[i];
        all["ends"].push_back({i, static_cast<int>(a.outcome.state), a.outcome.status, a.outcome.detail, a.outcome.at,
                               a.test ? json(*a.test) : json()});
    }
    return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

void platform::implementation::learn(const std::string& news) {
    const auto all = json::parse(news);
    for (const auto& [number, when] : all.at("faults").get<std::vector<std::pair<std::size_t, ticks>>>())
        planned_faults->order(number, when);
    for (const auto& e : all.at("ends")) {
        auto& a = around.at(e.at(0).get<std::size_t>());
        a.outcome = {static_cast<node_state>(e.at(1).get<int>()), e.at(2), e.at(3), e.at(4)};
        if (!e.at(5).is_null()) a.test = e.at(5).get<std::uint64_t>();
    }
    plan_end();
}

/// As run_slices(), in step with the other ranks: whatever ends the run, ends it in all of them at one time.
void platform::implementation::run_together(ticks limit) {
    auto& timeline = hardware->timeline;
    if (all_ended()) return end_by_nodes();
    while (!ending) {
        serve_consoles();
        for (auto& service : services) service();
        if (timeline.now() >= limit) return end_by_limit();
        border = std::min(limit, next_border(timeline.now()));
        const bool quiet = !team->run();
        if (quiet) team->pass(std::min(border, end_at));
        if (timeline.now() >= end_at) return end_by_nodes();
        if (recording) recording->sample(timeline.now());
        check_tohost();
        serve_resets();
        agree(limit, quiet);
    }
}

/// All ranks say how things stand with them, so that all come to the same conclusion.
void platform::implementation::agree(ticks limit, bool quiet) {
    const auto now = hardware->timeline.now();
    json own = {{"stop", stop_wanted.load()}, {"resets", hardware->timeline.next_event_time() != never}};
    if (quiet) {
        const auto [stuck, harts] = guard->idle();
        own["idle"] = {stuck, harts};
    } else if (const auto stuck = guard->check(now)) {
        own["stuck"] = *stuck;
    }
    if (patience && limit == never) {
        const auto guests = patience->look(now);
        own["guests"] = {guests.some, guests.all};
    }
    bool some = false, all_wait = true, moves = false, stop = false, stuck = false;
    std::string harts;
    for (const auto& said : team->all(own.dump(-1, ' ', false, json::error_handler_t::replace))) {
        const auto its = json::parse(said);
        if (its.contains("stuck") && !ending) end(run_outcome::watchdog, its["stuck"]);
        stop = stop || its["stop"].get<bool>();
        moves = moves || its["resets"].get<bool>();
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
    if (quiet && !moves && end_at == never) {
        if (stuck)
            end(run_outcome::watchdog, "watchdog: nothing is scheduled any more, and something still waits: " + harts);
        else if (limit == never)
            end(run_outcome::idle, "nothing can happen any more: " + harts);
        else
            team->pass(limit);
    } else if (some && all_wait) {
        end(run_outcome::interrupted, nobody_types);
    }
}

/// What this rank has cost.
void platform::implementation::add_rank(statistics_snapshot& values) const {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    const auto rank = fmt::format("sim.rank{}.", others->rank());
    values[rank + "windows"] = static_cast<double>(team->count());
    values[rank + "waited_s"] = others->waited();
    values[rank + "user_s"] = seconds(used.ru_utime);
    values[rank + "system_s"] = seconds(used.ru_stime);
    values[rank + "memory_bytes"] = static_cast<double>(used.ru_maxrss) * 1024;
}

/// \param whole with what is in files
ranks::portion platform::implementation::own_portion(bool whole) {
    ranks::portion p;
    p.values = own_statistics();
    p.notes = notes_of(p.values);
    for (std::size_t i = 0; i < around.size(); ++i) {
        if (!hardware->nodes[i]) continue;
        const auto& node = *hardware->nodes[i];
        auto& part = p.nodes[i];
        part.console = around[i].serial->output();
        part.input = around[i].serial->recorded_input();
        part.regions = node.host.marker.regions();
        if (node.fabric) part.fabric = fabric_svg(*node.fabric, measured_traffic(node));
    }
    if (whole && recording) p.trace = read_file(recording->finished(), std::size_t{1} << 34);
    return p;
}

void platform::gather() {
    if (!m->others) return;
    std::vector<ranks::bytes> out(m->others->count()), in(m->others->count());
    const auto own = ranks::to_bytes(m->own_portion());
    if (m->others->rank() != 0) out[0].assign(own.begin(), own.end());
    m->others->trade(out, in);
    if (m->others->rank() != 0) return;
    m->portions.clear();
    for (std::size_t r = 0; r < in.size(); ++r)
        m->portions.push_back(ranks::portion_of(r == 0 ? own : std::string(in[r].begin(), in[r].end())));
}

}  // namespace fabricvp
