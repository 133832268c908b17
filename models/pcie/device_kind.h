// SPDX-License-Identifier: Apache-2.0
// Kinds of endpoints by name. A device of a PCIe tree is chosen by its `kind`; what a new one needs beside its own
// files is a line in device_settings::kinds() or, from outside of this folder, a call of add_device_kind().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/energy_activity.h"
#include "base/kinds.h"
#include "pcie/endpoint.h"

namespace fabricvp::pcie {

/// What devices of a kind have beside their PCIe link, by which a machine connects them and accounts for their energy.
struct device_capabilities {
    bool ethernet_port = false;  ///< they are an ethernet::adapter
    bool network_port = false;   ///< to the InfiniBand network between nodes
    bool fabric_port = false;    ///< to the fabric between GPUs
    std::vector<energy_activity> energy;
};

/// The parameters of one device, whatever its kind is.
class device_settings {
public:
    virtual ~device_settings() = default;
    virtual void describe(parameter_visitor& v) = 0;
    virtual const endpoint_params& endpoint() const = 0;
    virtual std::uint64_t memory_bar() const = 0;
    virtual std::vector<std::string*> files() = 0;
    /// \throws std::invalid_argument if the parameters contradict each other
    virtual std::unique_ptr<pcie::endpoint> make(const std::string& name) const = 0;
    virtual std::unique_ptr<device_settings> copy() const = 0;

    /// All kinds, in the order in which they were added.
    static std::vector<kind<device_settings>>& kinds();
};

using device_kind = kind<device_settings>;
using chosen_device = chosen_kind<device_settings>;

/// \tparam Params derived from endpoint_params; Device has a constructor of (name, params)
template <class Device, class Params>
device_kind make_device_kind(const char* name, const char* help) {
    class settings final : public device_settings {
        Params m_params;
        void describe(parameter_visitor& v) override { m_params.describe(v); }
        const endpoint_params& endpoint() const override { return m_params; }
        std::uint64_t memory_bar() const override { return m_params.memory_bar(); }
        std::vector<std::string*> files() override { return m_params.files(); }
        std::unique_ptr<pcie::endpoint> make(const std::string& name) const override {
            return std::make_unique<Device>(name.c_str(), m_params);
        }
        std::unique_ptr<device_settings> copy() const override { return std::make_unique<settings>(*this); }
    };
    return {name, help, [] { return std::unique_ptr<device_settings>(new settings); }};
}

/// To be called before configurations are read. \throws std::invalid_argument where one has that name already
void add_device_kind(const device_kind& kind, device_capabilities capabilities = {});
/// Declares what devices have that no list of endpoints names: those that a node has lists of its own for.
void declare_capabilities(const std::string& kind, device_capabilities capabilities);
/// What was declared of a kind; nothing for one that declared nothing.
const device_capabilities& capabilities_of(const std::string& kind);

}  // namespace fabricvp::pcie
