// SPDX-License-Identifier: Apache-2.0
// What the platform leaves in a folder. Of one process nothing is copied: machines of many GPUs have tens of thousands
// of statistics, and each region has all of its node's.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/common/files.h"
#include "platform/console/line_console.h"
#include "platform/platform_state.h"
#include "platform/results/results.h"
#include "platform/results/run_folder.h"
#include "platform/topology.h"

namespace fabricvp {

std::map<std::size_t, platform::implementation::node_results> platform::implementation::results_of_nodes() const {
    std::map<std::size_t, node_results> nodes;
    for (const auto& p : rank_parts)
        for (const auto& [i, part] : p.nodes) nodes[i] = {part.console, part.input, &part.regions};
    if (!rank_parts.empty()) return nodes;
    for (std::size_t i = 0; i < contexts.size(); ++i)
        if (const auto& node = hardware->nodes[i])
            nodes[i] = {contexts[i].serial->output(), contexts[i].serial->recorded_input(),
                        &node->host.marker.regions()};
    return nodes;
}

nlohmann::ordered_json platform::implementation::whole_topology() const {
    if (rank_parts.empty()) return topology_of(*hardware);
    std::vector<nlohmann::ordered_json> parts;
    for (const auto& p : rank_parts) parts.push_back(nlohmann::ordered_json::parse(p.topology));
    return merged_topology(parts);
}

void platform::write_results(const std::string& folder) {
    auto here = m->results && m->results->is(folder) ? std::move(m->results) : std::make_unique<run_folder>(folder);
    const auto values = statistics();
    std::vector<const notes_by_path*> notes_of_ranks;
    for (const auto& p : m->rank_parts) notes_of_ranks.push_back(&p.notes);
    std::vector<std::pair<std::string, std::string>> files = {
        {"config.resolved.yaml", resolved_config(true)},
        {"stats.csv", statistics_csv(values, notes_finder(std::move(notes_of_ranks)))},
        {"stats.json", statistics_json(values)}};
    for (std::size_t i = 0; i < m->contexts.size(); ++i)
        if (const auto& kept = m->contexts[i].kept_initrd) files.emplace_back(kept_initrd_name(i), *kept);
    const auto nodes = m->results_of_nodes();
    std::vector<const std::vector<host::marker::region>*> regions;
    std::map<std::size_t, const std::vector<host::marker::region>*> regions_of_nodes;
    for (const auto& [i, part] : nodes) {
        regions.push_back(part.regions);
        regions_of_nodes[i] = part.regions;
    }
    if (std::any_of(regions.begin(), regions.end(), [](const auto* r) { return !r->empty(); }))
        files.emplace_back("regions.json", regions_json(regions));
    for (const auto& [i, part] : nodes) {
        if (!m->contexts[i].serial->end_log()) files.emplace_back(fmt::format("console.node{}.log", i), part.console);
        if (!part.input.empty()) files.emplace_back(fmt::format("console.node{}.input", i), part.input);
    }
    auto topology = m->whole_topology();
    add_traffic(topology, values, now(), regions_of_nodes);
    files.emplace_back("topology.json", topology_text(topology));
    std::map<std::string, std::string> copies;
    if (m->recording && m->rank_parts.empty())
        copies[name_of(m->recording->form())] = m->recording->finished();
    else if (m->recording)
        files.emplace_back(name_of(m->recording->form()), ranks::merged_trace(m->rank_parts, m->recording->form()));
    write_files(folder, files, copies);
    write_file((std::filesystem::path(folder) / "run.json").string(), run_json(m->record(true)));
}

}  // namespace fabricvp
