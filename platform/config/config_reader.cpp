// SPDX-License-Identifier: Apache-2.0
#include "platform/config/config_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/config/renamed_names.h"

namespace fabricvp {
namespace {

using shape = config_tree::shape;

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

void require(const config_reader::layer& l, shape wanted, const std::string& what) {
    if (l.tree->kind == wanted) return;
    throw input_error(
        fmt::format("{}: {} must be {}, this is {}", l.tree->origin, l.path, what, shape_name(l.tree->kind)));
}

const char* const every_item = "*";

bool names_item(const std::string& key) {
    return key == every_item || (!key.empty() && key.size() < 6 &&
                                 std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

/// True for overrides of items of a list: of single ones ("--set node.devices.0.base=…") or of all ("--set
/// node.gpus.*.…").
bool names_items(const config_tree& tree) {
    return tree.kind == shape::mapping && !tree.entries.empty() &&
           std::all_of(tree.entries.begin(), tree.entries.end(), [](const auto& e) { return names_item(e.key); });
}

}  // namespace

const char* shape_name(shape kind) {
    switch (kind) {
        case shape::scalar: return "a single value";
        case shape::mapping: return "a group of keys";
        case shape::sequence: return "a list";
        default: return "empty";
    }
}

void reject_unknown_keys(const config_tree& tree, const std::string& path, const std::vector<std::string>& known) {
    for (const auto& e : tree.entries) {
        if (std::find(known.begin(), known.end(), e.key) != known.end()) continue;
        if (const auto name = renamed_key(e.key, known); !name.empty())
            throw input_error(fmt::format("{}: {}", e.origin, now_called(joined(path, e.key), joined(path, name))));
        const auto hint = nearest_name(e.key, known);
        throw input_error(fmt::format(
            "{}: unknown key {}{}{} (allowed: {})", e.origin, quoted(e.key), path.empty() ? "" : " in " + path,
            hint.empty() ? "" : fmt::format(", did you mean '{}'?", hint), fmt::join(known, ", ")));
    }
}

config_reader::config_reader(std::vector<layer> layers) {
    for (const auto& l : layers)
        if (l.tree->kind != shape::null) require(l, shape::mapping, "a group of keys");
    m_levels.emplace_back().layers = std::move(layers);
}

void config_reader::finish() const { check(m_levels.front()); }

void config_reader::check(const level& l) {
    auto known = l.known;
    for (const auto& b : l.blocks) {
        const auto same =
            std::find_if(l.blocks.begin(), l.blocks.end(), [&](const auto& other) { return other.name == b.name; });
        if (&*same != &b)
            throw input_error(
                fmt::format("{}: the name {} is taken: {} has it", b.origin, quoted(b.name), same->origin));
        if (std::find(l.known.begin(), l.known.end(), b.name) != l.known.end())
            throw input_error(
                fmt::format("{}: the name {} is taken: a key beside this list has it", b.origin, quoted(b.name)));
        known.push_back(b.name);
    }
    for (const auto& each : l.layers) {
        if (each.tree->kind != shape::mapping) continue;
        auto here = known;
        if (const auto own = l.known_in.find(each.tree); own != l.known_in.end())
            here.insert(here.end(), own->second.begin(), own->second.end());
        reject_unknown_keys(*each.tree, each.path, here);
    }
}

std::vector<config_reader::layer> config_reader::children(const std::string& name) {
    auto& here = m_levels.back();
    here.known.push_back(name);
    std::vector<layer> found;
    for (const auto& l : here.layers)
        if (const auto* child = l.tree->find(name)) found.push_back({child, joined(l.path, name)});
    return found;
}

void config_reader::visit(parameter& p) {
    for (const auto& l : children(p.name)) {  // each is checked, though the last one wins
        const auto& tree = *l.tree;
        if (tree.kind == shape::null) throw input_error(fmt::format("{}: {} has no value", tree.origin, l.path));
        try {
            if (p.kind == parameter_kind::text_list) {
                require(l, shape::sequence, "a list");
                std::vector<std::string> items;
                for (const auto& item : tree.items) {
                    require({&item, l.path}, shape::scalar, "a list of single values");
                    items.push_back(item.text);
                }
                p.parse_list(items);
            } else {
                require(l, shape::scalar, "a single value");
                p.parse(tree.text);
            }
        } catch (const std::invalid_argument& e) {
            if (const auto name = renamed_value(p.name, tree.text); !name.empty())
                throw input_error(
                    fmt::format("{}: {}: {}", tree.origin, l.path, now_called(quoted(tree.text), quoted(name))));
            throw input_error(fmt::format("{}: {}: {}", tree.origin, l.path, e.what()));
        }
    }
    if (p.kind == parameter_kind::choice && p.name == std::string("kind")) note_kinds(p.name);
}

void config_reader::note_kinds(const char* key) {
    auto& here = m_levels.back();
    here.kinds.clear();
    std::string kind;
    for (const auto& l : here.layers) {
        if (const auto* given = l.tree->find(key)) kind = given->text;
        here.kinds.push_back(kind);
    }
    // What stands below the first layer that chooses is for the kind that it chooses.
    const auto first = std::find_if(here.kinds.begin(), here.kinds.end(), [](const auto& k) { return !k.empty(); });
    if (first != here.kinds.end()) std::fill(here.kinds.begin(), first, *first);
}

bool config_reader::wants_kinds() const {
    const auto& kinds = m_levels.back().kinds;
    return std::any_of(kinds.begin(), kinds.end(), [&](const auto& k) { return k != kinds.back(); });
}

void config_reader::enter_kind(const char* name, const char*) {
    if (!wants_kinds()) return;
    const auto& here = m_levels.back();
    level part;
    part.kind = name;
    part.known = here.known;
    const bool chosen = here.kinds.back() == name;
    auto from = here.kinds.size();  // of the chosen kind the layers count that no other kind comes after
    while (chosen && from > 0 && here.kinds[from - 1] == name) --from;
    for (std::size_t i = chosen ? from : 0; i < here.kinds.size(); ++i)
        if (here.kinds[i] == name) part.layers.push_back(here.layers[i]);
    m_levels.push_back(std::move(part));
}

void config_reader::leave_kind() {
    if (m_levels.back().kind.empty()) return;
    const auto part = std::move(m_levels.back());
    m_levels.pop_back();
    auto& here = m_levels.back();
    std::vector<std::string> known(part.known.begin() + static_cast<std::ptrdiff_t>(here.known.size()),
                                   part.known.end());  // before them stand those of the level
    for (const auto& b : part.blocks) known.push_back(b.name);
    for (std::size_t i = 0; i < here.kinds.size(); ++i)
        if (here.kinds[i] == part.kind) here.known_in[here.layers[i].tree] = known;
    if (here.kinds.back() == part.kind) here.blocks.insert(here.blocks.end(), part.blocks.begin(), part.blocks.end());
}

void config_reader::rest(std::vector<unparsed_value>& values, const char*) {
    auto& here = m_levels.back();
    for (const auto& l : here.layers)
        for (const auto& e : l.tree->entries) {
            const auto own = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.key == e.key; });
            if (own == values.end() && std::find(here.known.begin(), here.known.end(), e.key) != here.known.end())
                continue;
            require({&e.value, joined(l.path, e.key)}, shape::scalar, "a single value");
            if (own != values.end())
                *own = {e.key, e.value.text, e.origin};
            else
                values.push_back({e.key, e.value.text, e.origin});
        }
    for (const auto& v : values) here.known.push_back(v.key);
}

std::string config_reader::origin_of(const char* name) {
    std::string where;
    for (const auto& l : m_levels.back().layers) {
        if (where.empty() || !*name) where = l.tree->origin;
        for (const auto& e : l.tree->entries)
            if (e.key == name) where = e.origin;
    }
    return where;
}

bool config_reader::enter(const char* name, const char*) {
    auto found = children(name);
    for (const auto& l : found)
        if (l.tree->kind != shape::null) require(l, shape::mapping, "a group of keys");
    m_levels.emplace_back().layers = std::move(found);
    return true;
}

void config_reader::leave() {
    check(m_levels.back());
    m_levels.pop_back();
}

std::size_t config_reader::enter_list(const char* name, const char*, std::size_t size) {
    const auto found = children(name);
    level list;
    list.list = true;
    for (const auto& l : found) {
        if (names_items(*l.tree)) {
            for (const auto& e : l.tree->entries) {
                if (e.key == every_item) continue;
                const auto index = std::stoul(e.key);
                if (std::to_string(index) != e.key)
                    throw input_error(fmt::format("{}: {} has no item {}: write {}", e.origin, l.path, e.key, index));
                if (index >= size)
                    throw input_error(
                        fmt::format("{}: {} has {} items, there is no item {}", e.origin, l.path, size, e.key));
            }
            if (size == 0)
                m_without_effect[l.tree->origin] =
                    fmt::format("{}: {} has no items, so this has no effect", l.tree->origin, l.path);
            else
                m_with_effect.insert(l.tree->origin);
            list.layers.push_back(l);
            continue;
        }
        for (const auto& e : l.tree->entries)
            if (e.key.find_first_of("-0123456789") == 0 && !names_item(e.key))
                throw input_error(fmt::format("{}: {} has no item {}: items are numbered from 0 on, {} is all of them",
                                              e.origin, l.path, e.key, every_item));
        require(l, shape::sequence, "a list");
        size = l.tree->items.size();
        list.layers.assign({l});  // a whole list replaces what lower layers say
    }
    m_levels.push_back(std::move(list));
    if (m_blocks_next) add_blocks(name, size);
    return size;
}

std::vector<config_reader::layer> config_reader::item_layers(const layer& list, std::size_t index) {
    std::vector<layer> found;
    const auto name = std::to_string(index);
    const bool whole = list.tree->kind == shape::sequence;
    for (const auto* tree :
         {whole ? &list.tree->items[index] : list.tree->find(every_item), whole ? nullptr : list.tree->find(name)}) {
        if (!tree) continue;
        found.push_back({tree, joined(list.path, name)});
        require(found.back(), shape::mapping, "a group of keys");
    }
    return found;
}

config_reader::block config_reader::block_of(std::size_t index, const char* prefix) const {
    block b{prefix ? prefix + std::to_string(index) : "", ""};
    std::string path;
    for (const auto& list : m_levels.back().layers)
        for (const auto& l : item_layers(list, index)) {
            if (b.origin.empty()) b.origin = l.tree->origin;
            path = l.path;
            const auto* name = l.tree->find("name");
            if (name && name->kind == shape::scalar) b = {name->text, name->origin};
        }
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (b.name.empty() || !std::all_of(b.name.begin(), b.name.end(), letter))
        throw input_error(fmt::format("{}: {}.name: {} is no name: give letters, digits and _", b.origin, path,
                                      fabricvp::quoted(b.name)));
    return b;
}

void config_reader::expect_blocks(const char* prefix, const std::vector<std::string>&) {
    m_blocks_next = true;
    m_prefix = prefix;
}

void config_reader::add_blocks(const char* name, std::size_t size) {
    auto& outer = m_levels[m_levels.size() - 2].blocks;
    m_levels.back().list_name = name;
    m_levels.back().first_block = outer.size();
    for (std::size_t i = 0; i < size; ++i) outer.push_back(block_of(i, m_prefix));
    m_blocks_next = false;
}

void config_reader::enter_item(std::size_t index) {
    level item;
    const auto& list = m_levels.back();
    const auto add = [&](const std::vector<layer>& more) {
        item.layers.insert(item.layers.end(), more.begin(), more.end());
    };
    if (list.list_name.empty()) {
        for (const auto& l : list.layers) add(item_layers(l, index));
    } else {  // a key beside the list that has the block's name is one layer with the list
        const auto& outer = m_levels[m_levels.size() - 2];
        const auto& name = outer.blocks[list.first_block + index].name;
        for (const auto& around : outer.layers) {
            const auto* tree = around.tree->find(list.list_name);
            for (const auto& l : list.layers)
                if (l.tree == tree) add(item_layers(l, index));
            const auto* own = around.tree->find(name);
            if (!own) continue;
            add({{own, joined(around.path, name)}});
            require(item.layers.back(), shape::mapping, "a group of keys");
            if (const auto* again = own->find("name"))
                throw input_error(fmt::format("{}: {} has its name already", again->origin, item.layers.back().path));
        }
    }
    m_levels.push_back(std::move(item));
}

void config_reader::leave_list() { m_levels.pop_back(); }

}  // namespace fabricvp
