// SPDX-License-Identifier: Apache-2.0
#include "platform/pcie_drawing.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace fabricvp {
namespace {

constexpr int box_width = 96, box_height = 44, gap = 12, level_height = 74;

struct vertex {
    std::string name, below, note, colour;
    int centre = 0;  // of its box, from the left edge
    int level = 0;
};

std::string link_text(const pcie::port_params& p) { return fmt::format("Gen{} x{}", p.generation, p.width); }

std::vector<vertex> vertices_of(const pcie::tree& tree) {
    std::vector<vertex> all{{"root", "", "root complex", "#eceff1"}};
    for (const auto& s : tree.params.switches) all.push_back({s.name, s.below, link_text(s.upstream_port), "#e3f2fd"});
    for (const auto& e : tree.params.endpoints)
        all.push_back({e.name, e.below, link_text(e.device.settings().endpoint().link), "#e8f5e9"});
    for (const auto& d : tree.params.slots) all.push_back({d.name, d.below, "device", "#e8f5e9"});
    return all;
}

/// Places a vertex and all below it from `left` on. \returns where the next one may begin
int place(std::vector<vertex>& all, std::size_t at, int level, int left) {
    all[at].level = level;
    int right = left, first = -1, last = -1;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].below != all[at].name) continue;
        right = place(all, i, level + 1, right);
        if (first < 0) first = all[i].centre;
        last = all[i].centre;
    }
    all[at].centre = first < 0 ? left + box_width / 2 : (first + last) / 2;
    return std::max(right, left + box_width + gap);
}

}  // namespace

drawing draw_pcie(const pcie::tree& tree, int x, int y) {
    auto all = vertices_of(tree);
    drawing d;
    d.width = place(all, 0, 0, 0) - gap;
    std::string wires, boxes;
    for (const auto& v : all) {
        const int cx = x + v.centre, top = y + v.level * level_height;
        d.height = std::max(d.height, top + box_height - y);
        const auto parent = std::find_if(all.begin(), all.end(), [&](const vertex& p) { return p.name == v.below; });
        if (parent != all.end())
            wires += fmt::format(
                "<path d=\"M {} {} V {} H {} V {}\" fill=\"none\" stroke=\"#78909c\" stroke-width=\"2\"/>\n",
                x + parent->centre, top - level_height + box_height, top - (level_height - box_height) / 2, cx, top);
        boxes += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\" stroke=\"#37474f\"/>\n",
            cx - box_width / 2, top, box_width, box_height, v.colour);
        boxes += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", cx, top + 18, v.name);
        boxes += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>\n", cx, top + 34, v.note);
    }
    d.svg = wires + boxes;
    return d;
}

std::string pcie_dot(const pcie::tree& tree, const std::string& bus) {
    std::string text;
    for (const auto& v : vertices_of(tree)) {
        const auto id = fmt::format("{}.{}", tree.name(), v.name);
        text += fmt::format("    \"{0}\" [label=\"{1}\\n{2}\"];\n    \"{3}\" -- \"{0}\";\n", id, v.name, v.note,
                            v.below.empty() ? bus : fmt::format("{}.{}", tree.name(), v.below));
    }
    return text;
}

}  // namespace fabricvp
