// SPDX-License-Identifier: Apache-2.0
#include "bindings/python_endpoint.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/buffer.h"
#include "base/register_words.h"
#include "bindings/session.h"
#include "platform/common/input_error.h"
#include "platform/config/plugins.h"
#include "platform/run_failure.h"

namespace fabricvp::python {
namespace {

constexpr std::size_t max_classes = 32;

std::array<std::unique_ptr<endpoint_class>, max_classes>& classes() {
    static auto& all = *new std::array<std::unique_ptr<endpoint_class>, max_classes>;  // outlives the interpreter
    return all;
}

class settings final : public pcie::device_settings {
public:
    explicit settings(const endpoint_class& kind) : m_kind(&kind), m_values(kind.parameters) {
        m_endpoint.link.width = 4;
    }
    void describe(parameter_visitor& v) override {
        m_endpoint.describe(v);
        for (auto& p : m_values)
            std::visit([&](auto& value) { v.field(p.name.c_str(), value, p.help.c_str()); }, p.value);
    }
    const pcie::endpoint_params& endpoint() const override { return m_endpoint; }
    std::uint64_t memory_bar() const override {
        std::uint64_t bytes = 0;
        for (const auto& b : m_kind->bars)
            if (b.wide) bytes += b.bytes;
        return bytes;
    }
    std::vector<std::string*> files() override { return {}; }
    std::unique_ptr<pcie::endpoint> make(const std::string& name) const override {
        return std::make_unique<python_endpoint>(name, m_endpoint, *m_kind, m_values);
    }
    std::unique_ptr<device_settings> copy() const override { return std::make_unique<settings>(*this); }

private:
    const endpoint_class* m_kind;
    pcie::endpoint_params m_endpoint;
    std::vector<endpoint_class::parameter> m_values;
};

/// The registry takes functions without context, so each place for a class has one.
template <std::size_t Place>
std::unique_ptr<pcie::device_settings> settings_of() {
    return std::make_unique<settings>(*classes()[Place]);
}

template <std::size_t... Places>
auto makers(std::index_sequence<Places...>) {
    return std::array<std::unique_ptr<pcie::device_settings> (*)(), max_classes>{&settings_of<Places>...};
}

void add_class(std::unique_ptr<endpoint_class> added) {
    static const auto all = makers(std::make_index_sequence<max_classes>());
    register_device_kinds();  // whose names it must not take
    for (std::size_t i = 0; i < max_classes; ++i) {
        auto& place = classes()[i];
        if (place && place->name != added->name) continue;
        if (place) {  // defined again, as in a notebook; machines that use the earlier one keep their reference
            static auto& earlier = *new std::vector<std::unique_ptr<endpoint_class>>;
            earlier.push_back(std::exchange(place, std::move(added)));
            return;
        }
        pcie::add_device_kind({added->name.c_str(), added->help.c_str(), all[i]});
        place = std::move(added);
        return;
    }
    throw std::invalid_argument(fmt::format("a process takes {} kinds of devices in Python", max_classes));
}

/// The kind of a parameter follows from its default; text with a unit is a quantity.
parameter_value value_of(const py::handle& given) {
    if (py::isinstance<py::bool_>(given)) return given.cast<bool>();
    if (py::isinstance<py::int_>(given)) return given.cast<std::uint64_t>();
    if (py::isinstance<py::float_>(given)) return given.cast<double>();
    const auto text = given.cast<std::string>();
    const auto as = [&](auto value, parameter_kind kind) -> std::optional<parameter_value> {
        parameter p("", "", kind, &value);
        try {
            p.parse(text);
        } catch (const std::invalid_argument&) {
            return std::nullopt;
        }
        return value;
    };
    if (auto v = as(duration{}, parameter_kind::duration)) return *v;
    if (auto v = as(byte_size{}, parameter_kind::byte_size)) return *v;
    if (auto v = as(frequency{}, parameter_kind::frequency)) return *v;
    if (auto v = as(bandwidth{}, parameter_kind::bandwidth)) return *v;
    return text;
}

py::object to_python(const parameter_value& value) {
    struct visitor {
        py::object operator()(bool v) const { return py::bool_(v); }
        py::object operator()(std::uint64_t v) const { return py::int_(v); }
        py::object operator()(double v) const { return py::float_(v); }
        py::object operator()(const std::string& v) const { return py::str(v); }
        py::object operator()(duration v) const { return py::float_(static_cast<double>(v.value) / ticks_per_second); }
        py::object operator()(byte_size v) const { return py::int_(v.bytes); }
        py::object operator()(frequency v) const { return py::int_(v.hertz); }
        py::object operator()(bandwidth v) const { return py::int_(v.bytes_per_second); }
    };
    return std::visit(visitor{}, value);
}

const char* name_of(pcie::request_status status) {
    switch (status) {
        case pcie::request_status::ok: return "ok";
        case pcie::request_status::unsupported_request: return "unsupported_request";
        case pcie::request_status::completer_abort: return "completer_abort";
        case pcie::request_status::timeout: return "timeout";
        case pcie::request_status::poisoned: return "poisoned";
        case pcie::request_status::configuration_retry: return "configuration_retry";
    }
    return "?";
}

/// "square.py:12: ZeroDivisionError: …", where the exception was raised.
std::string one_line(const py::error_already_set& error) {
    if (error.trace()) PyException_SetTraceback(error.value().ptr(), error.trace().ptr());
    return py::module_::import("fabricvp.pcie_devices").attr("one_line")(error.value()).cast<std::string>();
}

}  // namespace

python_endpoint::python_endpoint(const std::string& name, const pcie::endpoint_params& params,
                                 const endpoint_class& kind, const std::vector<endpoint_class::parameter>& values)
    : endpoint(name.c_str(), params, kind.identity), m_kind(kind) {
    for (const auto& b : kind.bars) config.add_bar(b.number, b.bytes, b.wide, b.prefetchable);
    config.set_interrupt_pin(1);
    add_common_capabilities();
    if (kind.vectors) add_msi_x(kind.vectors, kind.msix_bar, kind.msix_offset);
    for (const auto& s : kind.statistics)
        m_counters.push_back(std::make_unique<counter>(*this, s.name.c_str(), s.unit.c_str(), s.help.c_str()));
    py::gil_scoped_acquire gil;
    py::dict given;
    for (const auto& v : values) given[v.name.c_str()] = to_python(v.value);
    try {
        m_object = kind.make(py::cast(this, py::return_value_policy::reference), this->name(), given);
    } catch (const py::error_already_set& error) {
        throw std::invalid_argument(one_line(error));
    }
}

python_endpoint::~python_endpoint() {
    py::gil_scoped_acquire gil;
    for (auto& t : m_timers) t->cancel();
    m_timers.clear();
    m_object = py::object();
}

void python_endpoint::guarded(const std::function<void()>& code) {
    py::gil_scoped_acquire gil;
    try {
        code();
    } catch (py::error_already_set& error) {
        if (session::exists())
            session::current().fail(std::current_exception());
        else
            fail_run(fmt::format("{}: {}", this->name(), one_line(error)));
    }
}

void python_endpoint::bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) {
    std::memset(to, 0, bytes);
    guarded([&] {
        for_each_word(at.offset, bytes, [&](std::uint64_t offset, std::uint32_t done, std::uint32_t size) {
            const py::object value = m_object.attr("read")(at.bar, offset, size);
            const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
            if (!number) throw py::error_already_set();
            const unsigned long long bits = PyLong_AsUnsignedLongLongMask(number.ptr());
            if (bits == ~0ULL && PyErr_Occurred()) throw py::error_already_set();
            std::memcpy(to + done, &bits, size);
        });
    });
}

