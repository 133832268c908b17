// SPDX-License-Identifier: Apache-2.0
// The compiled half of the package. It knows no convenience: the Python classes in python/fabricvp have the docstrings.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <algorithm>

#include <cstdlib>
#include <stdexcept>

#include "base/counter_totals.h"
#include "bindings/congestion.h"
#include "bindings/fabric.h"
#include "bindings/gpu.h"
#include "bindings/monitor.h"
#include "bindings/pages_in_use.h"
#include "bindings/parameter_list.h"
#include "bindings/pcie.h"
#include "bindings/python_endpoint.h"
#include "bindings/session.h"
#include "bindings/spans.h"
#include "platform/cli/cli.h"
#include "platform/cli/command.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/common/unmatched.h"
#include "platform/config/config_printer.h"
#include "platform/config/machine_reader.h"
#include "platform/config/plugins.h"
#include "platform/config/renamed_names.h"
#include "platform/console/console.h"
#include "platform/gdb/csr_names.h"
#include "platform/loader/image_paths.h"
#include "platform/loader/image_set.h"
#include "platform/params/machine_params.h"
#include "platform/run_monitor.h"

namespace py = pybind11;
using namespace fabricvp;
using fabricvp::python::parameter_record;
using fabricvp::python::python_device;
using fabricvp::python::python_timer;
using fabricvp::python::register_handle;
using fabricvp::python::session;

// libsystemc wants this symbol from a program; here it is never called.
extern "C" __attribute__((visibility("default"))) int sc_main(int, char*[]) { return 0; }

