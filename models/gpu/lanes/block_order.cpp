// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/block_order.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace fabricvp::gpu {

block_order::block_order(const control_flow_graph& graph)
    : position(graph.blocks.size()),
      edge_key(graph.edges.size()),
      m_graph(graph),
      m_into(graph.blocks.size()),
      m_loop_of(graph.edges.size(), none),
      m_scope(graph.blocks.size(), none),
      m_around(graph.blocks.size(), none),
      m_component(graph.blocks.size()) {
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) m_into[graph.edges[e].to].push_back(e);
    blocks all(graph.blocks.size());
    for (std::uint32_t b = 0; b < all.size(); ++b) all[b] = b;
    place(all, 0, none);
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e)
        edge_key[e] = m_loop_of[e] == none ? position[graph.edges[e].to] : m_loop_end[m_loop_of[e]];
}

/// Gives positions to blocks of a loop (or of none); edges that lead out of them, and back edges of loops around them,
/// do not count.
void block_order::place(const blocks& nodes, unsigned depth, std::uint32_t loop) {
    const auto scope = m_scopes++;
    for (const auto n : nodes) m_scope[n] = scope;
    const auto ordered = in_order(components(nodes, scope), scope);
    for (const auto& c : ordered) {
        bool loops = c.size() > 1;
        if (!loops) {
            const auto& b = m_graph.blocks[c[0]];
            for (auto e = b.edges; e < b.edge_end; ++e)
                loops = loops || (m_loop_of[e] == none && m_graph.edges[e].to == c[0]);
        }
        if (loops)
            place_loop(c, depth, loop);
        else
            position[c[0]] = m_next++;
    }
}

void block_order::place_loop(const blocks& nodes, unsigned depth, std::uint32_t around) {
    if (depth >= max_depth || m_work > max_work) {
        auto sorted = nodes;
        std::sort(sorted.begin(), sorted.end());
        for (const auto n : sorted) position[n] = m_next++;
        return;
    }
    const auto scope = m_scopes++;
    for (const auto n : nodes) m_scope[n] = scope;
    // The head is where the loop is entered.
    auto head = none;
    for (const auto n : nodes) {
        bool entered = m_graph.blocks[n].root;
        for (const auto e : m_into[n]) entered = entered || m_scope[m_graph.edges[e].from] != scope;
        m_work += m_into[n].size();
        if (entered) head = std::min(head, n);
    }
    if (head == none) head = *std::min_element(nodes.begin(), nodes.end());
    blocks back, outer;
    for (const auto e : m_into[head])
        if (m_loop_of[e] == none && m_scope[m_graph.edges[e].from] == scope) back.push_back(e);
    // Loops that share a head: an edge belongs to the inner one if what follows all ways from its block lies in the
    // outer one's body.
    if (back.size() > 1) {
        for (const auto e : back) {
            const auto after = post_dominator(m_graph.edges[e].from);
            if (after >= m_graph.blocks.size() || after == head || m_scope[after] != scope) outer.push_back(e);
        }
    }
    // An inner loop from which all ways into the outer one's body lead back to its own head is none: it continues the
    // outer one.
    bool continues = false, leaves = false;
    if (around != none)
        for (const auto n : nodes)
            for (auto e = m_graph.blocks[n].edges; e < m_graph.blocks[n].edge_end; ++e) {
                const auto to = m_graph.edges[e].to;
                if (m_loop_of[e] != none || m_scope[to] == scope || !is_in(to, around)) continue;
                (post_dominator(n) == head ? continues : leaves) = true;
            }
    const auto& own = outer.empty() ? back : outer;
    if (continues && !leaves) {
        for (const auto e : own) m_loop_of[e] = around;
        place(nodes, depth + 1, around);
        return;
    }
    const auto loop = static_cast<std::uint32_t>(m_loop_end.size());
    m_loop_end.push_back(0);
    m_parent.push_back(around);
    for (const auto e : own) m_loop_of[e] = loop;
    for (const auto n : nodes) m_around[n] = loop;
    place(nodes, depth + 1, loop);
    m_loop_end[loop] = m_next++;
}

/// Whether a block lies in a loop, or in one inside of it.
bool block_order::is_in(std::uint32_t block, std::uint32_t loop) const {
    auto around = m_around[block];
    while (around != none && around != loop) around = m_parent[around];
    return around == loop;
}

