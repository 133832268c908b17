// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "abi/gpu.h"
#include "base/model.h"
#include "base/registers.h"
#include "gpu/control/command_processor.h"
#include "gpu/control/fault_number.h"
#include "gpu/lanes/dispatcher.h"

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

    device_register image, entry, kernarg, scratch, scratch_bytes, scratch_size, lds_bytes, grid_x, grid_y, grid_z,
        group_x, group_y, group_z, space, first_group, groups, chunk, period, acquire, flags, start, abort, free, done;
    device_register fault_kind, fault_lane, fault_compute_unit, fault_wavefront, fault_pc, fault_address, fault_cookie,
        fault_group_x, fault_group_y, fault_group_z, fault_pop;

    /// Of launches that a doorbell found the GPU idle for: the stages of the way from there to the first instruction.
    histogram doorbell_to_launch{*this, "doorbell_to_launch", "ps", "from the last doorbell to the firmware's launch"};
    histogram doorbell_to_instruction{*this, "doorbell_to_instruction", "ps",
                                      "from the last doorbell to the first instruction"};
    /// Of all launches.
    histogram launch_to_start{*this, "launch_to_start", "ps", "from a launch to the start of its first work-group"};
    histogram start_to_instruction{*this, "start_to_instruction", "ps",
                                   "from the start of the first work-group to the first instruction"};
    time_series over_time{*this, "over_time", "1", "launches a window of time"};
    counter rejected{*this, "rejected", "1", "launches that the dispatcher cannot perform"};
    counter faults_dropped{*this, "faults_dropped", "1", "faults that found the firmware's FIFO full"};

    dispatch_port(const sc_core::sc_module_name& name, const dispatch_port_params& params, command_processor& processor,
                  dispatcher& target);

    /// Called whenever the dispatcher takes a launch.
    std::function<void()> on_launch;

    /// The processor is held in reset: what it has launched is aborted, without a report.
    void abort_all();
    void reset() override;

private:
    struct result {
        std::uint32_t cookie, fault;
    };
    struct launched {
        ticks at, due;
        ticks rung;  // never: other launches were under way
        dispatch what;
        std::uint64_t number;  // of the dispatcher's
    };
    struct waiting_fault {
        gpu_fault number;
        std::uint32_t cookie;
        fault_record record;
    };

    void dispatch_done(const dispatch_run& run) override;
    void launch(unsigned hart, std::uint32_t cookie);
    void abort_launch(std::uint64_t cookie);
    void note_times(const launched& l, const dispatch_run& run);
    void submit_due();
    void add_fault(gpu_fault number, std::uint32_t cookie, const fault_record& record);
    void finish(unsigned hart, std::uint32_t cookie, std::uint32_t fault);
    std::uint64_t pop(unsigned hart);
    void show_fault();

    command_processor& m_processor;
    dispatcher& m_target;
    std::vector<std::deque<result>> m_results;  // by hart
    std::deque<launched> m_waiting;             // not yet taken by the dispatcher
    std::vector<launched> m_in_flight;          // taken by it
    ticks m_rung = never;                       // the last doorbell, if nothing was under way then
    std::deque<waiting_fault> m_faults;
    calendar_event m_submit{method<&dispatch_port::submit_due>, this};
};

}  // namespace fabricvp::gpu
