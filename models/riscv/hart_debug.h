// SPDX-License-Identifier: Apache-2.0
// The seam between harts and debuggers. A debugger sees harts, command processors and wavefronts only through this
// interface; all calls happen on the simulation thread between slices.
#pragma once

#include <cstdint>
#include <string>

namespace fabricvp::riscv {

class debug_target;

enum class stop_reason {
    none,
    halted,
    step,
    breakpoint,
    hardware_breakpoint,
    watch_write,
    watch_read,
    watch_access,
    bad_access,      ///< a fault that ends the target: no memory there, misaligned, not allowed
    bad_instruction  ///< a fault that ends the target: illegal instruction, wild jump
};

/// Told that a target stopped; it must arrange for the simulation to pause (calendar::stop()).
class debug_listener {
public:
    virtual void stopped(debug_target& target, stop_reason reason, std::uint64_t address) = 0;

protected:
    ~debug_listener() = default;
};

enum class watch_kind { write, read, access };

class debug_target {
public:
    virtual ~debug_target() = default;

    /// Name for thread lists ("node0.host.hart0").
    virtual std::string debug_name() const = 0;
    /// One-line state for `info threads` ("running, S-mode", "wfi").
    virtual std::string debug_state() const = 0;
    virtual void set_debug_listener(debug_listener* listener) = 0;

    /// Registers in GDB's RISC-V numbering: 0–31 x, 32 pc, 33–64 f, 65 + n CSR n, 4161 priv,
    /// 4162 + n additional_register(n). \returns false if absent.
    virtual bool read_register(unsigned number, std::uint64_t& value) = 0;
    virtual bool write_register(unsigned number, std::uint64_t value) = 0;
    /// True if the CSR exists (for the target description).
    virtual bool has_csr(unsigned number) const = 0;

    /// Reads or writes memory as the target sees it now (virtual addresses under its translation). Reads and writes of
    /// memory only; devices answer through transport_dbg without side effects. \returns bytes done, from the start.
    virtual std::size_t read_memory(std::uint64_t address, void* to, std::size_t size) = 0;
    virtual std::size_t write_memory(std::uint64_t address, const void* from, std::size_t size) = 0;

    virtual void insert_breakpoint(std::uint64_t address, bool hardware) = 0;
    virtual void remove_breakpoint(std::uint64_t address, bool hardware) = 0;
    virtual void insert_watchpoint(std::uint64_t address, std::uint64_t size, watch_kind kind) = 0;
    virtual void remove_watchpoint(std::uint64_t address, std::uint64_t size, watch_kind kind) = 0;

    /// Halted targets execute nothing, but time and other targets go on.
    virtual void halt() = 0;
    virtual void resume() = 0;
    /// Executes one instruction when the simulation next runs, then halts with stop_reason::step.
    virtual void step() = 0;
    virtual bool halted() const = 0;

    /// While on, the target executes one instruction a slice, so that none is more than one ahead of another. Targets
    /// that always do so need not care.
    virtual void set_lockstep(bool on) {}

    // Wavefronts come and go, and are many lanes in one; harts need none of the following.

    /// False while there is nothing to see. What comes to life in its place is another incarnation.
    virtual bool alive() const { return true; }
    virtual std::uint64_t incarnation() const { return 0; }
    /// Where the target goes on as soon as it is resumed. \returns false if it waits for other targets first
    virtual bool next_instruction(std::uint64_t& pc) { return read_register(32, pc); }
    /// Whether a breakpoint at that address is meant for this target at all.
    virtual bool stops_at(std::uint64_t pc) { return true; }
    /// Shows, of what the target consists of, the part that goes on next.
    virtual void show_next() {}
    /// Names of registers 4162, 4163, …; null behind the last one.
    virtual const char* additional_register(unsigned n) const { return nullptr; }
    /// How many lanes it consists of, and the one whose registers and memory are shown.
    virtual unsigned lanes() const { return 1; }
    virtual unsigned lane() const { return 0; }
    /// \returns false if there is no such lane, or it has ended
    virtual bool select_lane(unsigned lane) { return lane == 0; }
};

}  // namespace fabricvp::riscv