void python_endpoint::bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) {
    guarded([&] {
        for_each_word(at.offset, bytes, [&](std::uint64_t offset, std::uint32_t done, std::uint32_t size) {
            std::uint64_t value = 0;
            std::memcpy(&value, from + done, size);
            m_object.attr("write")(at.bar, offset, size, value);
        });
    });
}

void python_endpoint::timer::fire() {
    py::gil_scoped_acquire gil;  // for the last reference, too
    const auto self = shared_from_this();
    m_owner.guarded([this] {
        auto& all = m_owner.m_timers;
        all.erase(std::remove_if(all.begin(), all.end(), [](const auto& t) { return !t->active(); }), all.end());
        m_function();
    });
}

std::shared_ptr<python_endpoint::timer> python_endpoint::call_in(ticks delay, py::function function) {
    auto made = std::make_shared<timer>(*this, std::move(function));
    made->schedule(now() + delay);
    m_timers.push_back(made);
    return made;
}

void python_endpoint::function_reset() {
    ++m_epoch;
    for (auto& t : m_timers) t->cancel();
    if (m_object) guarded([&] { m_object.attr("_function_reset")(); });
}

void python_endpoint::read_host(std::uint64_t address, std::uint64_t bytes, py::function done) {
    const auto into = allocate_slice(bytes);
    // A shared reference: the requester copies and drops what it holds without the interpreter's lock.
    const std::shared_ptr<py::function> call(new py::function(std::move(done)), [](py::function* f) {
        py::gil_scoped_acquire gil;
        delete f;
    });
    py::gil_scoped_release nogil;
    dma.read(address, into, [this, call, into, epoch = m_epoch](pcie::request_status status) {
        if (epoch != m_epoch) return;
        guarded([&] {
            (*call)(name_of(status), py::bytes(reinterpret_cast<const char*>(into.data()),
                                               status == pcie::request_status::ok ? into.length : 0));
        });
    });
}

