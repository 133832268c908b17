// SPDX-License-Identifier: Apache-2.0
// Classes of Python as kinds of PCIe devices; python/fabricvp/pcie_devices.py has what users see.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/calendar.h"
#include "base/statistics.h"
#include "platform/params/device_params.h"

namespace fabricvp::python {

namespace py = pybind11;

using parameter_value =
    std::variant<bool, std::uint64_t, double, std::string, duration, byte_size, frequency, bandwidth>;

/// What a class declares. It lives as long as the process, since the registry of kinds refers to it.
struct endpoint_class {
    struct bar {
        unsigned number;
        std::uint64_t bytes;
        bool wide, prefetchable;
    };
    struct parameter {
        std::string name, help;
        parameter_value value;  ///< default
    };
    struct statistic {
        std::string name, unit, help;
    };
    std::string name, help;
    pcie::function_identity identity;
    std::vector<bar> bars;
    unsigned vectors = 0, msix_bar = 0;  ///< of MSI-X; 0: none
    std::uint32_t msix_offset = 0;
    std::vector<parameter> parameters;
    std::vector<statistic> statistics;
    py::object make;  ///< called with handle and parameters; gives the device
};

class python_endpoint final : public pcie::endpoint {
public:
    /// A call under way.
    class timer : public std::enable_shared_from_this<timer> {
    public:
        timer(python_endpoint& owner, py::function function) : m_owner(owner), m_function(std::move(function)) {}
        void schedule(ticks when) { calendar::current().schedule(m_event, when); }
        bool active() const { return m_event.scheduled(); }
        void cancel() { calendar::current().cancel(m_event); }

    private:
        void fire();

        python_endpoint& m_owner;
        py::function m_function;
        calendar_event m_event{method<&timer::fire>, this};
    };

    python_endpoint(const std::string& name, const pcie::endpoint_params& params, const endpoint_class& kind,
                    const std::vector<endpoint_class::parameter>& values);
    ~python_endpoint() override;

    const py::object& object() const { return m_object; }

    // For the device, in callbacks.
    /// \param done called with a status ("ok" …) and the data, later
    void read_host(std::uint64_t address, std::uint64_t bytes, py::function done);
    void write_host(std::uint64_t address, const py::bytes& data);
    std::shared_ptr<timer> call_in(ticks delay, py::function function);
    void interrupt(unsigned vector);
    void set_pin(bool level) { set_intx(level); }
    bool message_interrupts() const { return msi_x_enabled(); }
    bool bus_master() const { return config.bus_master(); }
    void count(std::size_t statistic, std::uint64_t n) { *m_counters.at(statistic) += n; }

private:
    void bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override;
    void bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override;
    void function_reset() override;

    /// Runs code of the device; an exception ends the run.
    void guarded(const std::function<void()>& code);

    const endpoint_class& m_kind;
    py::object m_object;
    std::vector<std::unique_ptr<counter>> m_counters;
    std::vector<std::shared_ptr<timer>> m_timers;
    std::uint64_t m_epoch = 0;  // of resets: what was under way before is dropped
};

void bind_endpoints(py::module_& m);

}  // namespace fabricvp::python
