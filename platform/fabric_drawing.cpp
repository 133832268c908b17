// SPDX-License-Identifier: Apache-2.0
#include "platform/fabric_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace fabricvp {
namespace {

constexpr int box_width = 124, box_height = 44, gap = 44;

struct vertex {
    std::string name, note, colour;
    bool is_switch = false;
    int centre = 0, top = 0;
};

using links = std::vector<fabric::interconnect::link_ends>;

std::string rate_text(std::uint64_t bytes_per_second) {
    return fmt::format("{:.4g} GB/s", static_cast<double>(bytes_per_second) / 1e9);
}

std::string rate_text(const fabric::interconnect::link_ends& l) {
    const auto there = l.a->params.bytes_per_second(), back = l.b->params.bytes_per_second();
    return there == back ? rate_text(there) : rate_text(there) + " / " + rate_text(back);
}

/// Lines are the thicker the faster the link.
std::string stroke(const fabric::interconnect::link_ends& l) {
    const double width =
        1.5 + 1.2 * std::max(0.0, std::log2(static_cast<double>(l.a->params.bytes_per_second()) / 8e9));
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"",
                       l.a->crosses_clusters ? "#d84315" : "#78909c", width);
}

/// Of a way that was busy for this share of the time: from grey over yellow to red.
std::string colour(double busy) {
    const double x = std::clamp(busy, 0.0, 1.0);
    const auto mixed = [&](std::array<double, 3> a, std::array<double, 3> b, double t) {
        return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(a[0] + (b[0] - a[0]) * t),
                           static_cast<int>(a[1] + (b[1] - a[1]) * t), static_cast<int>(a[2] + (b[2] - a[2]) * t));
    };
    constexpr std::array<double, 3> grey{176, 190, 197}, yellow{249, 178, 51}, red{198, 40, 40};
    return x < 0.5 ? mixed(grey, yellow, 2 * x) : mixed(yellow, red, 2 * x - 1);
}

double thickness(double busy) { return 1.5 + 8 * std::clamp(busy, 0.0, 1.0); }

std::string amount(const fabric_traffic::direction& w) {
    const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = w.bytes;
    unsigned unit = 0;
    for (; value >= 999.5 && unit < 4; ++unit) value /= 1000;
    return fmt::format("{:.3g} {}", value, units[unit]);
}

/// A line with what it carried; \param points of an SVG path \param words shown when a pointer rests on it
std::string direction_line(const std::string& points, const fabric_traffic::direction& w, const std::string& labels) {
    return fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"><title>{}: {:.0f} bytes, {:.0f} flits, "
        "busy {:.1f} %</title></path>\n",
        points, colour(w.busy), thickness(w.busy), labels, w.bytes, w.flits, 100 * w.busy);
}

std::string xml_text(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
    return out;
}

/// Small text with an edge of background around it, which not every viewer can do in one go.
std::string note(int x, int y, const char* anchor, const std::string& text, int size = 10,
                 const char* background = "white") {
    const auto once = [&](const std::string& look) {
        return fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, size,
                           anchor, look, text);
    };
    return once(fmt::format(" fill=\"{0}\" stroke=\"{0}\" stroke-width=\"4\"", background)) + once("");
}

