// SPDX-License-Identifier: Apache-2.0
// A PCIe endpoint whose 4 KiB BAR holds one word: how bright it is. A plug-in of its own.
#include <cstring>

#include "base/parameters.h"
#include "pcie/device_kind.h"
#include "platform/plugin.h"

namespace {

struct lamp_params : fabricvp::pcie::endpoint_params {
    std::uint64_t brightest = 100;
    void describe(fabricvp::parameter_visitor& v) {
        endpoint_params::describe(v);
        v.field("brightest", brightest, fabricvp::between{1, 1000}, "largest value that it takes");
    }
};

class lamp final : public fabricvp::pcie::endpoint {
public:
    const lamp_params params;
    fabricvp::counter changes{*this, "changes", "1", "writes that changed its brightness"};

    lamp(const sc_core::sc_module_name& name, const lamp_params& p)
        : endpoint(name, p, {fabricvp::pcie::fabricvp_vendor, 0x1a3b, 0xff0000}), params(p) {
        config.add_bar(0, 4096, false, false);
        add_common_capabilities();
    }

private:
    void bar_read(const fabricvp::pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override {
        std::memset(to, 0, bytes);
        if (at.offset == 0) std::memcpy(to, &m_brightness, bytes < 4 ? bytes : 4);
    }
    void bar_write(const fabricvp::pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override {
        std::uint32_t value = 0;
        std::memcpy(&value, from, bytes < 4 ? bytes : 4);
        if (at.offset != 0 || value > params.brightest || value == m_brightness) return;
        m_brightness = value;
        ++changes;
    }
    void function_reset() override { m_brightness = 0; }

    std::uint32_t m_brightness = 0;
};

}  // namespace

#ifndef KIND
#define KIND "lamp"
#endif

FABRICVP_PLUGIN() {
    fabricvp::pcie::add_device_kind(fabricvp::pcie::make_device_kind<lamp, lamp_params>(KIND, "a lamp that dims"));
}
