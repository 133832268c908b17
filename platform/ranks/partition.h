// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/params/machine_params.h"

namespace fabricvp::ranks {

/// Which rank builds what of a machine that is cut at links of its network. Nodes go to ranks in contiguous blocks as
/// even as can be, and so do traffic generators; a switch goes where the first adapter or generator linked to it is;
/// switches without such links go to ranks in contiguous blocks as well.
class partition {
public:
    /// \param params completed \throws input_error where the machine cannot be cut into so many parts
    partition(const machine_params& params, unsigned ranks);

    unsigned ranks() const { return m_ranks; }
    std::size_t nodes() const { return m_nodes.size(); }
    unsigned of_node(std::size_t node) const { return m_nodes[node]; }
    /// Of an adapter (node0.hca0), switch or generator, as links of the network call it.
    unsigned of_vertex(const std::string& name) const;
    /// Of any block, by its hierarchical name. \throws input_error for a name of which several ranks have a part
    unsigned of_block(const std::string& path) const;
    /// Whether the name of a block, or a pattern over such names, is for a node that this rank has, or for one that
    /// none has. Patterns that do not begin with a node may be for any rank.
    bool is_of_rank(const std::string& name, unsigned rank) const;
    /// Marks of a node's software reset and dump what its own rank has. \throws input_error for a scope beyond the node
    void check_scope(std::size_t node, const std::string& scope) const;

private:
    unsigned block_owner(std::size_t index, std::size_t count) const {
        return static_cast<unsigned>(index * m_ranks / count);
    }
    void place_network(const network::subnet_params& p);
    void check_ethernet(const machine_params& p) const;

    unsigned m_ranks;
    std::vector<unsigned> m_nodes;
    std::map<std::string, unsigned> m_network;  ///< switches and generators
};

}  // namespace fabricvp::ranks
