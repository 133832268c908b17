// SPDX-License-Identifier: Apache-2.0
// A GPU as a PCIe endpoint: its memory, doorbells and registers in BARs, interrupts, and the way to system memory. The
// GPU itself is gpu_core and gpu_host_interface, which know nothing of PCIe.
#pragma once

#include <vector>

#include "base/slot_table.h"
#include "gpu/gpu_unit.h"
#include "gpu/memory/system_port.h"
#include "pcie/endpoint.h"

namespace fabricvp::gpu {

struct gpu_device_params : pcie::endpoint_params {
    gpu_core_params core;
    gpu_host_interface_params host_interface;
    system_port_params system;
    void describe(parameter_visitor& v);
    /// The next power of two above the memory's size.
    std::uint64_t memory_bar() const { return std::uint64_t{1} << (64 - __builtin_clzll(core.memory.capacity - 1)); }
};

class gpu_device final : public pcie::endpoint, public gpu_unit, private gpu_attachment {
public:
    const gpu_device_params params;

    gpu_core core;
    system_port system;
    gpu_host_interface host_interface;

    /// \param number of this GPU in its node
    gpu_device(const sc_core::sc_module_name& name, const gpu_device_params& params, unsigned number);

private:
    void bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override;
    void bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override;
    bool bar_atomic(const pcie::bar_hit& at, pcie::tlp& t, std::uint8_t* old_value) override;
    bool bar_read_later(const pcie::bar_hit& at, const pcie::tlp_ptr& t, const buffer_slice& data) override;
    bool can_accept() const override { return host_interface.can_accept(); }
    void function_reset() override;
    void posted_requests_sent() override { system.link_freed(); }

    void interrupt_line(bool level) override { set_intx(level); }
    void interrupt_message(unsigned vector) override {
        if (msi_x_enabled()) raise(vector);
    }
    void memory_read(std::uint64_t cookie) override;
    void space_available() override { resume_accepting(); }

    struct pending_read {
        pcie::tlp_ptr request;
        buffer_slice data;
    };
    slot_table<pending_read> m_reads;  // by cookie
};

}  // namespace fabricvp::gpu
