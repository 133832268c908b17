// SPDX-License-Identifier: Apache-2.0
// The energy that a node takes, worked out from what its models count anyway, when statistics are read.
#pragma once

#include <string>
#include <vector>

#include "base/energy_activity.h"
#include "base/model.h"
#include "base/statistics.h"
#include "platform/params/energy_params.h"

namespace fabricvp {

class node;

/// Counters of a node's own blocks that cost energy. Kinds of devices declare theirs (pcie/device_kind.h).
struct node_energy {
    std::vector<energy_activity> caches;  ///< of the host, where they are modelled
    std::vector<energy_activity> memory;  ///< of the host's DRAM
    std::vector<energy_activity> link;    ///< of a device on PCIe
    std::vector<energy_activity> tree;    ///< of the root complex and the switches
    static const node_energy& standard();
};

class energy_meter final : public model {
public:
    const energy_params params;

    /// \param of a node whose models all exist \throws std::invalid_argument where an activity matches no counter
    energy_meter(const sc_core::sc_module_name& name, const energy_params& params, const node& of,
                 const node_energy& own = node_energy::standard());

private:
    /// Simulated time of the region of interest.
    class elapsed final : public statistic {
    public:
        explicit elapsed(const energy_meter& owner)
            : statistic(owner, "time", "s", "simulated time that the joules are for"), m_owner(owner) {}
        double seconds() const { return static_cast<double>(m_owner.now() - m_since) / ticks_per_second; }
        void report(statistics_snapshot& to) const override { to[path()] = seconds(); }
        void restart() override { m_since = m_owner.now(); }

    private:
        const energy_meter& m_owner;
        ticks m_since = 0;
    };
    struct core {
        const counter *active_cycles, *instructions;
        double hertz;
    };
    using counters = std::vector<const counter*>;

    struct term;
    static const std::vector<term>& terms();
    /// Finds what a block counts. All that the node counts lies together in the registry, which is in path order.
    /// \throws std::invalid_argument where there is no such term, or the block has no such counter
    void add(const std::string& block, const energy_activity& activity);
    void add(const std::string& block, const std::vector<energy_activity>& activities);
    void add_all(const node& of, const node_energy& own);
    static double sum(const counters& of);
    double of_cores(const std::vector<core>& cores, const core_energy_params& p) const;
    double host_caches() const;
    double host_memory() const;
    double gpu_caches() const;
    double total() const;

    std::vector<core> m_host_cores, m_processor_cores;
    counters m_host_l2, m_host_l3, m_host_memory, m_lanes, m_l1, m_l2, m_gpu_memory, m_pcie, m_network;

    elapsed m_time{*this};
    derived m_host_cores_j{*this, "host_cores", "J", "of the host's harts, with their L1 caches",
                           [this] { return of_cores(m_host_cores, params.host_core); }};
    derived m_host_caches_j{*this, "host_caches", "J", "of the host's L2 and L3 caches, where they are modelled",
                            [this] { return host_caches(); }};
    derived m_host_memory_j{*this, "host_memory", "J",
                            "of the host's DRAM: bytes of devices, and of harts where caches are modelled",
                            [this] { return host_memory(); }};
    derived m_processor_cores_j{*this, "processor_cores", "J",
                                "of the harts of GPUs' command processors, with their L1 caches",
                                [this] { return of_cores(m_processor_cores, params.processor_core); }};
    derived m_lanes_j{*this, "gpu_lanes", "J", "of instructions of GPUs' lanes",
                      [this] { return 1e-12 * params.lane_pj * sum(m_lanes); }};
    derived m_gpu_caches_j{*this, "gpu_caches", "J", "of GPUs' L1 and L2 caches", [this] { return gpu_caches(); }};
    derived m_gpu_memory_j{*this, "gpu_memory", "J", "of GPUs' HBM",
                           [this] { return 8e-12 * params.gpu_memory_pj_per_bit * sum(m_gpu_memory); }};
    derived m_pcie_j{*this, "pcie", "J", "of bytes on PCIe links, each crossing",
                     [this] { return 8e-12 * params.pcie_pj_per_bit * sum(m_pcie); }};
    derived m_network_j{*this, "network", "J", "of bytes that RDMA adapters send, all the way to another node",
                        [this] { return 8e-12 * params.network_pj_per_bit * sum(m_network); }};
    derived m_total_j{*this, "total", "J", "all of these", [this] { return total(); }};
};

}  // namespace fabricvp
