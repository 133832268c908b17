// SPDX-License-Identifier: Apache-2.0
// Plain pass-through; python/fabricvp/fabric.py has the docstrings.
#include "bindings/fabric.h"

#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/session.h"
#include "platform/common/input_error.h"
#include "platform/machine.h"
#include "platform/topology.h"

namespace py = pybind11;

namespace fabricvp::python {
namespace {

const node& with_fabric(session& s, std::size_t index) {
    const auto& n = *s.machine().hardware().nodes.at(index);
    if (!n.fabric) throw input_error(std::string(n.name()) + " has no fabric");
    return n;
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
    m.def("topology",
          [](session& s) { return topology_text(topology_of(s.machine().hardware(), s.machine().statistics())); });
}

}  // namespace fabricvp::python
