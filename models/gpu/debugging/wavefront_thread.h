// SPDX-License-Identifier: Apache-2.0
// A wavefront slot as a debugger's thread. It shows one lane, chosen by the debugger or, at a breakpoint, the first of
// those that came there. What has ended or gone wrong while the debugger watched stays as a picture until it is
// resumed.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gpu/debugging/wavefront_memory.h"
#include "gpu/lanes/compute_unit.h"
#include "riscv/hart_debug.h"

namespace fabricvp::gpu {

/// Addresses in the code aperture that wavefronts of a GPU stop at.
struct lane_breakpoints {
    std::set<std::uint64_t> software, hardware;
    std::string kernel;  ///< only in wavefronts of this kernel; empty: of all
    bool any() const { return !software.empty() || !hardware.empty(); }
    bool at(std::uint64_t pc) const { return software.count(pc) || hardware.count(pc); }
};

class wavefront_thread final : public riscv::debug_target {
public:
    /// \param unit that the slot belongs to \param watcher what that unit reports to while a debugger listens
    wavefront_thread(compute_unit& unit, unsigned slot, wavefront_watcher& watcher, lane_breakpoints& breakpoints,
                     wavefront_memory& memory);

    // What the compute unit asks and says.
    bool holds() const { return m_halted || m_due != riscv::stop_reason::none; }
    bool wants_each() const { return m_stepping || m_breakpoints.any(); }
    bool stops_before();
    void executed(lane_mask lanes);
    void state_changed();
    void started();
    void ending();
    void faulted(const fault_record& record);

    std::string debug_name() const override;
    std::string debug_state() const override;
    void set_debug_listener(riscv::debug_listener* listener) override;
    bool read_register(unsigned number, std::uint64_t& value) override;
    bool write_register(unsigned number, std::uint64_t value) override;
    bool has_csr(unsigned) const override { return false; }
    std::size_t read_memory(std::uint64_t address, void* to, std::size_t size) override;
    std::size_t write_memory(std::uint64_t address, const void* from, std::size_t size) override;
    void insert_breakpoint(std::uint64_t address, bool hardware) override;
    void remove_breakpoint(std::uint64_t address, bool hardware) override;
    void insert_watchpoint(std::uint64_t, std::uint64_t, riscv::watch_kind) override {}  // of harts only
    void remove_watchpoint(std::uint64_t, std::uint64_t, riscv::watch_kind) override {}
    void halt() override;
    void resume() override;
    void step() override;
    bool halted() const override { return m_halted; }
    bool alive() const override { return m_snapshot || now_alive(); }
    std::uint64_t incarnation() const override { return m_incarnation; }
    bool next_instruction(std::uint64_t& pc) override;
    bool stops_at(std::uint64_t) override { return m_breakpoints.kernel.empty() || m_breakpoints.kernel == m_kernel; }
    void show_next() override;
    const char* additional_register(unsigned n) const override;
    unsigned lanes() const override { return wavefront_lanes; }
    unsigned lane() const override { return m_lane; }
    bool select_lane(unsigned lane) override;

private:
    /// A wavefront that is no more.
    struct snapshot {
        lane_registers registers;
        std::array<std::uint64_t, wavefront_lanes> pc;
        lane_mask live;
        lane_identity identity;
        wavefront_place place;
        std::vector<std::uint8_t> lds;
        std::string end;
    };

    const wavefront& slot() const { return m_unit.slot(m_slot); }
    bool now_alive() const { return slot().state != wavefront_state::free && slot().context.storage; }
    const lane_identity& identity() const { return m_snapshot ? m_snapshot->identity : slot().context.identity; }
    lane_mask live_lanes() const { return m_snapshot ? m_snapshot->live : slot().context.schedule.live(); }
    std::uint64_t pc_of(unsigned lane) const;
    bool further(unsigned n, std::uint64_t& value) const;
    wavefront_place place() const;
    void take_snapshot(std::string end);
    void show_some(lane_mask lanes);
    void continue_execution(bool step);
    void report();

    compute_unit& m_unit;
    const unsigned m_slot;
    wavefront_watcher& m_watcher;
    lane_breakpoints& m_breakpoints;
    wavefront_memory& m_memory;
    riscv::debug_listener* m_listener = nullptr;

    bool m_halted = false, m_stepping = false;
    bool m_any_lane = false;                              // a step of whatever lanes are next will do
    riscv::stop_reason m_due = riscv::stop_reason::none;  // to be reported when its loads have come in
    std::uint64_t m_due_address = 0;
    std::uint64_t m_skip = 0;  // breakpoint that it was resumed at
    unsigned m_lane = 0;
    std::string m_kernel;
    std::uint64_t m_incarnation = 0;
    std::unique_ptr<snapshot> m_snapshot;
};

}  // namespace fabricvp::gpu
