// SPDX-License-Identifier: Apache-2.0
// A compute unit: SIMD units that take turns among their wavefronts, the local data share, barriers. A wavefront runs a
// segment of instructions in one calendar callback, until it must wait, touches memory, or has used its quantum; its
// SIMD unit is busy for the issue cycles of the segment. So a wavefront costs events per memory operation, not per
// instruction. Loads land in registers later: the scoreboard stops a wavefront at the first use of what has not come.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/busy_time.h"
#include "base/clock_domain.h"
#include "base/fault.h"
#include "base/time_integral.h"
#include "gpu/lanes/lane_engine.h"
#include "gpu/lanes/wavefront.h"
#include "gpu/lanes/wavefront_probe.h"
#include "gpu/lanes/wavefront_watcher.h"

namespace fabricvp::gpu {

/// Where a compute unit keeps the registers of its wavefronts, as the GPU that it stands for does; lanes of the model
/// have all of RISC-V's, whatever this says.
struct register_file_params {
    byte_size size{256 << 10};
    std::uint64_t parts = 4;
    std::uint64_t granularity = 4;
    bool ecc = false;
    void describe(parameter_visitor& v);
};

struct compute_unit_params {
    std::uint64_t simd_units = 4;
    std::uint64_t wavefront_slots = 10;  ///< of a SIMD unit
    std::uint64_t wavefronts = 0;        ///< of all SIMD units; 0: all slots
    std::uint64_t slot_lanes = 64;       ///< of a wavefront that takes one slot; larger ones take more
    std::uint64_t quantum = 32;
    std::uint64_t outstanding_accesses = 64;
    std::uint64_t divergence_quantum = 4096;
    std::uint64_t runaway_limit = 0;
    issue_params issue;
    result_params result_latency;
    std::uint64_t wavefront_interval = 0;
    bool shared_decoder = false;
    register_file_params register_file;
    lds_params lds;
    void describe(parameter_visitor& v);
    std::uint64_t slots() const {
        const auto all = simd_units * wavefront_slots;
        return wavefronts ? std::min(wavefronts, all) : all;
    }
    /// That a wavefront takes.
    std::uint64_t slots_of(std::uint64_t lanes) const { return lanes > slot_lanes ? lanes / slot_lanes : 1; }
};

class compute_unit;

/// Who hears what becomes of work-groups (the dispatcher).
class group_listener {
public:
    /// All wavefronts of a work-group have ended, their stores are done, and its resources are free again.
    virtual void group_finished(compute_unit& where, dispatch_run& run) = 0;
    /// A barrier is complete without lanes that had ended, which the kernel's language does not allow.
    virtual void barrier_lacked_lanes(dispatch_run& run, std::uint64_t pc,
                                      const std::array<std::uint32_t, 3>& group_id) = 0;
    /// A lane went wrong. The listener aborts the dispatch.
    virtual void lane_faulted(dispatch_run& run, const fault_record& record) = 0;

protected:
    ~group_listener() = default;
};

/// What a compute unit works with.
struct compute_unit_wiring {
    const clock_domain& clock;
    std::uint32_t gpu, index;  ///< numbers of its GPU in the node and of its own in the GPU
    vector_memory& memory;
    instruction_cache& code;
    group_listener& listener;
    const lane_operations& operations = lane_operations::best();
};

class compute_unit final : public model, public access_client, private fetch_client, private system_fence_client {
public:
    const compute_unit_params params;

    local_data_share lds;

    counter wavefront_instructions{*this, "wavefront_instructions", "1", "instructions executed by wavefronts"};
    counter lane_instructions{*this, "lane_instructions", "1", "instructions executed by lanes"};
    counter wavefronts{*this, "wavefronts", "1", "wavefronts that have ended"};
    counter work_groups{*this, "work_groups", "1", "work-groups that have ended"};
    counter memory_instructions{*this, "memory_instructions", "1", "accesses handed to the memory unit"};
    busy_time simd_busy;
    time_integral residency{*this, "residency", "time that wavefronts live, summed over them", params.slots()};
    counter stall_memory{*this, "stall_memory", "ps", "wavefronts waited for data"};
    counter stall_queue{*this, "stall_queue", "ps",
                        "wavefronts waited for the memory unit or the LDS to take an access"};
    counter stall_fetch{*this, "stall_fetch", "ps", "wavefronts waited for instructions"};
    counter stall_fence{*this, "stall_fence", "ps", "wavefronts waited for their accesses to end"};
    counter stall_barrier{*this, "stall_barrier", "ps", "wavefronts waited at barriers"};
    counter stall_result{*this, "stall_result", "ps", "wavefronts waited for results of instructions beside memory"};
    counter stall_simd{*this, "stall_simd", "ps", "ready wavefronts waited for their SIMD unit"};
    derived occupancy{
        *this, "occupancy", "1", "wavefronts alive on average while there was one", [this] {
            return m_busy.value() ? static_cast<double>(residency.value()) / static_cast<double>(m_busy.value()) : 0.0;
        }};