namespace {

/// A quantity with its unit, as a configuration says it.
template <class Quantity>
auto parse_quantity(const char* name, parameter_kind kind, const std::string& text) {
    Quantity value{};
    parameter quantity(name, "", kind, &value);
    try {
        quantity.parse(text);
    } catch (const std::invalid_argument& error) {
        throw input_error(std::string(name) + ": " + error.what());
    }
    return static_cast<std::uint64_t>(value);
}

py::list list_faults(const platform& p) {
    py::list all;
    for (const auto& f : p.faults()) {
        py::list arguments;
        for (const auto& a : f.arguments) arguments.append(py::make_tuple(a.name, a.value, a.allowed, a.help));
        all.append(py::make_tuple(f.target, f.kind, f.help, arguments));
    }
    return all;
}

/// (node, label, from, to, statistics) of the regions that firmware has marked.
py::list list_regions(platform& p) {
    py::list all;
    for (std::size_t i = 0; i < p.node_count(); ++i)
        for (const auto& r : p.hardware().nodes[i]->host.marker.regions())
            all.append(py::make_tuple(i, r.label, r.from, r.to, r.values));
    return all;
}

/// (GPUs, PCIe endpoints) of each node that a configuration describes; nothing is built.
std::vector<std::pair<std::size_t, std::size_t>> device_counts(const std::string& path,
                                                               const platform::overrides& set) {
    const auto file = find_config(path);
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    for (const auto& n : read_machine_params(read_file(file, 1 << 24), file, set).nodes)
        parts.emplace_back(n.devices.gpus.size(), n.pcie.endpoints.size());
    return parts;
}

/// A configuration with every parameter and its value, overrides among them; nothing is built.
std::string resolved_parameters(const std::string& yaml, const std::string& name, const platform::overrides& set) {
    auto params = read_machine_params(yaml, name, set);
    config_printer printer;
    params.describe(printer);
    return printer.text();
}

py::object csr_number(const std::string& name) {
    static const auto numbers = [] {
        std::map<std::string, unsigned> all;
        for (unsigned n = 0; n < 4096; ++n) all.emplace(gdb::csr_name(n), n);
        return all;
    }();
    const auto found = numbers.find(name);
    return found == numbers.end() ? py::object(py::none()) : py::int_(found->second);
}

void bind_session(py::module_& m) {
    py::class_<session, std::unique_ptr<session, py::nodelete>> s(m, "Session");
    s.def_static("from_config", &session::from_config, py::return_value_policy::reference)
        .def_static("from_text", &session::from_text, py::return_value_policy::reference)
        .def_static("from_recording", &session::from_recording, py::return_value_policy::reference)
        .def_static("exists", &session::exists)
        .def("record",
             [](session& x, const std::string& file, std::uint64_t max) {
                 x.check_not_running();
                 x.machine().record(file, max);
             })
        .def("finish_recording",
             [](session& x) {
                 x.check_not_running();
                 return x.machine().finish_recording();
             })
        .def("node_count", [](session& x) { return x.machine().node_count(); })
        .def("has_work", [](session& x) { return x.machine().has_work(); })
        .def("load_images",
             [](session& x, std::size_t node, std::string firmware, std::string kernel, std::string initrd,
                std::string append, bool tohost) {
                 x.load_images(node, image_set{firmware, kernel, initrd, append, tohost});
             })
        .def("keep_initrd", [](session& x, std::size_t node) { x.machine().keep_initrd(node); })
        .def("load_elf", &session::load_elf)
        .def("load_binary",
             [](session& x, std::size_t node, const std::string& path, std::uint64_t address) {
                 x.check_not_running();
                 x.machine().load_binary(node, path, address);
             })
        .def("run_until", &session::run_until, py::arg("limit"), py::arg("progress") = py::none())
        .def("running", &session::running)
        .def("monitor", [](session& x) { return x.machine().monitor(); })
        .def("check_not_running", &session::check_not_running)
        .def("request_stop", [](session& x) { x.machine().request_stop(); })
        .def("now", [](session& x) { return x.machine().now(); })
        .def("reset", &session::reset)
        .def("outcome", &session::outcome)
        .def("call_at", &session::call_at)
        .def("stop_when_closed", &session::stop_when_closed)
        .def("before_fork", &session::before_fork)
        .def("after_fork_in_child", &session::after_fork_in_child)
        .def("close", &session::close);
    s.def("console_output", &session::console_output)
        .def("console_type",
             [](session& x, std::size_t node, const std::string& text) { x.machine().serial(node).type(text); })
        .def("console_attach",
             [](session& x, std::size_t node, const std::string& where) { x.machine().serial(node).attach(where); })
        .def("console_port", [](session& x, std::size_t node) { return x.machine().serial(node).port(); })
        .def("console_input", [](session& x, std::size_t node) { return x.machine().serial(node).recorded_input(); })
        .def("watch_console_text",
             [](session& x, std::size_t node, std::size_t from, py::bytes text, bool at_line_start,
                std::string description) {
                 return x.watch_console_text(node, from, text, at_line_start, std::move(description));
             })
        .def("watch_console", &session::watch_console)
        .def("unwatch_console", &session::unwatch_console)
        .def("watch_marker", &session::watch_marker)
        .def("unwatch_marker", &session::unwatch_marker);
    s.def("hart_count", &session::hart_count)
        .def("hart_name",
             [](session& x, std::size_t node, std::size_t hart) { return x.hart(node, hart).debug_name(); })
        .def("hart_state",
             [](session& x, std::size_t node, std::size_t hart) { return x.hart(node, hart).debug_state(); })
        .def("read_register",
             [](session& x, std::size_t node, std::size_t hart, unsigned number) -> std::optional<std::uint64_t> {
                 std::uint64_t value = 0;
                 if (!x.hart(node, hart).read_register(number, value)) return std::nullopt;
                 return value;
             })
        .def("write_register", [](session& x, std::size_t node, std::size_t hart, unsigned number,
                                  std::uint64_t value) { return x.hart(node, hart).write_register(number, value); })
        .def("has_csr", [](session& x, std::size_t node, std::size_t hart,
                           unsigned number) { return x.hart(node, hart).has_csr(number); })
        .def("insert_breakpoint", &session::insert_breakpoint)
        .def("remove_breakpoint", &session::remove_breakpoint)
        .def("insert_watchpoint", &session::insert_watchpoint)
        .def("remove_watchpoint", &session::remove_watchpoint)
        .def("symbol", &session::symbol);
    s.def("read_memory", &session::read_memory)
        .def("write_memory", &session::write_memory)
        .def("view_memory", &session::view_memory)
        .def("device_registers", &session::device_registers)
        .def("add_device", &session::add_device)
        .def("parameters", &session::parameters)
        .def("resolved_config", [](session& x) { return x.machine().resolved_config(); })
        .def("statistics", [](session& x) { return x.machine().statistics(); })
        .def("counter_totals", [](session&) { return counter_totals(); })
        .def("statistic_descriptions", &session::statistic_descriptions)
        .def("restart_statistics", [](session&, const std::string& prefix) { restart_statistics(prefix); })
        .def("time_series_names", &session::time_series_names)
        .def("time_series", &session::time_series)
        .def("regions", [](session& x) { return list_regions(x.machine()); })
        .def("set_command",
             [](session& x, std::vector<std::string> command) { x.machine().set_command(std::move(command)); })
        .def("write_results", [](session& x, const std::string& folder) { x.machine().write_results(folder); })
        .def("start_capture", [](session& x, const std::string& file, const std::string& filter,
                                 std::uint64_t max) { x.machine().start_capture(file, filter, max); })
        .def("start_trace",
             [](session& x, ticks from, ticks to, const std::string& region, const std::string& filter,
                std::uint64_t max, const std::string& form) {
                 x.machine().start_trace({"", from, to, region, filter, max}, parse_trace_file(form));
             })
        .def("add_symbols", [](session& x, const std::string& file) { x.machine().add_symbols(file); })
        .def("start_profile", [](session& x, ticks period) { x.machine().start_profile(period); })
        .def("profile_stacks", [](session& x) { return x.machine().profile_stacks(); })
        .def("write_profile", [](session& x, const std::string& page) { x.machine().write_profile(page); })
        .def("start_coverage", [](session& x) { x.machine().start_coverage(); })
        .def("coverage", [](session& x) { return x.machine().coverage(); })
        .def("inject", [](session& x, const std::string& target, const std::string& kind, ticks at,
                          const platform::overrides& arguments) { x.machine().inject(target, kind, at, arguments); })
        .def("faults", [](session& x) { return list_faults(x.machine()); })
        .def("listen_gdb", [](session& x, std::size_t node, std::uint16_t port, bool hold) {
            return x.machine().listen_gdb(node, port, hold);
        });
}

void bind_parts(py::module_& m) {
    py::class_<python_device, std::shared_ptr<python_device>>(m, "Device")
        .def("set_interrupt", &python_device::set_interrupt)
        .def("interrupt_level", &python_device::interrupt_level);
    py::class_<python_timer, std::shared_ptr<python_timer>>(m, "Timer")
        .def("active", &python_timer::active)
        .def("cancel", &python_timer::cancel);
    py::class_<register_handle>(m, "Register")
        .def_readonly("device", &register_handle::device)
        .def_property_readonly("name", [](const register_handle& r) { return r.reg->name(); })
        .def_property_readonly("offset", [](const register_handle& r) { return r.reg->offset(); })
        .def_property_readonly("count", [](const register_handle& r) { return r.reg->count(); })
        .def_property_readonly("fields",
                               [](const register_handle& r) {
                                   std::vector<std::tuple<std::string, unsigned, unsigned, std::string>> fields;
                                   for (const auto& f : r.reg->fields())
                                       fields.emplace_back(f.name, f.low, f.width, f.help);
                                   return fields;
                               })
        .def("get", [](const register_handle& r, std::size_t index) { return r.reg->bus_read(index, true); })
        .def("set", [](const register_handle& r, std::uint64_t value, std::size_t index) { r.reg->set(value, index); });
    py::class_<parameter_record>(m, "Parameter")
        .def_readonly("path", &parameter_record::path)
        .def_readonly("kind", &parameter_record::kind)
        .def_readonly("text", &parameter_record::text)
        .def_readonly("allowed", &parameter_record::allowed)
        .def_readonly("help", &parameter_record::help)
        .def_readonly("value", &parameter_record::value);
}

}  // namespace