/// Devices in the order of the switches that they hang on, then those that hang on none.
std::map<std::string, vertex> place(const fabric::interconnect& f, int& width) {
    std::map<std::string, vertex> all;
    const auto& p = f.params;
    for (std::size_t t = 0; t < f.terminals.size(); ++t) {
        const bool generates = t >= p.devices.size();
        all[f.terminals[t]->basename()] = {f.terminals[t]->basename(),
                                           generates ? "generator" : fmt::format("device {}", t),
                                           generates ? "#fce4ec" : "#e8f5e9"};
    }
    for (const auto& s : p.switches)
        all[s.name] = {s.name, fmt::format("switch, cluster {}", s.cluster), "#e3f2fd", true};
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

/// Two ways of a link, and what is written on them.
struct drawn_directions {
    std::string lines, labels;
};

std::string utilization_text(const fabric_traffic::direction& w, const fabric::port& p) {
    return fmt::format("{:.0f} % of {}", 100 * w.busy, rate_text(p.params.bytes_per_second()));
}

/// The link of a device: its way up left, its way down right.
drawn_directions vertical_directions(const fabric::interconnect::link_ends& l, const fabric_traffic::link& t,
                                     bool device_first, int device, int above, int bottom, int top) {
    const auto &up = device_first ? t.there : t.back, &down = device_first ? t.back : t.there;
    const auto& name = device_first ? l.from : l.to;
    const auto line = [&](int shift, const fabric_traffic::direction& w, const std::string& labels) {
        return direction_line(fmt::format("M {} {} L {} {}", device + shift, bottom, above + shift, top), w, labels);
    };
    const int y = bottom - 22;
    return {line(-7, up, "from " + name) + line(7, down, "to " + name),
            note(device - 15, y, "end", "↑ " + amount(up)) +
                note(device - 15, y + 13, "end", fmt::format("{:.0f} %", 100 * up.busy)) +
                note(device + 15, y, "start", "↓ " + amount(down)) +
                note(device + 15, y + 13, "start", fmt::format("{:.0f} %", 100 * down.busy)) +
                note((device + above) / 2, (bottom + top) / 2, "middle", rate_text(l))};
}

/// A link that leaves two boxes by the same side: its ways one above the other.
drawn_directions arched_directions(const fabric::interconnect::link_ends& l, const fabric_traffic::link& t, int from,
                                   int to, int edge, int across, bool high) {
    const int outer = from < to ? -7 : 7, middle = (from + to) / 2;
    const auto line = [&](bool outside, const fabric_traffic::direction& w, const std::string& labels) {
        const int x = outside ? outer : -outer, y = outside == high ? -7 : 7;
        return direction_line(fmt::format("M {} {} V {} H {} V {}", from + x, edge, across + y, to - x, edge), w,
                              labels);
    };
    const auto arrow = [&](bool forth) { return forth == (from < to) ? "→" : "←"; };
    const auto labels = [&](bool forth) {
        const auto& w = forth ? t.there : t.back;
        return note(middle, across + (forth == high ? -14 : 21), "middle",
                    fmt::format("{} {}, {}", arrow(forth), amount(w), utilization_text(w, forth ? *l.a : *l.b)));
    };
    return {line(true, t.there, l.from + " to " + l.to) + line(false, t.back, l.to + " to " + l.from),
            labels(true) + labels(false)};
}

}  // namespace

