// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "platform/machine.h"

namespace fabricvp::python {

/// Breakpoints and watchpoints of one node for the length of a run. A hart that stands on a breakpoint when the run
/// begins executes that instruction first.
class stop_listener final : private riscv::debug_listener {
public:
    /// \param harts must outlive the listener
    /// \param end_run called inside a callback when a hart has stopped, with one line about it
    stop_listener(const std::vector<riscv::hart*>& harts, std::function<void(const std::string&)> end_run);

    void insert_breakpoint(std::uint64_t address);
    void remove_breakpoint(std::uint64_t address);
    void insert_watchpoint(std::uint64_t address, std::uint64_t size, riscv::watch_kind kind);
    void remove_watchpoint(std::uint64_t address, std::uint64_t size, riscv::watch_kind kind);

private:
    void stopped(riscv::debug_target& target, riscv::stop_reason reason, std::uint64_t address) override;
    void listen(bool on);
    void release_if_unused();

    const std::vector<riscv::hart*>& m_harts;
    std::function<void(const std::string&)> m_end_run;
    std::multiset<std::uint64_t> m_breakpoints;
    std::multiset<std::tuple<std::uint64_t, std::uint64_t, riscv::watch_kind>> m_watchpoints;
    std::vector<riscv::hart*> m_stopped;
};

}  // namespace fabricvp::python
