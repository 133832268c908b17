// SPDX-License-Identifier: Apache-2.0
#include "bindings/gpu.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "bindings/session.h"
#include "platform/apps.h"

namespace fabricvp::python {
namespace {

gpu::gpu_device& gpu_at(session& x, std::size_t node, std::size_t index) {
    auto& gpus = x.machine().hardware().nodes.at(node)->gpus;
    if (index >= gpus.size()) throw std::out_of_range(fmt::format("node {} has {} GPUs", node, gpus.size()));
    return *gpus[index];
}

/// Bytes of a GPU's memory that exist, of a wish for `size` from `offset` on.
std::size_t present(gpu::gpu_device& g, std::uint64_t offset, std::size_t size) {
    const std::uint64_t capacity = g.core.params.memory.capacity;
    return offset >= capacity ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(size, capacity - offset));
}

std::uint64_t physical(gpu::gpu_device& g, std::uint64_t offset) {
    return std::uint64_t{g.core.router().where()} << GPU_PA_WHERE_SHIFT | offset;
}

py::bytes read_memory(session& x, std::size_t node, std::size_t index, std::uint64_t offset, std::size_t size) {
    auto& g = gpu_at(x, node, index);
    std::string data(present(g, offset, size), '\0');
    if (!data.empty()) g.core.memory.debug_access(physical(g, offset), data.data(), data.size(), false);
    return py::bytes(data);
}

std::size_t write_memory(session& x, std::size_t node, std::size_t index, std::uint64_t offset, const py::buffer& data) {
    auto& g = gpu_at(x, node, index);
    const auto view = data.request();
    const auto size = present(g, offset, static_cast<std::size_t>(view.size * view.itemsize));
    if (size) g.core.memory.debug_access(physical(g, offset), view.ptr, size, true);
    return size;
}

py::object translate(session& x, std::size_t node, std::size_t index, std::uint64_t address, std::uint32_t space) {
    gpu::translation t;
    auto& g = gpu_at(x, node, index);
    if (!g.core.memory.debug_translate(space, address, t) || t.fault != gpu::memory_fault::none) return py::none();
    const auto found = t.at(address);
    return py::make_tuple(gpu::where(found), gpu::offset_of(found), t.permissions, t.page_bits);
}

/// (compute unit, slot, kernel, work-group, wavefront in it, state, live lanes, active lanes, pc, instructions) of each.
py::list wavefronts(session& x, std::size_t node, std::size_t index) {
    py::list all;
    auto& core = gpu_at(x, node, index).core;
    for (const auto& unit : core.compute_units)
        for (unsigned slot = 0; slot < unit->slots(); ++slot) {
            const auto& w = unit->slot(slot);
            if (w.state == gpu::wavefront_state::free || !w.group) continue;
            const auto& c = w.context;
            const auto& id = c.identity.group_id;
            all.append(py::make_tuple(unit->index(), slot, core.dispatcher.name_of(w.group->run->what),
                                      py::make_tuple(id[0], id[1], id[2]), c.identity.wavefront, gpu::describe(w.state),
                                      c.schedule.live(), c.schedule.active, c.schedule.pc, c.instructions));
        }
    return all;
}

py::list apps() {
    py::list all;
    for (const auto& a : gpu_apps()) all.append(py::make_tuple(a.name, a.size, a.unit, a.footprint(), a.help));
    return all;
}

}  // namespace

void bind_gpu(py::module_& m) {
    m.def("gpu_count", [](session& x, std::size_t node) { return x.machine().hardware().nodes.at(node)->gpus.size(); });
    m.def("gpu_name", [](session& x, std::size_t node, std::size_t gpu) { return std::string(gpu_at(x, node, gpu).name()); });
    m.def("gpu_memory_size", [](session& x, std::size_t node, std::size_t gpu) {
        return static_cast<std::uint64_t>(gpu_at(x, node, gpu).core.params.memory.capacity);
    });
    m.def("gpu_compute_units", [](session& x, std::size_t node, std::size_t gpu) { return gpu_at(x, node, gpu).core.compute_units.size(); });
    m.def("gpu_read_memory", &read_memory);
    m.def("gpu_write_memory", &write_memory);
    m.def("gpu_translate", &translate);
    m.def("gpu_wavefronts", &wavefronts);
    m.def("apps", &apps);
    m.def("check_app", [](const std::string& name, std::uint64_t size, std::uint64_t gpus, const std::string& placement,
                          const std::string& dispatch, const std::string& input) {
        images_of_app(name, app_options{size, gpus, placement, dispatch, input});
    });
    m.def("load_app", [](session& x, std::size_t node, const std::string& name, std::uint64_t size, std::uint64_t gpus,
                         const std::string& placement, const std::string& dispatch, const std::string& input) {
        x.load_app(node, name, app_options{size, gpus, placement, dispatch, input});
    });
}

}  // namespace fabricvp::python
