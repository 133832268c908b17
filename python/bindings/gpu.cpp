// SPDX-License-Identifier: Apache-2.0
#include "bindings/gpu.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "bindings/session.h"
#include "platform/apps.h"
#include "platform/common/files.h"
#include "platform/kernel_job.h"
#include "platform/loader/image_set.h"

namespace fabricvp::python {
namespace {

gpu::gpu_unit& gpu_at(session& x, std::size_t node, std::size_t index) {
    auto& gpus = x.machine().hardware().nodes.at(node)->devices.gpus;
    if (index >= gpus.size()) throw std::out_of_range(fmt::format("node {} has {} GPUs", node, gpus.size()));
    return *gpus[index];
}

/// Bytes of a GPU's memory that exist, of a wish for `size` from `offset` on.
std::size_t present(gpu::gpu_unit& g, std::uint64_t offset, std::size_t size) {
    const std::uint64_t capacity = g.core.params.memory.capacity;
    return offset >= capacity ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(size, capacity - offset));
}

std::uint64_t physical(gpu::gpu_unit& g, std::uint64_t offset) {
    return std::uint64_t{g.core.router().where()} << GPU_PA_APERTURE_SHIFT | offset;
}

py::bytes read_memory(session& x, std::size_t node, std::size_t index, std::uint64_t offset, std::size_t size) {
    auto& g = gpu_at(x, node, index);
    std::string data(present(g, offset, size), '\0');
    if (!data.empty()) g.core.memory.debug_access(physical(g, offset), data.data(), data.size(), false);
    return py::bytes(data);
}

std::size_t write_memory(session& x, std::size_t node, std::size_t index, std::uint64_t offset,
                         const py::buffer& data) {
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

/// (compute unit, slot, kernel, work-group, wavefront in it, state, live lanes, active lanes, pc, instructions) of
/// each.
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

/// Instructions of the host, instructions of wavefronts, events, seconds; nothing where that is not known. \param nodes
/// and \param gpus of each, of applications over all of them
std::optional<std::tuple<double, double, double, double>> app_work(const std::string& name, std::uint64_t size,
                                                                   const std::string& settings, std::size_t nodes,
                                                                   std::size_t gpus) {
    app_options options;
    options.size = size;
    options.settings = settings;
    const auto images = images_of_app(name, options);
    const auto share = work_of(images, {gpus, nodes * gpus, nodes});
    if (!share) return std::nullopt;
    const auto n = static_cast<double>(nodes);
    return std::tuple(n * share->host, n * share->wavefronts, n * share->events, n * share->seconds());
}

/// Bytes, contents, out, offset in the arguments, place, keep, address, job and buffer of one that is there already,
/// and row of LADM's table, pitch and datablock (abi/kernel_job.h).
using given_buffer = std::tuple<std::uint64_t, std::optional<py::bytes>, bool, std::uint64_t, std::uint32_t, bool,
                                std::optional<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>>,
                                std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>>;

/// A RAM disk with a job, and where in it each buffer and its address are. \param gpu none: all of the node
std::tuple<py::bytes, std::vector<std::uint64_t>, std::vector<std::uint64_t>> kernel_job(
    const py::object& elf, const std::string& kernel, const std::array<std::uint32_t, 3>& items,
    const std::array<std::uint32_t, 3>& group, std::uint32_t lds, const py::bytes& arguments,
    const std::vector<given_buffer>& buffers, std::optional<unsigned> gpu, std::uint32_t stream, std::uint64_t after,
    std::pair<std::uint32_t, std::uint32_t> policies, bool cooperative) {
    kernel_job_request r;
    r.elf = py::isinstance<py::bytes>(elf) ? elf.cast<std::string>()
                                           : read_file(elf.cast<std::string>(), std::size_t{1} << 28);
    r.kernel = kernel;
    r.items = items;
    r.group = group;
    r.lds_bytes = lds;
    r.arguments = arguments;
    for (const auto& [bytes, contents, out, argument, place, keep, kept, locality] : buffers) {
        r.buffers.push_back({bytes, contents ? std::string(*contents) : std::string(), out, argument, place});
        auto& b = r.buffers.back();
        b.keep = keep;
        std::tie(b.row, b.pitch, b.datablock) = locality;
        if (kept) b.kept = {std::get<0>(*kept), std::get<1>(*kept), std::get<2>(*kept)};
    }
    r.stream = stream;
    r.after = after;
    std::tie(r.placement, r.dispatch) = policies;
    r.cooperative = cooperative;
    r.gpu = gpu;
    r.keep = true;
    auto image = make_kernel_job(r);
    return {py::bytes(image.bytes), std::move(image.contents), std::move(image.addresses)};
}

/// Lets a node wait for jobs in its RAM disk, which begins with `job` and has `size` bytes.
void serve_kernel_jobs(session& x, std::size_t node, const py::bytes& job, std::size_t size) {
    image_set images;
    images.firmware = "firmware:gpu_apps.elf";
    images.append = "app=kernel";
    images.initrd = file_of_bytes(job, size);
    x.load_images(node, images);
}

}  // namespace

void bind_gpu(py::module_& m) {
    m.def("gpu_count",
          [](session& x, std::size_t node) { return x.machine().hardware().nodes.at(node)->devices.gpus.size(); });
    m.def("gpu_name", [](session& x, std::size_t node, std::size_t gpu) {
        return std::string(gpu_at(x, node, gpu).core.owner.name());
    });
    m.def("gpu_memory_size", [](session& x, std::size_t node, std::size_t gpu) {
        return static_cast<std::uint64_t>(gpu_at(x, node, gpu).core.params.memory.capacity);
    });
    m.def("gpu_compute_units",
          [](session& x, std::size_t node, std::size_t gpu) { return gpu_at(x, node, gpu).core.compute_units.size(); });
    m.def("gpu_lds_size", [](session& x, std::size_t node, std::size_t gpu) {
        return static_cast<std::uint64_t>(gpu_at(x, node, gpu).core.compute_units.front()->params.lds.size);
    });
    m.def("gpu_resident_groups", [](session& x, std::size_t node, std::size_t gpu, std::uint64_t items,
                                    std::uint64_t lanes, std::uint64_t lds) {
        const auto& units = gpu_at(x, node, gpu).core.compute_units;
        const auto& p = units.front()->params;
        const auto groups = p.slots() / ((items + lanes - 1) / lanes * p.slots_of(lanes));
        return units.size() * (lds ? std::min<std::uint64_t>(groups, p.lds.size / lds) : groups);
    });
    m.def("gpu_read_memory", &read_memory);
    m.def("gpu_write_memory", &write_memory);
    m.def("gpu_translate", &translate);
    m.def("gpu_wavefronts", &wavefronts);
    m.def("apps", &apps);
    m.def("app_work", &app_work, py::arg("name"), py::arg("size"), py::arg("settings"), py::arg("nodes") = 1,
          py::arg("gpus") = 1);
    m.def("kernel_job", &kernel_job);
    m.def("serve_kernel_jobs", &serve_kernel_jobs);
    m.def("kernel_job_head", [] { return std::make_pair(kernel_job_head_bytes(), kernel_job_state_offset()); });
    m.def("read_kernel_job", [](const py::bytes& head) {
        const auto r = read_kernel_job(head);
        return std::make_tuple(r.state, r.fault, r.nanoseconds, r.start_ns, r.end_ns);
    });
    m.def("initrd", [](session& x, std::size_t node) { return x.machine().hardware().nodes.at(node)->host.initrd(); });
    m.def("check_app", [](const std::string& name, std::uint64_t size, std::uint64_t gpus, const std::string& placement,
                          const std::string& dispatch, const std::string& input, const std::string& settings) {
        images_of_app(name, app_options{size, gpus, placement, dispatch, input, settings});
    });
    m.def("load_app", [](session& x, std::size_t node, const std::string& name, std::uint64_t size, std::uint64_t gpus,
                         const std::string& placement, const std::string& dispatch, const std::string& input,
                         const std::string& settings) {
        x.load_app(node, name, app_options{size, gpus, placement, dispatch, input, settings});
    });
}

}  // namespace fabricvp::python
