// SPDX-License-Identifier: Apache-2.0
// The order in which diverged lanes run the blocks of a kernel so that they meet at immediate post-dominators: a join
// comes behind all that leads to it, a loop's blocks before its exits, and who jumps back to a loop's head waits for
// those that are still in the loop's body. So a topological order of strongly connected components, and again of what
// each of them has without its back edges.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/lanes/control_flow_graph.h"

namespace fabricvp::gpu {

/// Loops may be nested in ways that no compiler makes: what costs too much falls back to the order of addresses.
class block_order {
public:
    explicit block_order(const control_flow_graph& graph);

    std::vector<std::uint32_t> position;  ///< of each block, from 1 on; ends of loops have positions too
    /// What a lane that takes an edge waits for: the block's position, or the end of the loop whose back edge it is.
    std::vector<std::uint32_t> edge_key;
    /// Edges looked at, and the like.
    std::uint64_t effort() const { return m_work; }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr unsigned max_depth = 48;
    static constexpr std::uint64_t max_work = 1 << 21;  // edges looked at, and the like
    using blocks = std::vector<std::uint32_t>;

    void place(const blocks& nodes, unsigned depth, std::uint32_t loop);
    void place_loop(const blocks& nodes, unsigned depth, std::uint32_t around);
    std::vector<blocks> components(const blocks& nodes, std::uint32_t scope);
    std::vector<blocks> in_order(std::vector<blocks> found, std::uint32_t scope);
    bool is_in(std::uint32_t block, std::uint32_t loop) const;
    std::uint32_t post_dominator(std::uint32_t block);
    void find_post_dominators();
    bool inside(std::uint32_t edge, std::uint32_t scope) const {
        return m_loop_of[edge] == none && m_scope[m_graph.edges[edge].to] == scope;
    }

    const control_flow_graph& m_graph;
    std::vector<std::vector<std::uint32_t>> m_into;   // edges that lead to a block
    std::vector<std::uint32_t> m_loop_of;             // by edge: the loop whose back edge it is
    std::vector<std::uint32_t> m_loop_end, m_parent;  // by loop
    std::vector<std::uint32_t> m_scope, m_around, m_component, m_post_dominator;  // by block
    std::uint32_t m_scopes = 0, m_next = 1;
    std::uint64_t m_work = 0;
};

}  // namespace fabricvp::gpu
