// SPDX-License-Identifier: Apache-2.0
#include "platform/energy_meter.h"

#include <algorithm>

#include "platform/machine.h"

namespace fabricvp {
namespace {

constexpr double line_bits = 512;

}  // namespace

energy_meter::energy_meter(const sc_core::sc_module_name& name, const energy_params& p, const node& of)
    : model(name), params(p), m_node(of.name()) {
    for (const auto& h : of.host.harts)
        m_host_cores.push_back(
            {&h->instructions, &h->active_cycles, static_cast<double>(of.params.host.hart.clock.hertz)});
    for (const auto& g : of.gpus)
        for (const auto& h : g->core.processor.harts)
            m_processor_cores.push_back(
                {&h->instructions, &h->active_cycles, static_cast<double>(g->core.processor.params.hart.clock.hertz)});
    find_counters();
}

/// All that the node counts lies together in the registry, which is in path order.
void energy_meter::find_counters() {
    struct rule {
        std::string_view within, end;
        counters energy_meter::*to;
    };
    static constexpr rule rules[] = {
        {".host.", ".l2_hits", &energy_meter::m_host_l2},
        {".host.", ".l2_misses", &energy_meter::m_host_l2},
        {".host.", ".l3_hits", &energy_meter::m_host_l3},
        {".host.", ".l3_misses", &energy_meter::m_host_l3},
        {".host.", ".memory_reads", &energy_meter::m_host_memory},
        {".host.", ".memory_writes", &energy_meter::m_host_memory},
        {".host.dram.", ".bytes_read", &energy_meter::m_host_memory},
        {".host.dram.", ".bytes_written", &energy_meter::m_host_memory},
        {".compute_unit", ".lane_instructions", &energy_meter::m_lanes},
        {".memory.", ".l1.hits", &energy_meter::m_l1},
        {".memory.", ".l1.misses", &energy_meter::m_l1},
        {".memory.l2.bank", ".reads", &energy_meter::m_l2},
        {".memory.l2.bank", ".writes", &energy_meter::m_l2},
        {".memory.l2.bank", ".atomics", &energy_meter::m_l2},
        {".memory.", ".hbm.bytes", &energy_meter::m_gpu_memory},
        {".network.", ".transmitter.bytes", &energy_meter::m_network},
        {".link.", ".transmitter.bytes", &energy_meter::m_pcie},
        {"_port", ".transmitter.bytes", &energy_meter::m_pcie},
    };
    const auto& all = all_statistics();
    const auto begin = m_node + '.', fabric = m_node + ".fabric.";
    const auto first = std::lower_bound(all.begin(), all.end(), begin,
                                        [](const statistic* s, const std::string& path) { return s->path() < path; });
    for (auto s = first; s != all.end() && (*s)->path().compare(0, begin.size(), begin) == 0; ++s) {
        const std::string_view path = (*s)->path();
        if (path.substr(0, fabric.size()) == fabric) continue;
        for (const auto& r : rules) {
            if (path.size() < r.end.size() || path.substr(path.size() - r.end.size()) != r.end ||
                path.find(r.within) == std::string_view::npos)
                continue;
            if (const auto* c = dynamic_cast<const counter*>(*s)) (this->*r.to).push_back(c);
            break;
        }
    }
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
