// SPDX-License-Identifier: Apache-2.0
#include "bindings/stop_listener.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace fabricvp::python {

using riscv::stop_reason;

stop_listener::stop_listener(const std::vector<riscv::hart*>& harts, std::function<void(const std::string&)> end_run)
    : m_harts(harts), m_end_run(std::move(end_run)) {}

void stop_listener::listen(bool on) {
    for (auto* h : m_harts) h->set_debug_listener(on ? this : nullptr);
}

void stop_listener::insert_breakpoint(std::uint64_t address) {
    if (m_breakpoints.count(address) == 0) {
        listen(true);
        for (auto* h : m_harts) {
            h->insert_breakpoint(address, true);
            if (h->pc() == address) h->resume();  // skips a breakpoint at its pc
        }
    }
    m_breakpoints.insert(address);
}

void stop_listener::remove_breakpoint(std::uint64_t address) {
    const auto at = m_breakpoints.find(address);
    if (at == m_breakpoints.end()) return;
    m_breakpoints.erase(at);
    if (m_breakpoints.count(address)) return;
    for (auto* h : m_harts) h->remove_breakpoint(address, true);
    release_if_unused();
}

void stop_listener::insert_watchpoint(std::uint64_t address, std::uint64_t size, riscv::watch_kind kind) {
    const auto key = std::make_tuple(address, size, kind);
    if (m_watchpoints.count(key) == 0) {
        listen(true);
        for (auto* h : m_harts) h->insert_watchpoint(address, size, kind);
    }
    m_watchpoints.insert(key);
}

void stop_listener::remove_watchpoint(std::uint64_t address, std::uint64_t size, riscv::watch_kind kind) {
    const auto key = std::make_tuple(address, size, kind);
    const auto at = m_watchpoints.find(key);
    if (at == m_watchpoints.end()) return;
    m_watchpoints.erase(at);
    if (m_watchpoints.count(key)) return;
    for (auto* h : m_harts) h->remove_watchpoint(address, size, kind);
    release_if_unused();
}

void stop_listener::stopped(riscv::debug_target& target, stop_reason reason, std::uint64_t address) {
    const auto at = std::find_if(m_harts.begin(), m_harts.end(),
                                 [&](auto* h) { return static_cast<riscv::debug_target*>(h) == &target; });
    if (at == m_harts.end() || reason == stop_reason::none || reason == stop_reason::halted) return;
    m_stopped.push_back(*at);
    const bool watch =
        reason == stop_reason::watch_write || reason == stop_reason::watch_read || reason == stop_reason::watch_access;
    m_end_run(watch ? fmt::format("{} accessed {:#x}, pc {:#x}", target.debug_name(), address, (*at)->pc())
                    : fmt::format("{} at breakpoint {:#x}", target.debug_name(), (*at)->pc()));
}

/// Harts that stopped run on with the next run, once nothing is there that they would have to skip.
void stop_listener::release_if_unused() {
    if (!m_breakpoints.empty() || !m_watchpoints.empty()) return;
    listen(false);
    for (auto* h : std::exchange(m_stopped, {})) h->resume();
}

}  // namespace fabricvp::python
