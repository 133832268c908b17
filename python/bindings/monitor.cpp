// SPDX-License-Identifier: Apache-2.0
#include "bindings/monitor.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "platform/common/input_error.h"
#include "platform/run_monitor.h"

namespace fabricvp::python {

namespace py = pybind11;

void bind_monitor(py::module_& m) {
    py::class_<run_monitor, std::shared_ptr<run_monitor>>(m, "RunMonitor")
        .def("description", [](const run_monitor& x) { return x.description(); })
        .def(
            "frame",
            [](run_monitor& x, double timeout_s) {
                return x.frame(std::chrono::milliseconds(static_cast<long>(timeout_s * 1000)));
            },
            py::call_guard<py::gil_scoped_release>())
        .def("send", &run_monitor::send, py::call_guard<py::gil_scoped_release>())
        .def("set_watched", &run_monitor::set_watched)
        .def("leave", &run_monitor::leave)
        .def("pause", &run_monitor::pause);
}

/// The run is over, and nothing may leave a deleter: what goes wrong is said, Ctrl-C among it.
static void close_page(const py::object& page) noexcept {
    try {
        page.attr("close")();
    } catch (const std::exception& error) {
        const std::string text = error.what();  // with a traceback below
        fmt::print(stderr, "fabricvp: the page was not closed: {}\n", text.substr(0, text.find('\n')));
    }
}

page_server page_server_of(py::object function) {
    if (function.is_none()) return {};
    // Released with the process: the command has no place where the GIL is held to do so.
    auto* call = new py::object(std::move(function));
    return [call](std::shared_ptr<run_monitor> run, const std::string& title,
                  std::uint16_t port) -> std::shared_ptr<void> {
        py::gil_scoped_acquire gil;
        try {
            auto* page = new py::object((*call)(std::move(run), title, port));
            return std::shared_ptr<void>(page, [](void* held) {
                py::gil_scoped_acquire gil_at_end;
                const std::unique_ptr<py::object> owned(static_cast<py::object*>(held));
                close_page(*owned);
            });
        } catch (const py::error_already_set& error) {
            if (!error.matches(PyExc_ValueError)) throw;  // InputError is one
            throw input_error(std::string(py::str(error.value())));
        }
    };
}

}  // namespace fabricvp::python
