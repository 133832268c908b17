// SPDX-License-Identifier: Apache-2.0
// The same device in C++, as a plug-in: it squares a number, and says so by an interrupt.
#include "base/parameters.h"
#include "base/statistics.h"
#include "host/device_kind.h"
#include "host/host_device.h"
#include "platform/plugin.h"
#include "registers.h"

namespace {

using access = fabricvp::field_access;

struct device_params {
    fabricvp::duration latency{1'000'000};  // in picoseconds
    void describe(fabricvp::parameter_visitor& v) {
        v.field("latency", latency, fabricvp::between{0, 1e12}, "from the operand to the interrupt");
    }
};

class device final : public fabricvp::host::host_device {
public:
    const device_params params;

    fabricvp::counter squares{*this, "squares", "1", "numbers that were squared"};

    fabricvp::device_register operand{registers, "operand", DEVICE_OPERAND, 8, 0};
    fabricvp::device_register result{
        registers, "result", DEVICE_RESULT, 8, 0, {{"square", 0, 64, access::read_only, "of the operand"}}};
    fabricvp::device_register status{
        registers, "status", DEVICE_STATUS, 4, 0, {{"done", 0, 1, access::write_one_to_clear, "result is valid"}}};

    device(const sc_core::sc_module_name& name, const device_params& p) : host_device(name, DEVICE_SIZE), params(p) {
        operand.on_write([this](std::size_t, std::uint64_t) { schedule_in(m_finish, params.latency); });
        status.on_write([this](std::size_t, std::uint64_t) { interrupt.drive(status() & 1); });
    }

    fabricvp::host::device_tree_node tree_node() const override { return {"@NAME@", {"example,@NAME@"}, {}}; }

    void reset() override {
        cancel(m_finish);
        host_device::reset();
        interrupt.drive(false);
    }

private:
    void finish() {
        ++squares;
        result.set(operand() * operand());
        status.set(1);
        interrupt.drive(true);
    }

    fabricvp::calendar_event m_finish{fabricvp::method<&device::finish>, this};
};

}  // namespace

FABRICVP_PLUGIN() {
    fabricvp::host::add_device_kind(
        fabricvp::host::make_device_kind<device, device_params>("@NAME@", "squares a number"));
}
