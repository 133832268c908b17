// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "platform/gdb/gdb_hooks.h"
#include "riscv/hart_debug.h"

namespace fabricvp::testing {

class fake_machine;

/// A hart whose program is a loop of eight 4-byte instructions at `program`: x5 counts instructions, the third one
/// writes the word at `variable`, the fifth one reads it.
class fake_hart final : public riscv::debug_target {
public:
    static constexpr std::uint64_t program = 0x80000000, variable = 0x80001000;
    static constexpr unsigned program_size = 32;

    fake_hart(fake_machine& machine, unsigned id) : m_machine(machine), m_id(id) { pc = program; }

    /// Executes an instruction unless halted or stopped by a break- or watchpoint in front of it.
    void execute();

    std::string debug_name() const override { return "node0.host.hart" + std::to_string(m_id); }
    std::string debug_state() const override { return m_halted ? "halted" : "running"; }
    void set_debug_listener(riscv::debug_listener* listener) override { m_listener = listener; }
    bool read_register(unsigned number, std::uint64_t& value) override;
    bool write_register(unsigned number, std::uint64_t value) override;
    bool has_csr(unsigned number) const override { return csrs.count(number); }
    std::size_t read_memory(std::uint64_t address, void* to, std::size_t size) override;
    std::size_t write_memory(std::uint64_t address, const void* from, std::size_t size) override;
    void insert_breakpoint(std::uint64_t address, bool hardware) override { breakpoints.emplace(address, hardware); }
    void remove_breakpoint(std::uint64_t address, bool hardware) override { breakpoints.erase({address, hardware}); }
    void insert_watchpoint(std::uint64_t address, std::uint64_t size, riscv::watch_kind kind) override {
        watchpoints.emplace(address, size, kind);
    }
    void remove_watchpoint(std::uint64_t address, std::uint64_t size, riscv::watch_kind kind) override {
        watchpoints.erase({address, size, kind});
    }
    void halt() override { m_halted = true; }
    void resume() override { m_halted = m_stepping = false; }
    void step() override { m_halted = false, m_stepping = true; }
    bool halted() const override { return m_halted; }
    void set_lockstep(bool on) override { lockstep = on; }

    bool has_listener() const { return m_listener; }

    std::uint64_t pc;
    bool lockstep = false;
    std::array<std::uint64_t, 32> x{}, f{};
    std::map<unsigned, std::uint64_t> csrs{{1, 0}, {2, 0}, {3, 0}, {0x300, 0xa00000000}, {0x180, 0}, {0xf14, m_id}};
    std::set<std::pair<std::uint64_t, bool>> breakpoints;
    std::set<std::tuple<std::uint64_t, std::uint64_t, riscv::watch_kind>> watchpoints;

private:
    void stop(riscv::stop_reason reason, std::uint64_t address);

    fake_machine& m_machine;
    unsigned m_id;
    bool m_halted = false, m_stepping = false;
    riscv::debug_listener* m_listener = nullptr;
};

/// A few fake harts on 64 KiB of memory, and hooks that record what the debugger wanted.
class fake_machine {
public:
    static constexpr std::uint64_t base = 0x80000000, size = 0x10000;

    explicit fake_machine(unsigned harts);

    /// Every hart executes up to `instructions`, in turns; ends early where a hart stops.
    void run(unsigned instructions);
    /// The node as the server takes it, with some RAM and ROM.
    gdb_process process();
    gdb_hooks hooks();
    bool clean() const;  ///< no listener, break- or watchpoint left, every hart runs

    std::vector<std::unique_ptr<fake_hart>> harts;
    std::string memory = std::string(size, '\0');
    bool slice_ended = false, killed = false;
    unsigned resets = 0, statistics_restarts = 0;
    std::string trace;
};

}  // namespace fabricvp::testing
