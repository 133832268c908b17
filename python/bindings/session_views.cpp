// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "abi/memory_map.h"
#include "base/statistics.h"
#include "bindings/parameter_list.h"
#include "bindings/session.h"
#include "platform/common/input_error.h"
#include "platform/results/results.h"

namespace fabricvp::python {

py::bytes session::read_memory(std::size_t node, std::uint64_t address, std::size_t size) {
    at(node);
    // Bounded steps: a wish for an exabyte ends at the first byte that is not there.
    constexpr std::size_t step = std::size_t{1} << 20;
    std::string data;
    while (data.size() < size) {
        const auto before = data.size();
        const auto wanted = std::min(step, size - before);
        data.resize(before + wanted);
        const auto done = m_platform->read_memory(node, address + before, data.data() + before, wanted);
        if (done < wanted) {
            data.resize(before + done);
            break;
        }
    }
    return py::bytes(data);
}

std::size_t session::write_memory(std::size_t node, std::uint64_t address, const py::buffer& data) {
    at(node);
    const auto view = data.request();
    return m_platform->write_memory(node, address, view.ptr, static_cast<std::size_t>(view.size * view.itemsize));
}

py::object session::view_memory(std::size_t node, std::uint64_t address, std::size_t size) {
    const auto* range = std::as_const(at(node).host->bus).ranges().find(address);
    if (!range || !range->value.memory || !range->value.memory->contains(address - range->base, size))
        return py::none();
    const auto* bytes = static_cast<const sparse_memory&>(*range->value.memory).data() + (address - range->base);
    return py::memoryview::from_memory(static_cast<const void*>(bytes), static_cast<py::ssize_t>(size));
}

std::vector<register_handle> session::device_registers(std::size_t node) {
    std::vector<register_handle> found;
    for (auto* device : at(node).devices)
        for (auto* reg : device->registers.registers()) found.push_back({device->basename(), reg});
    return found;
}

std::shared_ptr<python_device> session::add_device(std::size_t node, std::uint64_t base, std::uint64_t size,
                                                   py::object object, const std::string& name, int interrupt) {
    auto& host = *at(node).host;
    if (interrupt == 0 || interrupt > VIRT_PLIC_SOURCES)
        throw input_error(
            fmt::format("device {}: there is no interrupt source {}: 1 … {}", name, interrupt, VIRT_PLIC_SOURCES));
    auto device = std::make_shared<python_device>(*this, std::move(object), name, host,
                                                  interrupt < 0 ? 0u : static_cast<unsigned>(interrupt));
    try {
        host.bus.map(name, base, size, device->target());
    } catch (const std::invalid_argument& error) {
        throw input_error(fmt::format("device {}: {}", name, error.what()));
    }
    m_devices.push_back(device);
    return device;
}

py::list session::parameters() { return list_parameters(m_platform->resolved_config()); }

std::vector<std::tuple<std::string, std::string, std::string>> session::statistic_descriptions() {
    std::vector<std::tuple<std::string, std::string, std::string>> rows;
    const notes_finder find;
    for (const auto& value : m_platform->statistics()) {
        const auto notes = find(value.first);
        rows.emplace_back(value.first, notes.unit, notes.help);
    }
    return rows;
}

std::vector<std::string> session::time_series_names() {
    std::vector<std::string> names;
    for (const auto* s : all_statistics())
        if (dynamic_cast<const class time_series*>(s)) names.push_back(s->path());
    return names;
}

std::optional<std::pair<ticks, std::vector<double>>> session::time_series(const std::string& path) {
    for (const auto* s : all_statistics())
        if (const auto* found = dynamic_cast<const class time_series*>(s); found && found->path() == path)
            return std::make_pair(found->window(), found->values());
    return std::nullopt;
}

}  // namespace fabricvp::python
