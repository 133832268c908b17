// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fabricvp::analytic {

/// A tree of PCIe switches below one root complex, with endpoints at any switch. Every link is full duplex; a direction
/// of a link is numbered, so that a path is a list of small integers.
class pcie_tree {
public:
    static constexpr std::size_t root = 0;

    pcie_tree() {
        m_parent.push_back(root);
        m_depth.push_back(0);
    }

    /// Adds a switch below `parent` (root, or what add_switch() returned). \throws std::invalid_argument
    std::size_t add_switch(std::size_t parent);
    /// Adds the next endpoint (numbered from 0) below a switch or the root. \throws std::invalid_argument
    std::size_t add_endpoint(std::size_t parent);

    std::size_t switches() const { return m_parent.size(); }  ///< the root complex included
    std::size_t endpoints() const { return m_attached_to.size(); }
    std::size_t parent(std::size_t node) const { return m_parent[node]; }

    /// Directions of links: 2 for each switch but the root, then 2 for each endpoint; even is up, odd is down.
    std::size_t directions() const { return 2 * (m_parent.size() + m_attached_to.size()); }
    std::size_t up_from_switch(std::size_t node) const { return 2 * node; }
    std::size_t down_to_switch(std::size_t node) const { return 2 * node + 1; }
    std::size_t up_from_endpoint(std::size_t endpoint) const { return 2 * (m_parent.size() + endpoint); }
    std::size_t down_to_endpoint(std::size_t endpoint) const { return up_from_endpoint(endpoint) + 1; }
    static bool is_up(std::size_t direction) { return direction % 2 == 0; }

    struct path {
        std::vector<std::size_t> directions;  ///< in order from source to destination
        bool crosses_root = false;            ///< turns round in the root complex
    };
    /// The way from one endpoint to another. \throws std::invalid_argument if they are the same or do not exist
    path route(std::size_t source, std::size_t destination) const;

    /// Directions in an order in which a port comes after all ports that feed it: up by falling depth, then down.
    std::vector<std::size_t> topological_order() const;

    /// All relabellings of the endpoints that leave the tree the same (as permutations), the identity first.
    std::vector<std::vector<std::size_t>> automorphisms() const;

private:
    std::size_t depth_of(std::size_t direction) const;
    std::string shape(std::size_t node) const;
    void check_parent(std::size_t parent) const;

    std::vector<std::size_t> m_parent, m_depth, m_attached_to;
};

/// One socket of a Cray CS-Storm node: endpoints 0…7 in pairs on four boards, two boards a switch, two switches below
/// the root complex (Martinasso et al., SC'16; the figure itself is inferred from the paper's examples).
pcie_tree cs_storm_socket();

}  // namespace fabricvp::analytic
