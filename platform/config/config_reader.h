// SPDX-License-Identifier: Apache-2.0
// Fills described parameters from configuration trees that lie over each other: the last layer that names a key wins.
// Unknown keys, wrong types and values out of range become one line with file, line and path.
// A layer that gives a key `kind` another value replaces what lower layers say of the keys of the kind before.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.h"
#include "platform/config/config_tree.h"

namespace fabricvp {

class config_reader final : public parameter_visitor {
public:
    struct layer {
        const config_tree* tree;
        std::string path;  ///< how the user names it ("node", "node0"); empty at the top
    };

    /// \param layers lowest first. The trees must outlive the reader.
    explicit config_reader(std::vector<layer> layers);

    /// To be called after the described struct: rejects keys that no struct describes. \throws input_error
    void finish() const;

    void rest(std::vector<unparsed_value>& values, const char* help) override;
    std::string origin_of(const char* name) override;
    void expect_blocks(const char* prefix, const std::vector<std::string>& names) override;
    /// True where lower layers choose another kind: their keys are checked, and have no effect.
    bool wants_kinds() const override;
    void enter_kind(const char* name, const char* help) override;
    void leave_kind() override;

    /// Overrides of all items ("node.gpus.*.…") of lists that have none, by origin: what to say of them.
    const std::map<std::string, std::string>& without_effect() const { return m_without_effect; }
    /// Those of lists that have some.
    const std::set<std::string>& with_effect() const { return m_with_effect; }

protected:
    void visit(parameter& p) override;
    bool enter(const char* name, const char* help) override;
    void leave() override;
    std::size_t enter_list(const char* name, const char* help, std::size_t size) override;
    void enter_item(std::size_t index) override;
    void leave_list() override;

private:
    /// Something with a name of its own in a list of blocks.
    struct block {
        std::string name, origin;
    };
    struct level {
        std::vector<layer> layers;
        std::vector<std::string> known;  ///< names asked for so far
        std::vector<block> blocks;       ///< of all lists of blocks in here
        bool list = false;
        std::size_t first_block = 0;  ///< of a list of blocks: where its own begin among those of the level around it
        std::string list_name;        ///< of a list of blocks
        std::vector<std::string> kinds;  ///< where a key chooses one: which one is in force in each layer
        /// Keys of its kind in a layer, where layers choose several.
        std::map<const config_tree*, std::vector<std::string>> known_in;
        std::string kind;  ///< not empty: a part of the level around it, with the keys of this kind
    };

    /// The layers that give `name` a value, in order; notes that `name` is known.
    std::vector<layer> children(const std::string& name);
    /// Notes what the innermost list's items are called.
    void add_blocks(const char* name, std::size_t size);
    /// The name of an item of the innermost list, as it is written or as it follows from the prefix.
    block block_of(std::size_t index, const char* prefix) const;
    /// What a layer of a list says of an item.
    static std::vector<layer> item_layers(const layer& list, std::size_t index);
    static void check(const level& l);
    /// Notes which kind each layer of the innermost level is for. \param key that chooses it
    void note_kinds(const char* key);

    std::vector<level> m_levels;
    std::map<std::string, std::string> m_without_effect;
    std::set<std::string> m_with_effect;
    bool m_blocks_next = false;  // the list that comes next has blocks for items
    const char* m_prefix = nullptr;
};

/// Names a shape in messages ("a list").
const char* shape_name(config_tree::shape kind);

/// Refuses keys of `tree` that are not in `known`, with a hint. \throws input_error
void reject_unknown_keys(const config_tree& tree, const std::string& path, const std::vector<std::string>& known);

}  // namespace fabricvp