/// Strongly connected components (Tarjan), without recursion.
std::vector<block_order::blocks> block_order::components(const blocks& nodes, std::uint32_t scope) {
    struct frame {
        std::uint32_t node, edge;
    };
    std::vector<blocks> found;
    std::vector<frame> path;
    blocks stack;
    std::vector<std::uint32_t> low, number;  // by position in `nodes`
    std::vector<std::uint8_t> on_stack;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) m_component[nodes[i]] = i;
    low.assign(nodes.size(), none);
    number.assign(nodes.size(), none);
    on_stack.assign(nodes.size(), 0);
    std::vector<std::uint32_t> component(nodes.size());
    std::uint32_t count = 0;
    const auto enter = [&](std::uint32_t n) {
        const auto i = m_component[n];
        low[i] = number[i] = count++;
        on_stack[i] = 1;
        stack.push_back(n);
        path.push_back({n, m_graph.blocks[n].edges});
    };
    for (const auto first : nodes) {
        if (number[m_component[first]] != none) continue;
        enter(first);
        while (!path.empty()) {
            auto& f = path.back();
            const auto i = m_component[f.node];
            if (f.edge < m_graph.blocks[f.node].edge_end) {
                const auto e = f.edge++;
                ++m_work;
                if (!inside(e, scope)) continue;
                const auto to = m_graph.edges[e].to;
                const auto j = m_component[to];
                if (number[j] == none)
                    enter(to);
                else if (on_stack[j])
                    low[i] = std::min(low[i], number[j]);
                continue;
            }
            const auto node = f.node;
            path.pop_back();
            if (!path.empty()) {
                auto& above = low[m_component[path.back().node]];
                above = std::min(above, low[i]);
            }
            if (low[i] != number[i]) continue;
            found.emplace_back();
            for (std::uint32_t n = none; n != node;) {
                n = stack.back();
                stack.pop_back();
                on_stack[m_component[n]] = 0;
                component[m_component[n]] = static_cast<std::uint32_t>(found.size() - 1);
                found.back().push_back(n);
            }
        }
    }
    for (const auto n : nodes) m_component[n] = component[m_component[n]];
    return found;
}

/// Components in topological order; where it leaves a choice, the smaller address comes first.
std::vector<block_order::blocks> block_order::in_order(std::vector<blocks> found, std::uint32_t scope) {
    std::vector<std::uint32_t> waits(found.size()), first(found.size(), none);
    for (std::uint32_t c = 0; c < found.size(); ++c)
        for (const auto n : found[c]) {
            first[c] = std::min(first[c], n);
            for (auto e = m_graph.blocks[n].edges; e < m_graph.blocks[n].edge_end; ++e)
                if (inside(e, scope) && m_component[m_graph.edges[e].to] != c)
                    ++waits[m_component[m_graph.edges[e].to]];
        }
    using entry = std::pair<std::uint32_t, std::uint32_t>;  // first block, component
    std::priority_queue<entry, std::vector<entry>, std::greater<>> ready;
    for (std::uint32_t c = 0; c < found.size(); ++c)
        if (waits[c] == 0) ready.push({first[c], c});
    std::vector<blocks> ordered;
    ordered.reserve(found.size());
    while (!ready.empty()) {
        const auto c = ready.top().second;
        ready.pop();
        for (const auto n : found[c])
            for (auto e = m_graph.blocks[n].edges; e < m_graph.blocks[n].edge_end; ++e) {
                const auto to = m_component[m_graph.edges[e].to];
                if (inside(e, scope) && to != c && --waits[to] == 0) ready.push({first[to], to});
            }
        ordered.push_back(std::move(found[c]));
    }
    return ordered;
}

std::uint32_t block_order::post_dominator(std::uint32_t block) {
    if (m_post_dominator.empty()) find_post_dominators();
    return m_post_dominator[block];
}

/// Immediate post-dominators (Cooper, Harvey, Kennedy: A simple, fast dominance algorithm); `blocks.size()` is the
/// exit. Blocks from which no way leads to an exit have none.
void block_order::find_post_dominators() {
    const auto exit = static_cast<std::uint32_t>(m_graph.blocks.size());
    m_post_dominator.assign(exit + 1, none);
    // Post-order of the reverse graph, from its exits.
    blocks order;
    std::vector<std::uint32_t> number(exit + 1, none), next(exit, 0);
    std::vector<std::uint8_t> seen(exit, 0);
    blocks path;
    for (std::uint32_t start = 0; start < exit; ++start) {
        if (seen[start] || m_graph.blocks[start].edges != m_graph.blocks[start].edge_end) continue;
        seen[start] = 1;
        path.push_back(start);
        while (!path.empty()) {
            const auto n = path.back();
            if (next[n] < m_into[n].size()) {
                const auto from = m_graph.edges[m_into[n][next[n]++]].from;
                if (!seen[from]) {
                    seen[from] = 1;
                    path.push_back(from);
                }
                continue;
            }
            number[n] = static_cast<std::uint32_t>(order.size());
            order.push_back(n);
            path.pop_back();
        }
    }
    number[exit] = static_cast<std::uint32_t>(order.size());
    m_post_dominator[exit] = exit;
    bool changed = true;
    while (changed) {
        changed = false;
        for (auto i = order.size(); i-- > 0;) {
            const auto n = order[i];
            auto best = m_graph.blocks[n].edges == m_graph.blocks[n].edge_end ? exit : none;
            for (auto e = m_graph.blocks[n].edges; e < m_graph.blocks[n].edge_end; ++e) {
                auto other = m_graph.edges[e].to;
                if (m_post_dominator[other] == none) continue;
                if (best == none) best = other;
                while (best != other) {
                    if (++m_work > max_work) {  // none is better than a wrong one
                        m_post_dominator.assign(exit + 1, none);
                        return;
                    }
                    if (number[best] < number[other])
                        best = m_post_dominator[best];
                    else
                        other = m_post_dominator[other];
                }
            }
            if (best != m_post_dominator[n]) {
                m_post_dominator[n] = best;
                changed = true;
            }
        }
    }
}

}  // namespace fabricvp::gpu
