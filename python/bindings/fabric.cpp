// SPDX-License-Identifier: Apache-2.0
// Plain pass-through; python/fabricvp/fabric.py has the docstrings.
#include "bindings/fabric.h"

#include <pybind11/stl.h>

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

using way_row = std::tuple<std::string, std::string, double, double, double>;  // from, to, bytes, flits, busy
using given_values = std::optional<std::map<std::string, double>>;

const node& with_fabric(session& s, std::size_t index) {
    const auto& n = *s.machine().hardware().nodes.at(index);
    if (!n.fabric) throw input_error(std::string(n.name()) + " has no fabric");
    return n;
}

fabric_traffic traffic_of(const node& n, const given_values& values, double seconds, const std::string& stretch) {
    return values ? traffic_from(*n.fabric, *values, seconds, stretch) : measured_traffic(n);
}

std::string svg(session& s, std::size_t index, const given_values& values, double seconds, const std::string& stretch) {
    const auto& n = with_fabric(s, index);
    return fabric_svg(*n.fabric, traffic_of(n, values, seconds, stretch));
}

std::tuple<std::string, double, std::vector<way_row>> traffic(session& s, std::size_t index, const given_values& values, double seconds,
                                                              const std::string& stretch) {
    const auto& n = with_fabric(s, index);
    const auto t = traffic_of(n, values, seconds, stretch);
    std::vector<way_row> rows;
    for (std::size_t i = 0; i < t.links.size(); ++i) {
        const auto& l = n.fabric->links()[i];
        rows.emplace_back(l.from, l.to, t.links[i].there.bytes, t.links[i].there.flits, t.links[i].there.busy);
        rows.emplace_back(l.to, l.from, t.links[i].back.bytes, t.links[i].back.flits, t.links[i].back.busy);
    }
    return {t.stretch, t.seconds, std::move(rows)};
}

}  // namespace

void bind_fabric(py::module_& m) {
    m.def("fabric_svg", &svg);
    m.def("fabric_traffic", &traffic);
}

}  // namespace fabricvp::python
