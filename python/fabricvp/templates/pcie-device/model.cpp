// SPDX-License-Identifier: Apache-2.0
// The same device in C++, as a plug-in: it squares numbers in host memory, and interrupts.
#include <cstring>

#include "base/buffer.h"
#include "base/calendar.h"
#include "base/parameters.h"
#include "base/register_words.h"
#include "base/registers.h"
#include "pcie/device_kind.h"
#include "platform/plugin.h"
#include "registers.h"

namespace {

using namespace fabricvp;

struct device_params : pcie::endpoint_params {
    duration latency{500'000};  // in picoseconds
    device_params() { link.width = 4; }
    void describe(parameter_visitor& v) {
        endpoint_params::describe(v);
        v.field("latency", latency, between{0, 1e12}, "from the numbers' arrival to their squares");
    }
};

class device final : public pcie::endpoint {
public:
    const device_params params;

    register_bank registers{DEVICE_SIZE};
    device_register source{registers, "source", DEVICE_SOURCE, 8, 0};
    device_register destination{registers, "destination", DEVICE_DESTINATION, 8, 0};
    device_register count{registers, "count", DEVICE_COUNT, 4, 0};
    device_register status{registers, "status", DEVICE_STATUS, 4, 0};

    counter jobs{*this, "jobs", "1", "jobs done"};
    counter numbers{*this, "numbers", "1", "numbers squared"};

    device(const sc_core::sc_module_name& name, const device_params& p)
        : endpoint(name, p, {DEVICE_VENDOR, DEVICE_ID, DEVICE_CLASS}), params(p) {
        config.add_bar(0, DEVICE_SIZE, false, false);
        config.set_interrupt_pin(1);
        add_common_capabilities();
        add_msi_x(1, 5, 0);
        config.add_bar(5, 4096, false, false);
        status.on_write([this](std::size_t, std::uint64_t written) {
            m_state &= ~static_cast<std::uint32_t>(written);
            set_intx(m_state != 0);
            if (written & DEVICE_START) start();
        });
        status.on_read([this](std::size_t) { return m_state; });
    }

private:
    void bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override {
        std::memset(to, 0, bytes);
        if (at.bar != 0) return;
        for_each_word(at.offset, bytes, [&](std::uint64_t offset, std::uint32_t done, std::uint32_t size) {
            registers.read(offset, to + done, size);
        });
    }
    void bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override {
        if (at.bar != 0) return;
        for_each_word(at.offset, bytes, [&](std::uint64_t offset, std::uint32_t done, std::uint32_t size) {
            registers.write(offset, from + done, size);
        });
    }
    void function_reset() override {
        cancel(m_write_back);
        registers.reset();
        m_state = 0;
        set_intx(false);
    }

    void start() {
        if (count() == 0 || count() > 65536 || !config.bus_master()) return finish(DEVICE_FAILED);
        m_data = allocate_slice(8 * count());
        dma.read(source(), m_data, [this](pcie::request_status how) {
            how == pcie::request_status::ok ? schedule_in(m_write_back, params.latency) : finish(DEVICE_FAILED);
        });
    }
    void write_back() {
        for (std::size_t at = 0; at < m_data.length; at += 8) {
            std::uint64_t number;
            std::memcpy(&number, m_data.data() + at, 8);
            number *= number;
            std::memcpy(m_data.data() + at, &number, 8);
        }
        dma.write(destination(), m_data);
        numbers += m_data.length / 8;
        m_data = {};
        finish(DEVICE_DONE);
    }
    void finish(std::uint32_t how) {
        ++jobs;
        m_state |= how;
        set_intx(true);
        if (msi_x_enabled()) raise(0);  // behind the squares, which the host sees first
    }

    std::uint32_t m_state = 0;
    buffer_slice m_data;
    calendar_event m_write_back{method<&device::write_back>, this};
};

}  // namespace

FABRICVP_PLUGIN() {
    pcie::add_device_kind(pcie::make_device_kind<device, device_params>("@NAME@", "squares numbers in host memory"));
}
