// SPDX-License-Identifier: Apache-2.0
// Plain pass-through; python/fabricvp/fabric.py has the docstrings.
#include "bindings/fabric.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/session.h"
#include "platform/fabric_drawing.h"
#include "platform/machine.h"
#include "platform/platform.h"

namespace py = pybind11;

namespace fabricvp::python {
namespace {

using traffic_row = std::tuple<std::string, std::string, double, double, double>;  // from, to, bytes, flits, busy
using given_values = std::optional<std::map<std::string, double>>;

const node& with_fabric(session& s, std::size_t index) {
    const auto& n = *s.machine().hardware().nodes.at(index);
    if (!n.fabric) throw input_error(std::string(n.name()) + " has no fabric");
    return n;
}

fabric_traffic traffic_of(const node& n, const given_values& values, double seconds, const std::string& interval) {
    return values ? traffic_from(*n.fabric, *values, seconds, interval) : measured_traffic(n);
}

std::string svg(session& s, std::size_t index, const given_values& values, double seconds,
                const std::string& interval) {
    const auto& n = with_fabric(s, index);
    return fabric_svg(*n.fabric, traffic_of(n, values, seconds, interval));
}

std::tuple<std::string, double, std::vector<traffic_row>> traffic(session& s, std::size_t index,
                                                                  const given_values& values, double seconds,
                                                                  const std::string& interval) {
    const auto& n = with_fabric(s, index);
    const auto t = traffic_of(n, values, seconds, interval);
    std::vector<traffic_row> rows;
    for (std::size_t i = 0; i < t.links.size(); ++i) {
        const auto& l = n.fabric->links()[i];
        rows.emplace_back(l.from, l.to, t.links[i].there.bytes, t.links[i].there.flits, t.links[i].there.busy);
        rows.emplace_back(l.to, l.from, t.links[i].back.bytes, t.links[i].back.flits, t.links[i].back.busy);
    }
    return {t.interval, t.seconds, std::move(rows)};
}

using direction_row =
    std::tuple<std::string, std::string, std::string, bool, bool, std::uint64_t, std::map<std::string, std::string>>;

/// Both directions of every link, as `traffic()` orders them: from, to, path of the sending port, between switches,
/// between clusters, bytes a second, paths of its statistics.
std::vector<direction_row> directions(session& s, std::size_t index) {
    const auto& fabric = *with_fabric(s, index).fabric;
    const auto is_switch = [&](const std::string& name) {
        return std::any_of(fabric.switches.begin(), fabric.switches.end(),
                           [&](const auto& x) { return name == x->basename(); });
    };
    std::vector<direction_row> rows;
    const auto add = [&](const std::string& from, const std::string& to, const fabric::port& p) {
        rows.emplace_back(from, to, p.name(), is_switch(from) && is_switch(to), p.crosses_clusters,
                          p.transmitter.bytes_per_second(),
                          std::map<std::string, std::string>{{"bytes", p.transmitter.bytes.path()},
                                                             {"busy", p.transmitter.busy.path()},
                                                             {"load", p.transmitter.load.path()},
                                                             {"sent", p.sent.path()}});
    };
    for (const auto& l : fabric.links()) {
        add(l.from, l.to, *l.a);
        add(l.to, l.from, *l.b);
    }
    return rows;
}

/// (name, path, cluster, is a switch) of everything that links end at.
std::vector<std::tuple<std::string, std::string, unsigned, bool>> vertices(session& s, std::size_t index) {
    const auto& fabric = *with_fabric(s, index).fabric;
    std::vector<std::tuple<std::string, std::string, unsigned, bool>> rows;
    for (const auto& t : fabric.terminals) rows.emplace_back(t->basename(), t->name(), t->cluster(), false);
    for (const auto& x : fabric.switches) rows.emplace_back(x->basename(), x->name(), x->cluster, true);
    return rows;
}

}  // namespace

void bind_fabric(py::module_& m) {
    m.def("has_fabric",
          [](session& s, std::size_t index) { return s.machine().hardware().nodes.at(index)->fabric != nullptr; });
    m.def("fabric_directions", &directions);
    m.def("fabric_vertices", &vertices);
    m.def("fabric_svg", &svg);
    m.def("fabric_traffic", &traffic);
}

}  // namespace fabricvp::python