    struct flip_arguments {
        std::uint64_t slot = 0, lane = 0, row = 1, bit = 0, bits = 1;
        std::uint64_t slots = 1;  ///< of the compute unit
        void describe(parameter_visitor& v);
    };
    fault_kind<flip_arguments> flip{*this, "flip", "bits of a lane's register flip; without a wavefront there, nothing",
                                    [this](const auto& a) { flip_register(a); }};

    counter corrected_errors{*this, "corrected_errors", "1", "registers with one wrong bit, with ECC"};
    counter uncorrected_errors{*this, "uncorrected_errors", "1", "registers with two wrong bits that were used"};

    compute_unit(const sc_core::sc_module_name& name, const compute_unit_params& params, const compute_unit_wiring& to);
    ~compute_unit() override;

    std::uint32_t gpu() const { return m_gpu; }
    std::uint32_t index() const { return m_index; }
    /// What wavefronts have executed since construction, whatever the region of interest.
    const class_counts& executed() const { return m_engine.executed(); }
    unsigned free_slots() const { return m_free_slots; }
    unsigned slots() const { return static_cast<unsigned>(m_wavefronts.size()); }
    /// Whether a work-group of this dispatch finds slots, local memory and scratch areas.
    bool fits(const dispatch_run& run, std::uint32_t group_wavefronts) const;
    /// Whether registers alone are in the way of one that does not fit.
    bool lacks_registers(const dispatch_run& run, std::uint32_t group_wavefronts) const;
    /// Wavefronts of a dispatch that its slots hold, and that its registers let it hold.
    std::uint64_t slot_wavefronts(const dispatch_run& run) const {
        return m_wavefronts.size() / params.slots_of(run.lanes());
    }
    std::uint64_t max_wavefronts(const dispatch_run& run) const;
    /// The same for its work-groups, without the limit of scratch memory.
    std::uint64_t max_groups(const dispatch_run& run) const;
    /// Starts a work-group at the present time; it must fit. Its wavefronts start one after the other.
    void start(dispatch_run& run, const std::array<std::uint32_t, 3>& id, ticks wavefront_interval);
    /// Ends all wavefronts of a dispatch; group_finished() is called when their accesses have ended.
    void kill(const dispatch_run& run);
    /// What the caches hold is stale (a dispatch starts).
    void acquire();
    void reset() override;

    /// The watcher may hold wavefronts and hears what becomes of them (a debugger); null: none.
    void watch(wavefront_watcher* watcher) { m_watcher = watcher; }
    /// The watcher does not hold a slot's wavefront any more.
    void wake(unsigned slot);
    /// For debuggers: a slot's wavefront, state free if there is none.
    /// Tells `probe` how wavefronts spend their time, and counts what they execute if `counts`; null: neither.
    void attach_probe(wavefront_probe* probe, instruction_counters* counts) {
        m_probe = probe;
        m_engine.count_instructions(counts);
    }
    const wavefront& slot(unsigned n) const { return *m_wavefronts[n]; }
    /// Register `row` (lane_registers) of a lane of a live wavefront.
    std::uint64_t read_register(unsigned slot, unsigned lane, unsigned row) const;
    void write_register(unsigned slot, unsigned lane, unsigned row, std::uint64_t value);
    /// Sends one lane elsewhere, between instructions. \returns false if it cannot go now: it waits at a barrier, or
    /// for its instruction to end
    bool write_pc(unsigned slot, unsigned lane, std::uint64_t pc);
    std::uint64_t pc(unsigned slot, unsigned lane) const { return m_wavefronts[slot]->context.schedule.pc_of(lane); }

    /// access_client
    void access_done(vector_access& access, ticks ready) override;
    void space_available() override;

private:
    class simd_unit;
    enum class issued { all, blocked, blocked_by_lds, faulted };
    enum class local_access { elsewhere, done, full };

    void system_flushed(std::uint64_t slot) override;
    void fetched(std::uint32_t address_space, std::uint64_t line, memory_fault fault) override;

