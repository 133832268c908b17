// SPDX-License-Identifier: Apache-2.0
// Lists whose items are blocks of their own: each is known by its `name`, which is its path below the struct around the
// list, as a group's key is, and unique there. So `gpus: [{name: left}]` describes the block `left`, not `gpus.0`.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.h"

namespace fabricvp {

/// Whether a text may be the name of a block: letters, digits and _.
inline bool is_block_name(const std::string& text) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !text.empty() && std::all_of(text.begin(), text.end(), letter);
}

/// Names of the items of the lists that are open, for visitors that show paths.
class named_blocks : public parameter_visitor {
public:
    void expect_blocks(const char*, const std::vector<std::string>& names) override { m_next = {true, names}; }

protected:
    /// To be called by enter_list() and leave_list().
    void open_list() { m_open.push_back(std::exchange(m_next, {})); }
    void close_list() { m_open.pop_back(); }
    /// Whether the innermost list is one of blocks, and what its items are called.
    bool lists_blocks() const { return m_open.back().blocks; }
    std::string item_name(std::size_t index) const {
        return lists_blocks() && index < m_open.back().names.size() ? m_open.back().names[index]
                                                                    : std::to_string(index);
    }

private:
    struct list {
        bool blocks = false;
        std::vector<std::string> names;
    };
    list m_next;
    std::vector<list> m_open;
};

/// Describes a list of blocks, and gives names to those without one. Items have a text `name`, described under that
/// key.
template <class Params>
void describe_blocks(parameter_visitor& v, const char* key, std::vector<Params>& items, const char* prefix,
                     const char* help) {
    std::vector<std::string> names;
    for (const auto& item : items) names.push_back(item.name);
    v.expect_blocks(prefix, names);
    v.list(key, items, help);
    if (!prefix) return;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (items[i].name.empty()) items[i].name = prefix + std::to_string(i);
}

}  // namespace fabricvp
