// SPDX-License-Identifier: Apache-2.0
// Kinds of host devices by name. An item of `host.devices` is chosen by its `kind`; what a new one needs beside its own
// files is a line in device_settings::kinds() or, from outside of this folder, a call of add_device_kind(). It is then
// put on the bus, joined to the interrupt controller and told of in the device tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/kinds.h"
#include "host/host_device.h"

namespace fabricvp::host {

/// The parameters of one device, whatever its kind is.
class device_settings {
public:
    virtual ~device_settings() = default;
    virtual void describe(parameter_visitor& v) = 0;
    /// \throws std::invalid_argument if the parameters contradict each other
    virtual std::unique_ptr<host_device> make(const std::string& name) const = 0;
    virtual std::unique_ptr<device_settings> copy() const = 0;

    /// All kinds, in the order in which they were added.
    static std::vector<kind<device_settings>>& kinds();
};

using device_kind = kind<device_settings>;

/// \tparam Params has describe(); Device is a host_device with a constructor of (name, params)
template <class Device, class Params>
device_kind make_device_kind(const char* name, const char* help) {
    class settings final : public device_settings {
        Params m_params;
        void describe(parameter_visitor& v) override { m_params.describe(v); }
        std::unique_ptr<host_device> make(const std::string& name) const override {
            return std::make_unique<Device>(name.c_str(), m_params);
        }
        std::unique_ptr<device_settings> copy() const override { return std::make_unique<settings>(*this); }
    };
    return {name, help, [] { return std::unique_ptr<device_settings>(new settings); }};
}

/// To be called before configurations are read.
void add_device_kind(const device_kind& kind);

/// A device that a configuration puts on a host's bus.
struct device_params {
    std::string name, origin;     ///< and where it is written, not described
    std::uint64_t base = 0;       ///< physical address
    std::uint64_t interrupt = 0;  ///< source of the PLIC or APLIC; 0: none
    chosen_kind<device_settings> device;
    void describe(parameter_visitor& v);
};

}  // namespace fabricvp::host