drawing draw_fabric(const fabric::interconnect& f, int x, int y, const fabric_traffic* traffic) {
    drawing d;
    auto all = place(f, d.width);
    const int arc_height = traffic ? 58 : 34, link_height = traffic ? 110 : 64;
    const auto arcs = static_cast<int>(std::count_if(f.links().begin(), f.links().end(), [&](const auto& l) {
        return all[l.from].is_switch && all[l.to].is_switch;
    }));
    const int switch_top = y + arcs * arc_height + (arcs ? 14 : 0), device_top = switch_top + box_height + link_height;
    d.height = device_top + box_height - y;
    std::string wires, boxes;
    int level = arcs;
    for (std::size_t i = 0; i < f.links().size(); ++i) {
        const auto& l = f.links()[i];
        const auto &a = all[l.from], &b = all[l.to];
        if (a.is_switch != b.is_switch) {
            const auto &device = a.is_switch ? b : a, &above = a.is_switch ? a : b;
            const int down = x + device.centre, up = x + above.centre;
            if (traffic) {
                const auto directions = vertical_directions(l, traffic->links[i], b.is_switch, down, up, device_top,
                                                            switch_top + box_height);
                wires += directions.lines;
                boxes += directions.labels;
            } else {
                wires += fmt::format("<path d=\"M {} {} L {} {}\" {}/>\n", down, device_top, up,
                                     switch_top + box_height, stroke(l));
                wires += note(down, device_top - 6, "middle", rate_text(l), 11, "#fafafa");
            }
            continue;
        }
        const bool high = a.is_switch;
        const int apart = high && arcs > 1 ? (2 * level - arcs - 1) * std::min(32, 84 / arcs) / 2
                                           : 0;  // links of one switch do not hide each other
        const int edge = high ? switch_top : device_top + box_height;
        const int across = high ? switch_top - level-- * arc_height + (traffic ? 14 : 0) : edge + (traffic ? 28 : 12);
        if (traffic) {
            const auto directions =
                arched_directions(l, traffic->links[i], x + a.centre + apart, x + b.centre + apart, edge, across, high);
            wires += directions.lines;
            boxes += directions.labels;
            if (!high) d.height = std::max(d.height, across + 30 - y);
        } else {
            wires += fmt::format("<path d=\"M {} {} V {} H {} V {}\" {}/>\n", x + a.centre, edge, across, x + b.centre,
                                 edge, stroke(l));
            wires += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>\n", x + (a.centre + b.centre) / 2,
                                 across + 16, rate_text(l));
        }
    }
    for (const auto& [name, v] : all) {
        const int top = v.is_switch ? switch_top : device_top;
        boxes += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\" stroke=\"#37474f\"/>\n",
            x + v.centre - box_width / 2, top, box_width, box_height, v.colour);
        boxes +=
            fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", x + v.centre, top + 18, v.name);
        boxes += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>\n", x + v.centre, top + 34, v.note);
    }
    d.height += 20;  // for links below
    d.svg = wires + boxes;
    return d;
}

std::string fabric_svg(const fabric::interconnect& f, const fabric_traffic& traffic) {
    constexpr int margin = 24, head = 74, steps = 5, sample = 96;
    const auto d = draw_fabric(f, margin, head, &traffic);
    const int legend = head + d.height + 14, width = std::max(d.width + 2 * margin, 2 * margin + steps * sample + 40),
              height = legend + 62;
    std::string body = fmt::format(
        "<text x=\"{0}\" y=\"30\" text-anchor=\"start\" font-size=\"17\" font-weight=\"bold\">{1}</text>\n"
        "<text x=\"{0}\" y=\"52\" text-anchor=\"start\">{2}, {3:.6g} µs</text>\n",
        margin, f.name(), xml_text(traffic.interval), traffic.seconds * 1e6);
    body += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"start\" font-size=\"11\">bytes on the lanes each way; width and colour: "
        "share of the time that this way was busy</text>\n",
        margin, legend);
    for (int i = 0; i < steps; ++i) {
        const double busy = i / static_cast<double>(steps - 1);
        const int left = margin + i * sample;
        body += fmt::format("<path d=\"M {} {} h 44\" stroke=\"{}\" stroke-width=\"{:.1f}\"/>\n", left, legend + 24,
                            colour(busy), thickness(busy));
        body += note(left + 50, legend + 28, "start", fmt::format("{:.0f} %", 100 * busy));
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{2}{3}</svg>\n",
        width, height, body, d.svg);
}

std::string fabric_dot(const fabric::interconnect& f, const std::string& above) {
    std::string text;
    const auto id = [&](const std::string& name) {
        for (const auto& d : f.params.devices)
            if (d == name) return fmt::format("{}.{}", above, name);
        return fmt::format("{}.{}", f.name(), name);
    };
    for (const auto& t : f.terminals)
        text += fmt::format("    \"{}\" [label=\"{}\"];\n", id(t->basename()), t->basename());
    for (const auto& s : f.params.switches)
        text += fmt::format("    \"{}\" [label=\"{}\\ncluster {}\"];\n", id(s.name), s.name, s.cluster);
    for (const auto& l : f.links())
        text += fmt::format("    \"{}\" -- \"{}\" [label=\"{}\"];\n", id(l.from), id(l.to), rate_text(l));
    return text;
}

}  // namespace fabricvp