    void flip_register(const flip_arguments& a);
    bool pass_poison(wavefront& w);
    static bool loading(const wavefront& w, unsigned row) { return w.loads[row] || w.timed >> row & 1; }

    // compute_unit_groups.cpp: life and end of work-groups
    bool fits_beside_registers(const dispatch_run& run, std::uint32_t group_wavefronts) const;
    std::uint64_t register_bytes(const dispatch_run& run) const;
    void start_wavefront(wavefront& w, work_group& g, std::uint32_t number, lane_mask lanes, ticks at);
    void drain(wavefront& w);
    void retire(wavefront& w);
    void recycle_storage(wavefront& w);
    void finish_group(work_group& g);
    void arrive(wavefront& w);
    void complete_barrier(work_group& g);
    void fault(wavefront& w, lane_fault kind, memory_fault memory, unsigned lane, std::uint64_t pc,
               std::uint64_t address);

    // compute_unit.cpp: segments
    static std::uint32_t candidates_of(const simd_unit& s, ticks at, ticks& wake);
    void expect_next(const simd_unit& s) const;
    void run_next(simd_unit& s);
    void run_segment(simd_unit& s, wavefront& w);
    bool decoder_taken(simd_unit& s);
    void hold_decoder(const simd_unit& s, unsigned ready, ticks busy);
    lane_stop run_watched(wavefront& w, unsigned max_instructions);
    void end_segment(wavefront& w, lane_stop why);
    void begin_issue(wavefront& w);
    void begin_release(wavefront& w);
    void begin_acquire(wavefront& w);
    void begin_fence(wavefront& w);
    void continue_fence(wavefront& w);
    void enter(wavefront& w, wavefront_state s);
    void tell_probe(wavefront& w, wavefront_state next);
    void make_ready(wavefront& w, ticks at);
    /// For observers: how long the running segment has occupied the SIMD unit.
    ticks worked(const wavefront& w) const {
        return w.state == wavefront_state::running ? std::min(now() - w.since, w.busy_for) : 0;
    }
    bool in_segment(const wavefront& w) const;
    ticks span(std::uint64_t cycle_count) const { return (cycle_count * m_period_fs + 500) / 1000; }

    // compute_unit_memory.cpp: memory instructions
    local_access access_local(wavefront& w, ticks at);
    local_access shuffle(wavefront& w, ticks at);
    bool lds_full(wavefront& w, ticks at);
    static void await_local(wavefront& w, ticks ready);
    issued issue(wavefront& w);
    void end_issue(wavefront& w, issued how);
    void wait_for_lds(wavefront& w);
    bool lds_drained(wavefront& w);
    void lds_served();
    void serve_lds_queue();
    memory_fault rebase(const wavefront& w, vector_access& a, lane_mask mask, unsigned& lane) const;
    bool registers_ready(wavefront& w, ticks at);
    void wait_for_registers(wavefront& w);
    void load_landed(wavefront& w, unsigned row, ticks ready);

    const clock_domain& m_clock;
    const std::uint64_t m_period_fs;
    const std::uint32_t m_gpu, m_index;
    vector_memory& m_memory;
    instruction_cache& m_code;
    group_listener& m_listener;
    wavefront_watcher* m_watcher = nullptr;
    wavefront_probe* m_probe = nullptr;
    lane_engine m_engine;

    std::vector<std::unique_ptr<wavefront>> m_wavefronts;
    std::vector<std::unique_ptr<simd_unit>> m_simds;
    std::vector<std::unique_ptr<work_group>> m_groups, m_free_groups;
    std::vector<std::unique_ptr<lane_storage>> m_storage;  // of wavefronts that have ended
    std::vector<unsigned> m_queue;                         // slots whose access the memory unit could not take
    bool m_serving = false;                                // space_available() goes through them
    std::vector<unsigned> m_lds_queue;                     // slots whose access the LDS could not take
    bool m_serving_lds = false;                            // the first of them may go
    std::uint64_t m_lds_drains = 0;  // slots whose fence, barrier or end waits for their accesses of the LDS
    calendar_event m_lds_event{method<&compute_unit::lds_served>, this};
    const simd_unit* m_decodes_for = nullptr;  // whose instructions the shared decoder holds until m_decoder_until
    ticks m_decoder_until = 0;
    unsigned m_free_slots;
    std::uint64_t m_free_registers;  // bytes
    time_integral m_busy{*this, "busy", "time with at least one wavefront", 1};
};

}  // namespace fabricvp::gpu
