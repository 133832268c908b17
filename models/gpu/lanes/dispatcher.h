// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fault.h"
#include "base/fault_duration.h"
#include "gpu/lanes/compute_unit.h"
#include "gpu/lanes/kernel_activity.h"

namespace fabricvp::gpu {

struct dispatcher_params {
    std::uint64_t queue_depth = 8;
    cycles work_group_interval{4};
    cycles wavefront_interval{1};
    void describe(parameter_visitor& v);
    /// Cycles from the start of a work-group of so many wavefronts to that of the next.
    std::uint64_t interval(std::uint64_t wavefronts) const {
        return std::max<std::uint64_t>(work_group_interval, wavefronts * wavefront_interval);
    }
};

/// Who ordered dispatches (the command processor's registers).
class dispatch_client {
public:
    /// All work-groups have ended, their stores are done; or the dispatch was aborted (`run.aborted`, `run.fault`) and
    /// nothing of it is alive.
    virtual void dispatch_done(const dispatch_run& run) = 0;

protected:
    ~dispatch_client() = default;
};

/// Gives work-groups of dispatches to compute units: in order, round robin, as resources allow. The work-groups of a
/// dispatch start when all of the one before have started; both may be alive together.
class dispatcher final : public model, private group_listener {
public:
    const dispatcher_params params;

    counter dispatches{*this, "dispatches", "1", "dispatches that have ended"};
    counter faults{*this, "faults", "1", "dispatches aborted because a lane went wrong"};
    counter ended_lane_barriers{*this, "ended_lane_barriers", "1",
                                "barriers completed without lanes that had ended, where the kernel's language does not "
                                "allow that"};
    derived ended_lane_barrier_pc{*this, "ended_lane_barrier_pc", "1", "where the last such barrier is",
                                  [this] { return static_cast<double>(m_lacking_pc); }};
    counter work_groups{*this, "work_groups", "1", "work-groups started"};
    counter unread_kernels{*this, "unread_kernels", "1",
                           "dispatches whose code could not be read: diverged lanes ran by program counter"};
    counter limited_by_registers{
        *this, "limited_by_registers", "1",
        "dispatches whose registers let compute units hold fewer of their wavefronts than there are slots"};
    counter waits_for_registers{*this, "waits_for_registers", "1",
                                "work-groups that waited for registers beside which all was free somewhere"};
    histogram registers{*this, "registers", "1", "32-bit registers of a lane, of each dispatch whose code was read"};
    histogram duration{*this, "duration", "ps", "from the first work-group to the end of the last"};

    fault_kind<fault_duration_arguments> stuck{*this,
                                               "stuck",
                                               "no work-group starts; those that run go on",
                                               [this](const auto& a) {
                                                   m_stuck_since = std::min(m_stuck_since, now());
                                                   m_stuck_end.after(a.lasting);
                                               },
                                               {{0}, "for how long; 0 ps: until the GPU is reset"}};

    dispatcher(const sc_core::sc_module_name& name, const dispatcher_params& params, const clock_domain& clock);

    void attach(compute_unit& unit) { m_units.push_back(&unit); }
    void attach(instruction_cache& cache) { m_code.push_back(&cache); }
    void set_client(dispatch_client& client) { m_client = &client; }
    /// Where the dispatcher reports that dispatches run, with those of other GPUs.
    void report_to(kernel_activity& activity) { m_activity = &activity; }
    /// What people call a dispatch, in traces and logs.
    std::function<std::string(const dispatch&)> name_of;
    /// Reads bytes at a virtual address without time, for the reconvergence of lanes. \returns false if they are not
    /// there. Without it lanes run by program counter.
    std::function<bool(std::uint32_t space, std::uint64_t address, void* to, std::size_t size)> read_code;
    /// Called when the first work-group of a dispatch starts.
    void on_launch(std::function<void(const dispatch_run&)> listener) { m_launch.push_back(std::move(listener)); }
    /// What compute units report to.
    group_listener& listener() { return *this; }

    /// Why a dispatch cannot be performed here at all, or null.
    const char* rejection_reason(const dispatch& what) const;
    /// Why a cooperative dispatch that has no such reason cannot be performed: with its registers, local memory and
    /// scratch memory not all of its work-groups are here at a time. Empty for others.
    std::string oversubscription(const dispatch& what);
    bool can_submit() const { return m_runs.size() < params.queue_depth; }
    /// Takes a dispatch that refusal() has nothing against. \returns its number
    std::uint64_t submit(const dispatch& what);
    /// Dispatches that have not ended.
    std::size_t in_flight() const { return m_runs.size(); }
    /// The same, in the order in which they came, for observers of a run.
    const std::deque<std::unique_ptr<dispatch_run>>& runs() const { return m_runs; }
    /// Aborts a dispatch as a fault would; nothing happens if it has ended.
    void abort(std::uint64_t number);
    /// Caches of all compute units clear what they hold.
    void acquire();
    /// For the watchdog: the dispatch that is stuck.
    std::optional<wait> waits() const override;
    void reset() override;

private:
    void group_finished(compute_unit& where, dispatch_run& run) override;
    void lane_faulted(dispatch_run& run, const fault_record& record) override;
    void barrier_lacked_lanes(dispatch_run& run, std::uint64_t pc,
                              const std::array<std::uint32_t, 3>& group_id) override;
    void abort(dispatch_run& run);
    bool allocate_scratch(dispatch_run& run);
    void place();
    void release();
    void complete();
    void begin(dispatch_run& run);
    void find_reconvergence(dispatch_run& run);
    void prepare(dispatch_run& run) const;
    bool waits_for_cooperative(const dispatch_run& run) const;
    static bool placed(const dispatch_run& r) { return r.aborted || r.started == r.group_count; }

    const clock_domain& m_clock;
    std::vector<compute_unit*> m_units;
    std::vector<instruction_cache*> m_code;
    dispatch_client* m_client = nullptr;
    kernel_activity* m_activity = nullptr;
    std::vector<std::function<void(const dispatch_run&)>> m_launch;
    std::deque<std::unique_ptr<dispatch_run>> m_runs;
    std::size_t m_next_unit = 0;
    std::uint64_t m_number = 0;
    reconvergence_tables m_reconvergence;
    ticks m_next_start = 0;
    std::uint64_t m_lacking_pc = 0;
    ticks m_stuck_since = never;
    fault_end m_stuck_end{[this] { release(); }};
    calendar_event m_place{method<&dispatcher::place>, this};
    calendar_event m_complete{method<&dispatcher::complete>, this};
};

}  // namespace fabricvp::gpu
