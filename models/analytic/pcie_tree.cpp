// SPDX-License-Identifier: Apache-2.0
#include "analytic/pcie_tree.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace fabricvp::analytic {

void pcie_tree::check_parent(std::size_t parent) const {
    if (parent >= m_parent.size()) throw std::invalid_argument("no switch " + std::to_string(parent));
}

std::size_t pcie_tree::add_switch(std::size_t parent) {
    check_parent(parent);
    m_parent.push_back(parent);
    m_depth.push_back(m_depth[parent] + 1);
    return m_parent.size() - 1;
}

std::size_t pcie_tree::add_endpoint(std::size_t parent) {
    check_parent(parent);
    m_attached_to.push_back(parent);
    return m_attached_to.size() - 1;
}

pcie_tree::path pcie_tree::route(std::size_t source, std::size_t destination) const {
    if (source >= endpoints() || destination >= endpoints())
        throw std::invalid_argument("no endpoint " + std::to_string(std::max(source, destination)));
    if (source == destination) throw std::invalid_argument("endpoint " + std::to_string(source) + " sends to itself");
    path p;
    std::vector<std::size_t> down{down_to_endpoint(destination)};
    p.directions.push_back(up_from_endpoint(source));
    auto a = m_attached_to[source], b = m_attached_to[destination];
    while (a != b) {
        if (m_depth[a] >= m_depth[b]) {
            p.directions.push_back(up_from_switch(a));
            a = m_parent[a];
        } else {
            down.push_back(down_to_switch(b));
            b = m_parent[b];
        }
    }
    p.crosses_root = a == root;
    p.directions.insert(p.directions.end(), down.rbegin(), down.rend());
    return p;
}

std::size_t pcie_tree::depth_of(std::size_t direction) const {
    const auto node = direction / 2;
    return node < m_parent.size() ? m_depth[node] : m_depth[m_attached_to[node - m_parent.size()]] + 1;
}

std::vector<std::size_t> pcie_tree::topological_order() const {
    std::vector<std::size_t> order(directions() - 2);
    std::iota(order.begin(), order.end(), std::size_t{2});  // the root complex has no link above it
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
        if (is_up(a) != is_up(b)) return is_up(a);
        return is_up(a) ? depth_of(a) > depth_of(b) : depth_of(a) < depth_of(b);
    });
    return order;
}

std::string pcie_tree::shape(std::size_t node) const {
    std::vector<std::string> parts;
    for (std::size_t s = 1; s < m_parent.size(); ++s)
        if (m_parent[s] == node) parts.push_back(shape(s));
    parts.insert(parts.end(), static_cast<std::size_t>(std::count(m_attached_to.begin(), m_attached_to.end(), node)),
                 "e");
    std::sort(parts.begin(), parts.end());
    std::string text = "(";
    for (const auto& p : parts) text += p;
    return text + ")";
}

std::vector<std::vector<std::size_t>> pcie_tree::automorphisms() const {
    using mapping = std::vector<std::size_t>;
    // Maps the subtree below `from` onto that below `to` in every way; each way extends each mapping built so far.
    std::function<std::vector<mapping>(std::size_t, std::size_t, const mapping&)> extend =
        [&](std::size_t from, std::size_t to, const mapping& base) {
            const auto children = [&](std::size_t node) {
                std::vector<std::size_t> c;
                for (std::size_t s = 1; s < m_parent.size(); ++s)
                    if (m_parent[s] == node) c.push_back(s);
                return c;
            };
            const auto leaves = [&](std::size_t node) {
                std::vector<std::size_t> l;
                for (std::size_t e = 0; e < endpoints(); ++e)
                    if (m_attached_to[e] == node) l.push_back(e);
                return l;
            };
            std::vector<mapping> result;
            const auto from_leaves = leaves(from);
            auto to_leaves = leaves(to);
            do {
                mapping with_leaves = base;
                for (std::size_t i = 0; i < from_leaves.size(); ++i) with_leaves[from_leaves[i]] = to_leaves[i];
                const auto from_children = children(from);
                auto to_children = children(to);
                do {
                    bool fits = true;
                    for (std::size_t i = 0; i < from_children.size() && fits; ++i)
                        fits = shape(from_children[i]) == shape(to_children[i]);
                    if (!fits) continue;
                    std::vector<mapping> partial{with_leaves};
                    for (std::size_t i = 0; i < from_children.size(); ++i) {
                        std::vector<mapping> longer;
                        for (const auto& m : partial)
                            for (auto& e : extend(from_children[i], to_children[i], m)) longer.push_back(std::move(e));
                        partial = std::move(longer);
                    }
                    for (auto& m : partial) result.push_back(std::move(m));
                } while (std::next_permutation(to_children.begin(), to_children.end()));
            } while (std::next_permutation(to_leaves.begin(), to_leaves.end()));
            return result;
        };
    auto all = extend(root, root, mapping(endpoints()));
    std::sort(all.begin(), all.end());  // the identity is the smallest permutation
    return all;
}

pcie_tree cs_storm_socket() {
    pcie_tree t;
    for (int s = 0; s < 2; ++s) {
        const auto upper = t.add_switch(pcie_tree::root);
        for (int b = 0; b < 2; ++b) {
            const auto board = t.add_switch(upper);
            t.add_endpoint(board);
            t.add_endpoint(board);
        }
    }
    return t;
}

}  // namespace fabricvp::analytic
