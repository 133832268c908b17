// SPDX-License-Identifier: Apache-2.0
// Plain pass-through; python/fabricvp/pcie.py has the docstrings.
#include "bindings/pcie.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/session.h"
#include "platform/machine.h"
#include "platform/node_disks.h"
#include "platform/pcie_traffic.h"

namespace py = pybind11;

namespace fabricvp::python {
namespace {

using message =
    std::tuple<unsigned, unsigned, std::uint64_t, ticks, int>;  // source, destination, bytes, start, channel (-1: any)
using delivery = std::tuple<ticks, ticks, bool>;                // sent, arrived, intact

std::tuple<std::vector<delivery>, std::uint64_t, std::uint64_t> transfer(session& s, std::size_t node,
                                                                         const std::vector<message>& messages,
                                                                         ticks limit) {
    s.check_not_running();
    std::vector<pcie::message> wanted;
    for (const auto& [source, destination, bytes, start, channel] : messages)
        wanted.push_back({source, destination, bytes, start,
                          channel < 0 ? pcie::message::any_channel : static_cast<unsigned>(channel)});
    auto& nodes = s.machine().hardware().nodes;
    if (node >= nodes.size()) throw std::out_of_range("there is no node " + std::to_string(node));
    py::gil_scoped_release nogil;
    const auto result = run_pcie_traffic(*nodes[node], wanted, limit);
    std::vector<delivery> deliveries;
    for (const auto& d : result.deliveries) deliveries.emplace_back(d.sent, d.arrived, d.intact);
    return {std::move(deliveries), result.tlp_hops, result.events};
}

std::vector<std::string> endpoint_names(session& s, std::size_t node) {
    std::vector<std::string> names;
    for (const auto& end : pcie_traffic_ends(*s.machine().hardware().nodes.at(node))) names.push_back(end.first);
    return names;
}

std::vector<std::pair<std::string, std::uint64_t>> disks(session& s, std::size_t node) {
    std::vector<std::pair<std::string, std::uint64_t>> found;
    for (const auto& [name, disk] : node_disks(*s.machine().hardware().nodes.at(node)))
        found.emplace_back(name, disk->size());
    return found;
}

std::string queue_pairs(session& s, std::size_t node) {
    return s.machine().hardware().nodes.at(node)->devices.list_queue_pairs();
}

virtio::disk_image& disk_at(session& s, std::size_t node, std::size_t index) {
    auto& n = *s.machine().hardware().nodes.at(node);
    require_disk_images(n);
    return *node_disks(n).at(index).second;
}

py::object read_disk(session& s, std::size_t node, std::size_t index, std::uint64_t offset, std::size_t size) {
    std::string data(size, '\0');
    const bool done = disk_at(s, node, index).read(offset, reinterpret_cast<std::uint8_t*>(data.data()), size);
    return done ? py::object(py::bytes(data)) : py::none();
}

bool write_disk(session& s, std::size_t node, std::size_t index, std::uint64_t offset, const py::buffer& data) {
    const auto view = data.request();
    return disk_at(s, node, index)
        .write(offset, static_cast<const std::uint8_t*>(view.ptr), static_cast<std::size_t>(view.size * view.itemsize));
}

}  // namespace

void bind_pcie(py::module_& m) {
    m.def("pcie_transfer", &transfer);
    m.def("pcie_endpoints", &endpoint_names);
    m.def("queue_pairs", &queue_pairs);
    m.def("disks", &disks);
    m.def("read_disk", &read_disk);
    m.def("write_disk", &write_disk);
}

}  // namespace fabricvp::python
