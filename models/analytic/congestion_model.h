// SPDX-License-Identifier: Apache-2.0
// The PCIe congestion-aware performance model (Martinasso et al., SC'16): every communication has a congestion factor
// rho in [0, 1], the share of the bandwidth B that it gets. Factors are constant during a phase, the time between two
// events (start or end of any communication), so a communication's elapsed time is (1/B) * sum of m_i / rho_i.
//
// Two closed forms:
//  - published: upstream ports share in proportion to what arrives; downstream ports share by round robin between
//  ingress
//    ports with the root-complex penalty tau; communications that share an upstream port advance together (FIFO
//    coupling); what that frees goes to the competitors (redistribution); iterated to a fixed point.
//  - maxmin: what a switch with shared ingress FIFOs and round robin per TLP does. Every port, upstream too, shares
//    max-min between its ingress ports; a group that crossed the root complex has the weight of its smaller TLPs;
//    communications behind each other in a FIFO keep their ratio. Solved bottleneck by bottleneck, without iteration.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analytic/pcie_tree.h"

namespace fabricvp::analytic {

enum class congestion_form { martinasso2016, maxmin };

struct communication {
    std::size_t source = 0;
    std::size_t destination = 0;
    double bytes = 0;
    double start = 0;  ///< seconds
};

class congestion_model {
public:
    /// \param tau penalty of crossing the root complex, in [0, 1/2)
    /// \param bandwidth of a link without congestion, bytes a second
    /// \param crossing_bandwidth of a communication alone that crosses the root complex, whose smaller TLPs spend more
    /// of
    ///        a link on headers; 0: the same as `bandwidth`. Only the form maxmin knows it
    /// \throws std::invalid_argument
    congestion_model(pcie_tree tree, double tau, double bandwidth,
                     congestion_form form = congestion_form::martinasso2016, double crossing_bandwidth = 0);

    const pcie_tree& tree() const { return m_tree; }

    /// Congestion factors of communications that are all under way. The order does not matter.
    std::vector<double> factors(const std::vector<communication>& active) const;

    struct phase {
        double end = 0;  ///< seconds
        /// (communication, its factor), of those under way, in rising order
        std::vector<std::pair<std::size_t, double>> factors;
        /// 0 if the communication is not under way
        double factor(std::size_t communication) const;
    };
    struct result {
        std::vector<phase> phases;
        std::vector<double> finish;  ///< seconds, one a communication
        double end = 0;
    };
    /// Runs communications from their starts to their ends. \throws std::invalid_argument
    result solve(const std::vector<communication>& all) const;
    /// The same in steps: each sender's k-th message starts in step k, and a step ends with its last message. Starts
    /// that the communications name do not count. \throws std::invalid_argument
    result solve_in_steps(const std::vector<communication>& all) const;

private:
    struct flow;  // a communication with its route
    struct used_port;
    class maxmin_solver;
    /// Ports that the flows use, those that feed others first.
    std::vector<used_port> used_ports(const std::vector<flow>& flows) const;
    std::vector<double> martinasso2016(const std::vector<flow>& flows) const;
    std::vector<double> maxmin(const std::vector<flow>& flows) const;

    pcie_tree m_tree;
    double m_tau;
    double m_bandwidth;
    congestion_form m_form;
    double m_crossing_rate;                              // of a communication alone, as a factor
    std::vector<std::size_t> m_order;                    // directions, feeders first
    std::vector<std::vector<pcie_tree::path>> m_routes;  // [source][destination]
};

}  // namespace fabricvp::analytic
