// SPDX-License-Identifier: Apache-2.0
#include "platform/config/config_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/config/nearest.h"
#include "platform/platform.h"

namespace fabricvp {
namespace {

using shape = config_tree::shape;

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

void require(const config_reader::layer& l, shape wanted, const std::string& what) {
    if (l.tree->kind == wanted) return;
    throw input_error(fmt::format("{}: {} must be {}, this is {}", l.tree->origin, l.path, what,
                                  shape_name(l.tree->kind)));
}

const char* const every_item = "*";

/// True for overrides of items of a list: of single ones ("--set node.devices.0.base=…") or of all ("--set node.gpus.*.…").
bool names_items(const config_tree& tree) {
    return tree.kind == shape::mapping && !tree.entries.empty() &&
           std::all_of(tree.entries.begin(), tree.entries.end(), [](const auto& e) {
               return e.key == every_item || (!e.key.empty() && e.key.size() < 6 && std::all_of(e.key.begin(), e.key.end(), [](char c) {
                   return c >= '0' && c <= '9';
               }));
           });
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

void refuse_unknown_keys(const config_tree& tree, const std::string& path, const std::vector<std::string>& known) {
    for (const auto& e : tree.entries) {
        if (std::find(known.begin(), known.end(), e.key) != known.end()) continue;
        const auto hint = nearest_name(e.key, known);
        throw input_error(fmt::format("{}: unknown key {}{}{} (allowed: {})", e.origin, quoted(e.key),
                                      path.empty() ? "" : " in " + path,
                                      hint.empty() ? "" : fmt::format(", did you mean '{}'?", hint),
                                      fmt::join(known, ", ")));
    }
}

config_reader::config_reader(std::vector<layer> layers) {
    for (const auto& l : layers)
        if (l.tree->kind != shape::null) require(l, shape::mapping, "a group of keys");
    m_levels.push_back({std::move(layers), {}});
}

void config_reader::finish() const { check(m_levels.front()); }

void config_reader::check(const level& l) {
    for (const auto& each : l.layers)
        if (each.tree->kind == shape::mapping) refuse_unknown_keys(*each.tree, each.path, l.known);
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
            throw input_error(fmt::format("{}: {}: {}", tree.origin, l.path, e.what()));
        }
    }
}

void config_reader::rest(std::vector<loose_value>& values, const char*) {
    auto& here = m_levels.back();
    for (const auto& l : here.layers)
        for (const auto& e : l.tree->entries) {
            const auto own = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.key == e.key; });
            if (own == values.end() && std::find(here.known.begin(), here.known.end(), e.key) != here.known.end()) continue;
            require({&e.value, joined(l.path, e.key)}, shape::scalar, "a single value");
            if (own != values.end()) *own = {e.key, e.value.text, e.origin};
            else values.push_back({e.key, e.value.text, e.origin});
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
    m_levels.push_back({std::move(found), {}});
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
            for (const auto& e : l.tree->entries)
                if (e.key != every_item && std::stoul(e.key) >= size)
                    throw input_error(fmt::format("{}: {} has {} items, there is no item {}", e.origin, l.path, size, e.key));
            list.layers.push_back(l);
            continue;
        }
        require(l, shape::sequence, "a list");
        size = l.tree->items.size();
        list.layers.assign({l});  // a whole list replaces what lower layers say
    }
    m_levels.push_back(std::move(list));
    return size;
}

void config_reader::enter_item(std::size_t index) {
    level item;
    const auto name = std::to_string(index);
    for (const auto& l : m_levels.back().layers) {
        const bool whole = l.tree->kind == shape::sequence;
        for (const auto* tree : {whole ? &l.tree->items[index] : l.tree->find(every_item), whole ? nullptr : l.tree->find(name)}) {
            if (!tree) continue;
            layer child{tree, joined(l.path, name)};
            require(child, shape::mapping, "a group of keys");
            item.layers.push_back(std::move(child));
        }
    }
    m_levels.push_back(std::move(item));
}

void config_reader::leave_list() { m_levels.pop_back(); }

}  // namespace fabricvp
