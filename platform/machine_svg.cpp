// SPDX-License-Identifier: Apache-2.0
// A drawing with a fixed plan: harts above the interconnect, targets below it in the order of their addresses.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "platform/fabric_drawing.h"
#include "platform/machine_view.h"
#include "platform/network_drawing.h"
#include "platform/pcie_drawing.h"

namespace fabricvp {
namespace {

constexpr int box_width = 148, box_height = 58, gap = 14, margin = 24, lines = 40;
constexpr int columns = 6;

struct box {
    std::string title, line1, line2, colour;
};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return out;
}

std::string drawn(const box& b, int x, int y) {
    return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\" stroke=\"#37474f\"/>\n",
                       x, y, box_width, box_height, b.colour) +
           fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", x + box_width / 2, y + 19,
                       escaped(b.title)) +
           fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>\n", x + box_width / 2, y + 35,
                       escaped(b.line1)) +
           fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>\n", x + box_width / 2, y + 50,
                       escaped(b.line2));
}

int rows(std::size_t boxes) { return static_cast<int>((boxes + columns - 1) / columns); }

/// Boxes in rows, with a line from each column to the interconnect.
std::string drawn_rows(const std::vector<box>& boxes, int left, int top, int bus_edge) {
    std::string wires, shapes;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const int column = static_cast<int>(i) % columns, row = static_cast<int>(i) / columns;
        const int x = left + column * (box_width + gap), y = top + row * (box_height + gap);
        // Lines run beside the boxes of other rows.
        const int lane = x - gap / 2, middle = y + box_height / 2;
        wires += fmt::format("<path d=\"M {} {} H {} V {}\" fill=\"none\" stroke=\"#78909c\" stroke-width=\"2\"/>\n", x,
                             middle, lane, bus_edge);
        shapes += drawn(boxes[i], x, y);
    }
    return wires + shapes;
}

std::vector<box> harts_of(const node& n) {
    constexpr std::size_t max = 3 * columns;
    std::vector<box> boxes;
    const auto& harts = n.host.harts;
    for (const auto& hart : harts) {
        if (boxes.size() + 1 == max && harts.size() > max) {
            boxes.push_back({fmt::format("… hart{}", harts.size() - 1),
                             fmt::format("{} more", harts.size() - boxes.size()), "", "#fff3e0"});
            break;
        }
        const auto isa = hart->isa_string();
        boxes.push_back({hart->basename(), isa.substr(0, isa.find('_')),
                         fmt::format("{:.4g} MHz", static_cast<double>(hart->params.clock.hertz) / 1e6), "#fff3e0"});
    }
    return boxes;
}

std::vector<box> targets_of(const node& n) {
    std::vector<box> boxes;
    for (const auto& r : n.host.bus.ranges())
        boxes.push_back(
            {r.value.name, fmt::format("{:#x}", r.base), size_text(r.size), r.value.memory ? "#e8f5e9" : "#e3f2fd"});
    return boxes;
}

}  // namespace

std::string machine_svg(const machine& m, const std::string& title) {
    const int frame_width = 2 * margin + gap + columns * (box_width + gap) - gap;
    int width = frame_width + 2 * margin;
    int y = 56;
    std::string body;
    const auto frame = [&](const drawing& d, const char* name) {
        const int framed = std::max(frame_width, d.width + 2 * margin);
        body += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"10\" fill=\"#fafafa\" stroke=\"#90a4ae\"/>\n",
            margin, y, framed, d.height + 64);
        body += fmt::format(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"start\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
            margin + 16, y + 25, name);
        body += d.svg;
        width = std::max(width, framed + 2 * margin);
        y += d.height + 64 + margin;
    };
    for (const auto& n : m.nodes) {
        const auto harts = harts_of(*n);
        const auto targets = targets_of(*n);
        const int harts_top = y + 40;
        const int bus_top = harts_top + rows(harts.size()) * (box_height + gap) + 8;
        const int targets_top = bus_top + lines + 22;
        const int height = targets_top + rows(targets.size()) * (box_height + gap) + 10 - y;
        const int left = 2 * margin + gap;
        body += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"10\" fill=\"#fafafa\" stroke=\"#90a4ae\"/>\n",
            margin, y, frame_width, height);
        body += fmt::format(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"start\" font-size=\"15\" font-weight=\"bold\">{}.host</text>\n",
            margin + 16, y + 25, n->name());
        body += drawn_rows(harts, left, harts_top, bus_top);
        body += drawn_rows(targets, left, targets_top, bus_top + lines);
        body += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#eceff1\" stroke=\"#37474f\"/>\n",
            left - gap, bus_top, frame_width - 2 * margin, lines);
        body += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">bus</text>\n",
                            left - gap + (frame_width - 2 * margin) / 2, bus_top + 25);
        y += height + margin;
        if (n->pcie) frame(draw_pcie(*n->pcie, 2 * margin, y + 40), n->pcie->name());
        if (n->fabric) frame(draw_fabric(*n->fabric, 2 * margin, y + 40), n->fabric->name());
    }
    if (m.network) frame(draw_network(*m.network, 2 * margin, y + 40), m.network->name());
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
        "<text x=\"{2}\" y=\"34\" text-anchor=\"start\" font-size=\"18\" font-weight=\"bold\">{3}</text>\n{4}</svg>\n",
        width, y, margin, escaped(title), body);
}

}  // namespace fabricvp
