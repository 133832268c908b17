// SPDX-License-Identifier: Apache-2.0
// GPUs' memories on a fabric, with clients in the place of compute units.
#pragma once

#include "unit/fabric/conservation.h"

#include <memory>
#include <string>
#include <vector>

#include "gpu/memory/fabric_port.h"
#include "unit/gpu/memory_bench.h"

namespace fabricvp::test {

inline gpu_memory_system_params small_gpu(const vector_cache_params& l1 = {}) {
    auto p = four_banks();
    p.unit.l1 = l1;
    return p;
}

/// Two clusters of two GPUs each, with a slow link between them: the last one.
inline fabric::interconnect_params two_clusters() {
    fabric::interconnect_params p;
    const auto add = [&](const std::string& from, const std::string& to) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    };
    p.switches.resize(2);
    for (unsigned c = 0; c < 2; ++c) {
        p.switches[c].name = "cluster" + std::to_string(c);
        p.switches[c].cluster = c;
    }
    for (unsigned g = 0; g < 4; ++g) {
        p.devices.push_back("gpu" + std::to_string(g));
        add(p.devices.back(), p.switches[g / 2].name);
    }
    add("cluster0", "cluster1");
    p.links.back().lane_rate = {2'000'000'000};
    return p;
}

/// A GPU's memory and its way to others.
struct linked_gpu {
    memory_machine machine;
    fabric_port port;
    linked_gpu(const std::string& prefix, unsigned index, const vector_cache_params& l1)
        : machine((prefix + "gpu" + std::to_string(index)).c_str(), small_gpu(l1), 2, index),
          port((prefix + "port" + std::to_string(index)).c_str(), machine.system.router) {}
};

/// As many GPUs as the fabric has devices. \param prefix of their names, where a program has several such fabrics
struct linked_gpus {
    fabric::interconnect net;
    std::vector<std::unique_ptr<linked_gpu>> gpus;

    explicit linked_gpus(const char* name, const fabric::interconnect_params& p, const std::string& prefix = {},
                         const vector_cache_params& l1 = {})
        : net(name, p) {
        for (unsigned i = 0; i < p.devices.size(); ++i) {
            gpus.push_back(std::make_unique<linked_gpu>(prefix, i, l1));
            gpus.back()->port.attach(*net.terminals[i]);
        }
        net.start();
    }
    void fresh() {
        net.repair();
        net.reset();
        for (auto& g : gpus) {
            g->port.reset();
            g->machine.reset();
        }
        memory_machine::run_all();
        restart_statistics();
    }
    memory_machine& operator[](unsigned i) { return gpus[i]->machine; }
    fabric_port& port(unsigned i) { return gpus[i]->port; }
    /// Maps the same page of GPU `home` at an address in all tables.
    void share(unsigned home, std::uint64_t address, std::uint64_t offset,
               unsigned flags = GPU_PTE_READ | GPU_PTE_WRITE) {
        for (auto& g : gpus) g->machine.map(address, (*this)[home].base() | offset, flags);
    }
};

}  // namespace fabricvp::test
