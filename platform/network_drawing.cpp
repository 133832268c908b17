// SPDX-License-Identifier: Apache-2.0
#include "platform/network_drawing.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace fabricvp {
namespace {

constexpr int box_width = 124, box_height = 44, gap = 24, between_levels = 76;

struct place {
    int level = 0, column = 0;
    std::string note;
};

template <class Enum>
std::string choice_text(Enum value) {
    for (const auto& [e, name] : choice_traits<Enum>::names)
        if (e == value) return name;
    return {};
}

std::string rate_text(const network::port& p) {
    return fmt::format("{} {}", choice_text(p.rate()), choice_text(p.width()));
}

/// Ends are at level 0, a switch one above the lowest of what it is joined to.
std::map<std::string, place> places_of(const network::subnet& n) {
    std::map<std::string, place> all;
    std::vector<std::string> level;
    for (const auto& a : n.adapters()) level.push_back(a.first);
    for (const auto& g : n.generators) level.push_back(g->basename());
    for (int number = 0; !level.empty(); ++number) {
        std::vector<std::string> next;
        for (std::size_t i = 0; i < level.size(); ++i)
            all[level[i]] = {number, static_cast<int>(i), fmt::format("LID {}", n.lid_of(level[i]))};
        for (const auto& s : n.switches) {
            const std::string name = s->basename();
            const bool above = std::any_of(n.links().begin(), n.links().end(), [&](const auto& l) {
                const auto is_below = [&](const std::string& end) {
                    return std::find(level.begin(), level.end(), end) != level.end();
                };
                return (l.from == name && is_below(l.to)) || (l.to == name && is_below(l.from));
            });
            if (above && !all.count(name)) next.push_back(name);
        }
        level = std::move(next);
    }
    return all;
}

}  // namespace

drawing draw_network(const network::subnet& n, int x, int y) {
    const auto all = places_of(n);
    std::map<int, int> columns;
    int levels = 0, max = 1;
    for (const auto& [name, p] : all) {
        max = std::max(max, columns[p.level] = std::max(columns[p.level], p.column + 1));
        levels = std::max(levels, p.level + 1);
    }
    drawing d;
    d.width = max * (box_width + gap) - gap;
    d.height = levels * (box_height + between_levels) - between_levels + 24;
    const auto centre = [&](const place& p) { return x + d.width * (2 * p.column + 1) / (2 * columns[p.level]); };
    const auto top = [&](const place& p) { return y + (levels - 1 - p.level) * (box_height + between_levels); };
    std::string lines, boxes;
    for (const auto& l : n.links()) {
        const auto a = all.find(l.from), b = all.find(l.to);
        if (a == all.end() || b == all.end()) continue;
        const auto& low = a->second.level <= b->second.level ? a->second : b->second;
        const auto& high = &low == &a->second ? b->second : a->second;
        const auto shape =
            low.level == high.level
                ? fmt::format("M {} {} Q {} {} {} {}", centre(low), top(low) + box_height,
                              (centre(low) + centre(high)) / 2, top(low) + box_height + 40, centre(high),
                              top(high) + box_height)
                : fmt::format("M {} {} L {} {}", centre(low), top(low), centre(high), top(high) + box_height);
        lines += fmt::format(
            "<path d=\"{}\" fill=\"none\" stroke=\"#78909c\" stroke-width=\"2\"><title>{} to {}: {}</title></path>\n",
            shape, l.from, l.to, rate_text(*l.a));
    }
    for (const auto& [name, p] : all) {
        boxes += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\" stroke=\"#37474f\"/>\n",
            centre(p) - box_width / 2, top(p), box_width, box_height, p.level ? "#e3f2fd" : "#e8f5e9");
        boxes += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", centre(p), top(p) + 18, name);
        boxes += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>\n", centre(p), top(p) + 34, p.note);
    }
    d.svg = lines + boxes;
    return d;
}

std::string network_dot(const network::subnet& n) {
    std::string text;
    const auto id = [&](const std::string& name) { return fmt::format("{}.{}", n.name(), name); };
    for (const auto& [name, p] : places_of(n))
        text += fmt::format("  \"{}\" [label=\"{}\\n{}\"];\n", id(name), name, p.note);
    for (const auto& l : n.links())
        text += fmt::format("  \"{}\" -- \"{}\" [label=\"{}\"];\n", id(l.from), id(l.to), rate_text(*l.a));
    return text;
}

}  // namespace fabricvp
