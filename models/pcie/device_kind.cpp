// SPDX-License-Identifier: Apache-2.0
#include "pcie/device_kind.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "base/kind_registry.h"
#include "pcie/copy_engine.h"

namespace fabricvp::pcie {

namespace {

std::map<std::string, device_capabilities>& declared() {
    static std::map<std::string, device_capabilities> by_kind;
    return by_kind;
}

}  // namespace

std::vector<device_kind>& device_settings::kinds() {
    static std::vector<device_kind> all = {
        make_device_kind<copy_engine, copy_engine_params>("copy_engine", "a DMA copy engine"),
    };
    return all;
}

void add_device_kind(const device_kind& kind, device_capabilities capabilities) {
    add_kind(kind, "PCIe endpoints");
    declare_capabilities(kind.name, std::move(capabilities));
}

void declare_capabilities(const std::string& kind, device_capabilities capabilities) {
    if (!declared().emplace(kind, std::move(capabilities)).second)
        throw std::invalid_argument("there is a kind '" + kind + "' of devices already");
}

const device_capabilities& capabilities_of(const std::string& kind) {
    static const device_capabilities none;
    const auto found = declared().find(kind);
    return found == declared().end() ? none : found->second;
}

}  // namespace fabricvp::pcie
