// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "abi/gpu.h"
#include "base/model.h"
#include "base/registers.h"
#include "gpu/command_processor.h"
#include "gpu/dispatcher.h"

namespace fabricvp::gpu {

/// The registers through which a command processor's firmware launches kernels and hears of their ends and faults
/// (CP_DISPATCH_* and CP_FAULT_* of abi/gpu.h).
class dispatch_port final : public model, private dispatch_client {
public:
    device_register image, entry, kernarg, scratch, scratch_bytes, scratch_size, lds_bytes, grid_x, grid_y, grid_z, group_x, group_y, group_z,
        space, first_group, groups, start, free, done;
    device_register fault_kind, fault_lane, fault_compute_unit, fault_wavefront, fault_pc, fault_address, fault_cookie, fault_group_x,
        fault_group_y, fault_group_z, fault_pop;

    counter refused{*this, "refused", "1", "launches that the dispatcher cannot perform"};

    dispatch_port(const sc_core::sc_module_name& name, command_processor& processor, dispatcher& target);

    void reset() override;

private:
    struct result {
        std::uint32_t cookie, fault;
    };

    void dispatch_done(const dispatch_run& run) override;
    void launch(unsigned hart, std::uint32_t cookie);
    void finish(unsigned hart, std::uint32_t cookie, std::uint32_t fault);
    std::uint64_t pop(unsigned hart);
    void show_fault();

    command_processor& m_processor;
    dispatcher& m_target;
    std::vector<std::deque<result>> m_results;  // by hart
    std::deque<fault_record> m_faults;
    std::deque<std::uint32_t> m_fault_cookies;
};

/// The number that firmware and hosts know a fault by.
gpu_fault fault_number(const fault_record& record);

}  // namespace fabricvp::gpu
