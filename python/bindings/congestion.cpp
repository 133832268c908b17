// SPDX-License-Identifier: Apache-2.0
// Plain pass-through; python/fabricvp/congestion.py has the docstrings.
#include "bindings/congestion.h"

#include <pybind11/stl.h>

#include <map>
#include <string>
#include <tuple>

#include "analytic/congestion_model.h"
#include "analytic/graph_families.h"
#include "analytic/schedule_search.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/config/machine_reader.h"
#include "platform/loader/image_paths.h"
#include "platform/params/machine_params.h"
#include "platform/platform.h"

namespace py = pybind11;

namespace fabricvp::python {
namespace {

using namespace analytic;
using edge_list = std::vector<std::pair<std::size_t, std::size_t>>;

/// The shape of a node's PCIe tree. Its endpoints are those listed, disks and network adapters apart, and behind them
/// the GPUs.
pcie_tree tree_of(const std::string& yaml, const std::string& name, const platform::overrides& set, std::size_t node) {
    const auto params = read_machine_params(yaml, name, set);
    if (node >= params.nodes.size())
        throw input_error(name + ": there is no node" + std::to_string(node) + ": the machine has " +
                          std::to_string(params.nodes.size()));
    const auto& pcie = params.nodes[node].pcie;
    pcie_tree tree;
    std::map<std::string, std::size_t> nodes{{"root", pcie_tree::root}};
    const auto parent = [&](const char* kind, const auto& part) {
        const auto at = nodes.find(part.below);
        if (at == nodes.end())
            throw input_error(name + ": pcie: " + kind + " '" + part.name + "' is below '" + part.below +
                              "', which is neither root nor a switch listed before it");
        return at->second;
    };
    for (const auto& s : pcie.switches) nodes.emplace(s.name, tree.add_switch(parent("switch", s)));
    for (const auto& e : pcie.endpoints)
        if (const auto at = parent("endpoint", e); e.device.kind().rfind("virtio_", 0) != 0) tree.add_endpoint(at);
    for (const auto& g : params.nodes[node].devices.gpus)
        if (!g.is_apu()) tree.add_endpoint(parent("GPU", g));
    if (tree.endpoints() < 2) throw input_error(name + ": has no PCIe tree with at least two endpoints");
    return tree;
}

congestion_form form_of(const std::string& name) {
    if (name == "martinasso2016") return congestion_form::martinasso2016;
    if (name == "maxmin") return congestion_form::maxmin;
    throw input_error("form: '" + name + "' is neither published nor maxmin");
}

exchange_pattern pattern_of(const std::string& name) {
    if (name == "2d") return exchange_pattern::grid_2d();
    if (name == "3d") return exchange_pattern::cube_3d();
    throw input_error("pattern: '" + name + "' is neither 2d nor 3d");
}

using message = std::tuple<std::size_t, std::size_t, double, double>;  // source, destination, bytes, start

std::vector<communication> communications(const std::vector<message>& messages) {
    std::vector<communication> all;
    for (const auto& [s, d, bytes, start] : messages) all.push_back({s, d, bytes, start});
    return all;
}

std::vector<double> factors(const congestion_model& model, const edge_list& graph) {
    std::vector<communication> all;
    for (const auto& [s, d] : graph) all.push_back({s, d, 1.0, 0.0});
    return model.factors(all);
}

py::tuple as_tuple(const congestion_model::result& r) {
    py::list phases;
    for (const auto& p : r.phases) phases.append(py::make_tuple(p.end, p.factors));
    return py::make_tuple(phases, r.finish);
}

py::dict as_dict(const schedule_search_result& r) {
    py::dict d;
    d["orders"] = r.orders;
    d["distinct_graphs"] = r.distinct_graphs;
    d["solved_graphs"] = r.solved_graphs;
    d["best_s"] = r.best_s;
    d["worst_s"] = r.worst_s;
    d["natural_s"] = r.natural_s;
    d["mean_s"] = r.mean_s;
    d["best_order"] = r.best_order;
    d["worst_order"] = r.worst_order;
    d["histogram"] = r.histogram;
    return d;
}

}  // namespace

void bind_congestion(py::module_& m) {
    py::class_<pcie_tree>(m, "PcieTree")
        .def(py::init<>())
        .def_static(
            "from_config",
            [](const std::string& path, const platform::overrides& set, std::size_t node) {
                const auto file = find_config(path);
                return tree_of(read_file(file, 1 << 24), file, set, node);
            },
            py::arg("path"), py::arg("set"), py::arg("node") = 0)
        .def_static("from_text", &tree_of, py::arg("yaml"), py::arg("name"), py::arg("set"), py::arg("node") = 0)
        .def("add_switch", &pcie_tree::add_switch)
        .def("add_endpoint", &pcie_tree::add_endpoint)
        .def("endpoints", &pcie_tree::endpoints)
        .def("switches", &pcie_tree::switches)
        .def("route",
             [](const pcie_tree& t, std::size_t s, std::size_t d) {
                 auto p = t.route(s, d);
                 return std::pair(std::move(p.directions), p.crosses_root);
             })
        .def("automorphisms", &pcie_tree::automorphisms);
    py::class_<congestion_model>(m, "CongestionModel")
        .def(py::init([](const pcie_tree& tree, double tau, double bandwidth, const std::string& form,
                         double crossing_bandwidth) {
            return congestion_model(tree, tau, bandwidth, form_of(form), crossing_bandwidth);
        }))
        .def("factors", &factors)
        .def("solve", [](const congestion_model& x,
                         const std::vector<message>& messages) { return as_tuple(x.solve(communications(messages))); })
        .def("solve_in_steps",
             [](const congestion_model& x, const std::vector<message>& messages) {
                 return as_tuple(x.solve_in_steps(communications(messages)));
             })
        .def("step_durations", [](const congestion_model& x, const exchange_order& order,
                                  double bytes) { return step_durations(x, order, bytes); })
        .def("search",
             [](const congestion_model& x, const std::vector<std::vector<std::size_t>>& neighbours, double bytes,
                std::size_t bins) { return as_dict(search_schedules(x, {neighbours}, bytes, bins)); });
    m.def("exchange_neighbours", [](const std::string& pattern) { return pattern_of(pattern).neighbours; });
    m.def("all_scatters", &all_scatters);
    m.def("all_gathers", &all_gathers);
    m.def("all_to_all_subsets", &all_to_all_subsets);
    m.def("random_graphs", &random_graphs);
    m.def("canonical_graph", &canonical_graph);
}

}  // namespace fabricvp::python
