// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "abi/gpu.h"
#include "base/model.h"
#include "base/registers.h"
#include "gpu/command_processor.h"
#include "gpu/dispatcher.h"
#include "gpu/fault_number.h"

namespace fabricvp::gpu {

struct dispatch_port_params {
    duration software_overhead{0};
    void describe(parameter_visitor& v);
};

/// The registers through which a command processor's firmware launches kernels and hears of their ends and faults
/// (CP_DISPATCH_* and CP_FAULT_* of abi/gpu.h).
class dispatch_port final : public model, private dispatch_client {
public:
    const dispatch_port_params params;

    device_register image, entry, kernarg, scratch, scratch_bytes, scratch_size, lds_bytes, grid_x, grid_y, grid_z, group_x, group_y, group_z,
        space, first_group, groups, chunk, period, start, free, done;
    device_register fault_kind, fault_lane, fault_compute_unit, fault_wavefront, fault_pc, fault_address, fault_cookie, fault_group_x,
        fault_group_y, fault_group_z, fault_pop;

    counter refused{*this, "refused", "1", "launches that the dispatcher cannot perform"};
    counter faults_dropped{*this, "faults_dropped", "1", "faults that found the firmware's FIFO full"};

    dispatch_port(const sc_core::sc_module_name& name, const dispatch_port_params& params, command_processor& processor,
                  dispatcher& target);

    /// The processor is held in reset: what it has launched is aborted, and nobody hears of it.
    void forget();
    void reset() override;

private:
    struct result {
        std::uint32_t cookie, fault;
    };
    struct waiting_launch {
        ticks due;
        dispatch what;
    };
    struct waiting_fault {
        gpu_fault number;
        std::uint32_t cookie;
        fault_record record;
    };

    void dispatch_done(const dispatch_run& run) override;
    void launch(unsigned hart, std::uint32_t cookie);
    void submit_due();
    void add_fault(gpu_fault number, std::uint32_t cookie, const fault_record& record);
    void finish(unsigned hart, std::uint32_t cookie, std::uint32_t fault);
    std::uint64_t pop(unsigned hart);
    void show_fault();

    command_processor& m_processor;
    dispatcher& m_target;
    std::vector<std::deque<result>> m_results;  // by hart
    std::deque<waiting_launch> m_waiting;       // written, not yet taken by the dispatcher
    std::deque<waiting_fault> m_faults;
    std::vector<std::uint64_t> m_numbers;       // of the dispatcher's, that this port hears of
    calendar_event m_submit{method<&dispatch_port::submit_due>, this};
};

}  // namespace fabricvp::gpu