PYBIND11_MODULE(_fabricvp, m) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
    py::register_exception<input_error>(m, "InputError", PyExc_ValueError).doc() =
        "Bad user input: a configuration, an image, a time. The text is one line that says what and where. Commands "
        "end with status 2.";
    m.attr("NEVER") = never;
    m.def("parse_time",
          [](const std::string& text) { return parse_quantity<duration>("time", parameter_kind::duration, text); });
    m.def("parse_bytes",
          [](const std::string& text) { return parse_quantity<byte_size>("size", parameter_kind::byte_size, text); });
    m.def("parse_bandwidth", [](const std::string& text) {
        return parse_quantity<bandwidth>("bandwidth", parameter_kind::bandwidth, text);
    });
    m.def("csr_number", &csr_number);
    m.def("renamed_path", [](const std::string& path, const std::vector<std::string>& paths) {
        return renamed_path(path, [&](const std::string& name) {
            return std::any_of(paths.begin(), paths.end(),
                               [&](const auto& p) { return p.compare(0, name.size(), name) == 0; });
        });
    });
    m.def("why_unmatched", &why_unmatched);
    m.def("current_path", &current_path);
    m.def("has_earlier_names", [](const std::string& version) { return has_earlier_names(version); });
    m.def("config_folder", &config_folder);
    m.def("firmware_folder", &firmware_folder);
    m.def("linux_folder", &linux_folder);
    m.def("find_config", &find_config);
    m.def("device_counts", &device_counts);
    m.def("resolved_parameters", &resolved_parameters);
    m.def(
        "cli_main",
        [](const std::vector<std::string>& arguments, const std::vector<std::pair<std::string, std::string>>& others,
           py::object serve, const std::vector<std::string>& typed) {
            auto server = fabricvp::python::page_server_of(std::move(serve));
            const py::gil_scoped_release nogil;
            return cli_main(arguments, others, std::move(server), typed);
        },
        py::arg("arguments"), py::arg("others") = std::vector<std::pair<std::string, std::string>>(),
        py::arg("serve") = py::none(), py::arg("typed") = std::vector<std::string>());
    m.def("cli_results", [] {  // names of files need not be UTF-8
        py::list names;
        for (const auto& name : cli_results())
            names.append(py::reinterpret_steal<py::object>(
                PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<py::ssize_t>(name.size()))));
        return names;
    });
    m.def("load_plugin", &load_plugin);
    m.def("library_file", &library_file);
    m.def("start_bus_log", &cli::start_bus_log);
    m.def("explain_empty_bus_logs", &cli::explain_empty_bus_logs);
    m.def("config_files", &config_files);
    bind_parts(m);
    fabricvp::python::bind_congestion(m);
    bind_session(m);
    fabricvp::python::bind_fabric(m);
    fabricvp::python::bind_gpu(m);
    fabricvp::python::bind_monitor(m);
    fabricvp::python::bind_pages_in_use(m);
    fabricvp::python::bind_pcie(m);
    fabricvp::python::bind_spans(m);
    fabricvp::python::bind_endpoints(m);
}