void python_endpoint::write_host(std::uint64_t address, const py::bytes& data) {
    const std::string contents = data;
    const auto from = allocate_slice(contents.size());
    std::memcpy(from.data(), contents.data(), contents.size());
    py::gil_scoped_release nogil;
    dma.write(address, from);
}

void python_endpoint::interrupt(unsigned vector) {
    py::gil_scoped_release nogil;
    raise(vector);
}

void bind_endpoints(py::module_& m) {
    py::class_<python_endpoint, std::unique_ptr<python_endpoint, py::nodelete>>(m, "Endpoint")
        .def("read_host", &python_endpoint::read_host)
        .def("write_host", &python_endpoint::write_host)
        .def("call_in", &python_endpoint::call_in)
        .def("now", [](const python_endpoint&) { return calendar::current().now(); })
        .def("interrupt", &python_endpoint::interrupt)
        .def("set_pin", &python_endpoint::set_pin)
        .def("message_interrupts", &python_endpoint::message_interrupts)
        .def("bus_master", &python_endpoint::bus_master)
        .def("count", &python_endpoint::count);
    py::class_<python_endpoint::timer, std::shared_ptr<python_endpoint::timer>>(m, "EndpointTimer")
        .def("active", &python_endpoint::timer::active)
        .def("cancel", &python_endpoint::timer::cancel);
    m.def("add_endpoint_class",
          [](const std::string& name, const std::string& help, std::array<std::uint32_t, 6> identity,
             const std::vector<std::tuple<unsigned, std::uint64_t, bool, bool>>& bars, unsigned vectors,
             unsigned msix_bar, std::uint32_t msix_offset,
             const std::vector<std::tuple<std::string, py::object, std::string>>& parameters,
             const std::vector<std::tuple<std::string, std::string, std::string>>& statistics, py::object make) {
              auto added = std::make_unique<endpoint_class>();
              added->name = name;
              added->help = help;
              added->identity = {static_cast<std::uint16_t>(identity[0]),
                                 static_cast<std::uint16_t>(identity[1]),
                                 identity[2],
                                 static_cast<std::uint8_t>(identity[3]),
                                 static_cast<std::uint16_t>(identity[4]),
                                 static_cast<std::uint16_t>(identity[5])};
              for (const auto& [number, bytes, wide, prefetchable] : bars)
                  added->bars.push_back({number, bytes, wide, prefetchable});
              added->vectors = vectors;
              added->msix_bar = msix_bar;
              added->msix_offset = msix_offset;
              for (const auto& [key, value, text] : parameters)
                  added->parameters.push_back({key, text, value_of(value)});
              for (const auto& [key, unit, text] : statistics) added->statistics.push_back({key, unit, text});
              added->make = std::move(make);
              try {
                  add_class(std::move(added));
              } catch (const std::invalid_argument& why) {
                  throw input_error(why.what());
              }
          });
    m.def("endpoint_objects", [](session& s, std::size_t node) {
        py::dict found;
        const auto& n = *s.machine().hardware().nodes.at(node);
        if (n.pcie)
            for (const auto& e : n.pcie->endpoints)
                if (const auto* device = dynamic_cast<const python_endpoint*>(e.get()))
                    found[e->basename()] = device->object();
        return found;
    });
    set_script_loader([](const std::string& path) {
        py::gil_scoped_acquire gil;
        try {
            py::module_::import("fabricvp.pcie_devices").attr("load_file")(path);
        } catch (const py::error_already_set& error) {
            throw input_error(one_line(error));
        }
    });
}

}  // namespace fabricvp::python
