// SPDX-License-Identifier: Apache-2.0
#include "platform/energy_meter.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "platform/machine.h"

namespace fabricvp {
namespace {

constexpr double line_bits = 512;

}  // namespace

struct energy_meter::term {
    std::string name;
    counters energy_meter::*to;
};

const std::vector<energy_meter::term>& energy_meter::terms() {
    static const std::vector<term> all = {
        {"host_l2", &energy_meter::m_host_l2},
        {"host_l3", &energy_meter::m_host_l3},
        {"host_memory", &energy_meter::m_host_memory},
        {"gpu_lanes", &energy_meter::m_lanes},
        {"gpu_l1", &energy_meter::m_l1},
        {"gpu_l2", &energy_meter::m_l2},
        {"gpu_memory", &energy_meter::m_gpu_memory},
        {"pcie", &energy_meter::m_pcie},
        {"network", &energy_meter::m_network},
    };
    return all;
}

const node_energy& node_energy::standard() {
    static const node_energy all = {
        {{"host_l2", "", ".l2_hits"},
         {"host_l2", "", ".l2_misses"},
         {"host_l3", "", ".l3_hits"},
         {"host_l3", "", ".l3_misses"},
         {"host_memory", "", ".memory_reads"},
         {"host_memory", "", ".memory_writes"}},
        {{"host_memory", "", ".bytes_read"}, {"host_memory", "", ".bytes_written"}},
        {{"pcie", "", ".transmitter.bytes"}},
        {{"pcie", "_port", ".transmitter.bytes"}},
    };
    return all;
}

energy_meter::energy_meter(const sc_core::sc_module_name& name, const energy_params& p, const node& of,
                           const node_energy& own)
    : model(name), params(p) {
    for (const auto& h : of.host.harts)
        m_host_cores.push_back({&h->instructions, &h->active_cycles, static_cast<double>(h->params.clock.hertz)});
    for (const auto* h : of.devices.harts())
        m_processor_cores.push_back({&h->instructions, &h->active_cycles, static_cast<double>(h->params.clock.hertz)});
    add_all(of, own);
}

void energy_meter::add_all(const node& of, const node_energy& own) {
    if (of.host.caches) add(of.host.name(), own.caches);
    add(of.host.dram.name(), own.memory);
    for (const auto& device : of.devices.all()) {
        add(device.path, device.capabilities->energy);
        if (device.on_pcie) add(device.path + ".link", own.link);
    }
    if (of.pcie) add(of.pcie->name(), own.tree);
}

void energy_meter::add(const std::string& block, const std::vector<energy_activity>& activities) {
    for (const auto& a : activities) add(block, a);
}

void energy_meter::add(const std::string& block, const energy_activity& activity) {
    const auto& all_terms = terms();
    const auto to =
        std::find_if(all_terms.begin(), all_terms.end(), [&](const term& t) { return t.name == activity.term; });
    if (to == all_terms.end()) {
        std::vector<std::string> names;
        for (const auto& t : all_terms) names.push_back(t.name);
        throw std::invalid_argument(
            fmt::format("{}: energy: there is no term {} (allowed: {})", block, activity.term, fmt::join(names, ", ")));
    }
    const std::string_view end = activity.counter;
    const auto& all = all_statistics();
    const auto begin = block + '.';
    const auto first = std::lower_bound(all.begin(), all.end(), begin,
                                        [](const statistic* s, const std::string& path) { return s->path() < path; });
    bool found = false;
    for (auto s = first; s != all.end() && (*s)->path().compare(0, begin.size(), begin) == 0; ++s) {
        const auto path = std::string_view((*s)->path()).substr(block.size());
        if (path.size() < end.size() || path.substr(path.size() - end.size()) != end ||
            path.find(activity.within) == std::string_view::npos)
            continue;
        const auto* c = dynamic_cast<const counter*>(*s);
        if (!c) continue;
        found = true;
        auto& counted = this->*(to->to);
        if (std::find(counted.begin(), counted.end(), c) == counted.end()) counted.push_back(c);
    }
    if (!found)
        throw std::invalid_argument(fmt::format("{}: energy: {} counts by {}…{}, and the block has no such counter",
                                                block, activity.term, activity.within, activity.counter));
}

double energy_meter::sum(const counters& of) {
    double all = 0;
    for (const auto* c : of) all += static_cast<double>(c->value());
    return all;
}

double energy_meter::of_cores(const std::vector<core>& cores, const core_energy_params& p) const {
    double all = 0;
    for (const auto& c : cores)
        all += p.active_w * static_cast<double>(c.active_cycles->value()) / c.hertz +
               1e-9 * p.instruction_nj * static_cast<double>(c.instructions->value()) + p.leakage_w * m_time.seconds();
    return all;
}

double energy_meter::host_caches() const {
    return 1e-12 * (params.host_l2_pj * sum(m_host_l2) + params.host_l3_pj * sum(m_host_l3));
}

double energy_meter::host_memory() const {
    return 8e-12 * params.host_memory_pj_per_bit * sum(m_host_memory) + params.host_memory_standby_w * m_time.seconds();
}

double energy_meter::gpu_caches() const {
    return 1e-12 * line_bits * (params.gpu_l1_pj_per_bit * sum(m_l1) + params.gpu_l2_pj_per_bit * sum(m_l2));
}

double energy_meter::total() const {
    statistics_snapshot parts;
    double all = 0;
    for (const auto* part : {&m_host_cores_j, &m_host_caches_j, &m_host_memory_j, &m_processor_cores_j, &m_lanes_j,
                             &m_gpu_caches_j, &m_gpu_memory_j, &m_pcie_j, &m_network_j})
        part->report(parts);
    for (const auto& part : parts) all += part.second;
    return all;
}

}  // namespace fabricvp
