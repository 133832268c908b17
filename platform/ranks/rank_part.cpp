// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/rank_part.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabricvp::ranks {

namespace {

using json = nlohmann::json;

json text(const std::string& s) { return json::binary({s.begin(), s.end()}); }

json to_json(const script_report& s) {
    json lines = json::array();
    for (const auto& l : s.lines)
        lines.push_back({l.line, text(l.source), static_cast<int>(l.progress), l.begin, l.end});
    return {text(s.name), text(s.failure), text(s.current_line), std::move(lines)};
}

std::string text_of(const json& j) { return {j.get_binary().begin(), j.get_binary().end()}; }

script_report script_of(const json& j) {
    script_report s{text_of(j.at(0)), text_of(j.at(1)), text_of(j.at(2)), {}};
    for (const auto& l : j.at(3))
        s.lines.push_back(
            {l.at(0), text_of(l.at(1)), static_cast<script_progress>(l.at(2).get<int>()), l.at(3), l.at(4)});
    return s;
}

}  // namespace

std::string to_bytes(const rank_part& p) {
    json j = {{"values", p.values}, {"topology", text(p.topology)}, {"trace", text(p.trace)}};
    auto& notes = j["notes"] = json::array();
    for (const auto& [path, n] : p.notes) notes.push_back({path, n.unit, n.help});
    auto& nodes = j["nodes"] = json::array();
    for (const auto& [number, n] : p.nodes) {
        json regions = json::array();
        for (const auto& r : n.regions) regions.push_back({text(r.label), r.from, r.to, r.values});
        nodes.push_back(
            {number, text(n.console), text(n.input), std::move(regions), n.script ? to_json(*n.script) : json()});
    }
    auto& stacks = j["stacks"] = json::array();
    for (const auto& [stack, samples] : p.stacks) stacks.push_back({text(stack), samples});
    auto& executions = j["executions"] = json::array();
    for (const auto& [file, counts] : p.executions) executions.push_back({text(file), counts});
    const auto bytes = json::to_cbor(j);
    return {bytes.begin(), bytes.end()};
}

rank_part parse_rank_part(const std::string& bytes) try {
    const auto j = json::from_cbor(bytes);
    rank_part p;
    p.values = j.at("values").get<statistics_snapshot>();
    p.topology = text_of(j.at("topology"));
    p.trace = text_of(j.at("trace"));
    for (const auto& n : j.at("notes")) p.notes[n.at(0)] = {n.at(1), n.at(2)};
    for (const auto& n : j.at("nodes")) {
        auto& to = p.nodes[n.at(0).get<std::size_t>()];
        to.console = text_of(n.at(1));
        to.input = text_of(n.at(2));
        for (const auto& r : n.at(3))
            to.regions.push_back({text_of(r.at(0)), r.at(1), r.at(2), r.at(3).get<statistics_snapshot>()});
        if (!n.at(4).is_null()) to.script = script_of(n.at(4));
    }
    for (const auto& s : j.at("stacks")) p.stacks[text_of(s.at(0))] = s.at(1);
    for (const auto& e : j.at("executions")) e.at(1).get_to(p.executions[text_of(e.at(0))]);
    return p;
} catch (const json::exception& e) {
    throw std::runtime_error(fmt::format("what a rank has measured cannot be read: {}", e.what()));
}

statistics_snapshot merged_values(const std::vector<rank_part>& all) {
    static const std::set<std::string> once = {"network.sweeps", "sim.time_s", "sim.wall_s"};
    if (all.empty()) return {};
    auto sum = all.front().values;
    for (auto p = all.begin() + 1; p != all.end(); ++p)
        for (const auto& [path, value] : p->values)
            if (const auto [at, added] = sum.emplace(path, value); !added && !once.count(path)) at->second += value;
    return sum;
}

std::string merged_trace(const std::vector<rank_part>& all, trace_file form) {
    if (form == trace_file::protobuf) {  // messages of several processes one behind the other
        std::string joined;
        for (const auto& part : all) joined += part.trace;
        return joined;
    }
    static constexpr std::string_view head = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", tail = "\n]}\n";
    std::string merged(head);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        std::string_view events = all[rank].trace;
        if (events.size() < head.size() + tail.size() || events.substr(0, head.size()) != head) continue;
        events = events.substr(head.size(), events.size() - head.size() - tail.size());
        if (merged.size() > head.size()) merged += ",\n";
        for (std::size_t at = 0; at < events.size();) {  // one event a line, whose process is written first
            const auto end = std::min(events.find('\n', at), events.size() - 1) + 1;
            const auto line = events.substr(at, end - at);
            constexpr std::string_view process = "\"pid\":1,", name = "{\"name\":\"simulation\"}";
            const auto pid = line.find(process), own = line.find(name);
            if (pid == line.npos)
                merged += line;
            else {
                merged += fmt::format("{}\"pid\":{},", line.substr(0, pid), rank + 1);
                const auto rest = line.substr(pid + process.size());
                merged += own == line.npos ? std::string(rest)
                                           : fmt::format("{}{{\"name\":\"rank {}\"}}{}",
                                                         line.substr(pid + process.size(), own - pid - process.size()),
                                                         rank, line.substr(own + name.size()));
            }
            at = end;
        }
    }
    return merged + std::string(tail);
}

}  // namespace fabricvp::ranks
