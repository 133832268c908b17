// SPDX-License-Identifier: Apache-2.0
#include "platform/fabric_drawing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace fabricvp {
namespace {

constexpr int box_width = 124, box_height = 44, gap = 20, link_height = 64, arc_height = 34;

struct vertex {
    std::string name, note, colour;
    bool is_switch = false;
    int centre = 0, top = 0;
};

using links = std::vector<fabric::interconnect::link_ends>;

std::string rate_text(const fabric::link_params& p) { return fmt::format("{:.4g} GB/s", static_cast<double>(p.bytes_per_second()) / 1e9); }

/// What went each way, where anything did.
std::string carried_text(const fabric::interconnect::link_ends& l) {
    const auto there = l.a->sent.all(), back = l.b->sent.all();
    if (there.packets + back.packets == 0) return {};
    const auto words = [](const fabric::port& p, const fabric::packet_counts::sums& s) {
        return fmt::format("{:.3g} MB ({:.0f} %)", static_cast<double>(s.bytes) / 1e6, 100 * snapshot_statistics(p.utilisation.path())[p.utilisation.path()]);
    };
    return fmt::format("↑ {} ↓ {}", words(*l.a, there), words(*l.b, back));
}

/// Lines are the thicker the faster the link.
std::string stroke(const fabric::interconnect::link_ends& l) {
    const double width = 1.5 + 1.2 * std::max(0.0, std::log2(static_cast<double>(l.a->params.bytes_per_second()) / 8e9));
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"", l.a->crosses_clusters ? "#d84315" : "#78909c", width);
}

/// Devices in the order of the switches that they hang on, then those that hang on none.
std::map<std::string, vertex> place(const fabric::interconnect& f, int& width) {
    std::map<std::string, vertex> all;
    const auto& p = f.params;
    for (std::size_t t = 0; t < f.terminals.size(); ++t) {
        const bool generates = t >= p.devices.size();
        all[f.terminals[t]->basename()] = {f.terminals[t]->basename(), generates ? "generator" : fmt::format("device {}", t), generates ? "#fce4ec" : "#e8f5e9"};
    }
    for (const auto& s : p.switches) all[s.name] = {s.name, fmt::format("switch, cluster {}", s.cluster), "#e3f2fd", true};
    int left = 0;
    std::map<std::string, bool> placed;
    const auto put = [&](const std::string& name) {
        if (placed[name]) return;
        placed[name] = true;
        all[name].centre = left + box_width / 2;
        left += box_width + gap;
    };
    for (const auto& s : p.switches) {
        const int first = left;
        for (const auto& l : f.links())
            for (const auto& [here, there] : {std::pair{l.from, l.to}, std::pair{l.to, l.from}})
                if (there == s.name && !all[here].is_switch) put(here);
        if (left == first) left += box_width + gap;
        all[s.name].centre = (first + left - gap) / 2;
        left += gap;
    }
    for (const auto& t : f.terminals)
        if (!placed[t->basename()]) put(t->basename());
    width = left;
    return all;
}

}  // namespace

drawing draw_fabric(const fabric::interconnect& f, int x, int y) {
    drawing d;
    auto all = place(f, d.width);
    const auto arcs = static_cast<int>(std::count_if(f.links().begin(), f.links().end(), [&](const auto& l) { return all[l.from].is_switch && all[l.to].is_switch; }));
    const int switch_top = y + arcs * arc_height + (arcs ? 14 : 0), device_top = switch_top + box_height + link_height;
    d.height = device_top + box_height - y;
    std::string wires, boxes;
    int level = arcs;
    for (const auto& l : f.links()) {
        const auto &a = all[l.from], &b = all[l.to];
        const auto carried = carried_text(l);
        if (a.is_switch != b.is_switch) {
            const auto &device = a.is_switch ? b : a, &above = a.is_switch ? a : b;
            wires += fmt::format("<path d=\"M {} {} L {} {}\" {}/>\n", x + device.centre, device_top, x + above.centre, switch_top + box_height, stroke(l));
            wires += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\" stroke=\"#fafafa\" stroke-width=\"4\" paint-order=\"stroke\">{}</text>\n", x + device.centre, device_top - 6, rate_text(l.a->params));
            if (!carried.empty()) boxes += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"9\">{}</text>\n", x + device.centre, device_top + box_height + 12, carried);
            continue;
        }
        const bool high = a.is_switch;
        const int edge = high ? switch_top : device_top + box_height, across = high ? switch_top - level-- * arc_height : edge + 12;
        wires += fmt::format("<path d=\"M {} {} V {} H {} V {}\" {}/>\n", x + a.centre, edge, across, x + b.centre, edge, stroke(l));
        wires += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\">{}{}{}</text>\n", x + (a.centre + b.centre) / 2, across + 16, rate_text(l.a->params),
                             carried.empty() ? "" : "  ", carried);
    }
    for (const auto& [name, v] : all) {
        const int top = v.is_switch ? switch_top : device_top;
        boxes += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\" stroke=\"#37474f\"/>\n", x + v.centre - box_width / 2, top,
                             box_width, box_height, v.colour);
        boxes += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", x + v.centre, top + 18, v.name);
        boxes += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>\n", x + v.centre, top + 34, v.note);
    }
    d.height += 20;  // for links below and what is written there
    d.svg = wires + boxes;
    return d;
}

std::string fabric_dot(const fabric::interconnect& f, const std::string& above) {
    std::string text;
    const auto id = [&](const std::string& name) {
        for (const auto& d : f.params.devices)
            if (d == name) return fmt::format("{}.{}", above, name);
        return fmt::format("{}.{}", f.name(), name);
    };
    for (const auto& t : f.terminals) text += fmt::format("    \"{}\" [label=\"{}\"];\n", id(t->basename()), t->basename());
    for (const auto& s : f.params.switches) text += fmt::format("    \"{}\" [label=\"{}\\ncluster {}\"];\n", id(s.name), s.name, s.cluster);
    for (const auto& l : f.links()) text += fmt::format("    \"{}\" -- \"{}\" [label=\"{}\"];\n", id(l.from), id(l.to), rate_text(l.a->params));
    return text;
}

}  // namespace fabricvp
