// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/monitor.h"

#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace fabricvp::gdb {

namespace {
constexpr const char* unsupported = "not supported by this platform\n";

/// A number of up to 8 digits, decimal or 0x…
std::optional<std::uint32_t> number_of(const std::string& text) {
    constexpr std::size_t max_digits = 8;
    const bool hexadecimal = text.compare(0, 2, "0x") == 0;
    const auto digits = hexadecimal ? text.substr(2) : text;
    if (digits.empty() || digits.size() > max_digits ||
        digits.find_first_not_of(hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") != std::string::npos)
        return std::nullopt;
    return static_cast<std::uint32_t>(std::stoul(digits, nullptr, hexadecimal ? 16 : 10));
}
}  // namespace

monitor::monitor(const gdb_hooks& hooks, std::function<void()> after_reset,
                 std::function<riscv::debug_target&()> selected)
    : m_hooks(hooks), m_after_reset(std::move(after_reset)), m_selected(std::move(selected)) {}

std::string monitor::execute(std::string_view line) {
    std::istringstream words{std::string(line)};
    std::string command, argument, more, extra;
    words >> command >> argument >> more >> extra;
    try {
        if (command.empty() || command == "help") return help();
        if (command == "stats" && more.empty()) return stats(argument);
        if (command == "trace" && extra.empty()) return trace(argument, more);
        if (command == "kernel" && more.empty()) return kernel(argument);
        if (command == "lane" && more.empty()) return lane(argument);
        if (command == "qp" && more.empty()) return queue_pair(argument);
        if (command == "queue" && extra.empty()) return gpu_queue(argument, more);
        if (command == "reset" && argument.empty()) return reset();
        if (command == "time" && argument.empty()) return time();
    } catch (const std::exception& e) {
        return fmt::format("{}: {}\n", command, e.what());
    }
    return fmt::format("'{}' is not a monitor command; try `monitor help`\n", line);
}

std::string monitor::help() const {
    return "monitor help              this list\n"
           "monitor stats [prefix]    statistics, of one component if named (node0.host.hart0)\n"
           "monitor stats reset       start a region of interest: statistics count from zero\n"
           "monitor trace on [file]   record a Perfetto trace from now on\n"
           "monitor trace off         end the trace\n"
           "monitor kernel [NAME]     breakpoints stop only wavefronts of this kernel; without a name of all\n"
           "monitor lane [N]          which lane of a wavefront is shown, or show another one\n"
           "monitor queue [GPU] [N]   queues of the node's GPUs, or queue N with its packets and what it waits for\n"
           "monitor qp [N]            queue pairs of the node's RDMA adapters, or N with its counters and entries\n"
           "monitor reset             power-on reset of the node\n"
           "monitor time              simulated time\n"
           "To look at device registers: set mem inaccessible-by-default off\n";
}

std::string monitor::stats(const std::string& argument) {
    if (argument == "reset") {
        if (!m_hooks.restart_statistics) return unsupported;
        m_hooks.restart_statistics();
        return "statistics count from zero\n";
    }
    if (!m_hooks.statistics) return unsupported;
    std::string text;
    for (const auto& [path, value] : m_hooks.statistics(argument)) text += fmt::format("{:<56} {}\n", path, value);
    return text.empty() ? fmt::format("no statistic starts with '{}'\n", argument) : text;
}

std::string monitor::trace(const std::string& argument, const std::string& file) {
    if (argument == "on") {
        if (!m_hooks.start_trace) return unsupported;
        return fmt::format("tracing to {}\n", m_hooks.start_trace(file));
    }
    if (argument == "off" && file.empty()) {
        if (!m_hooks.stop_trace) return unsupported;
        m_hooks.stop_trace();
        return "trace ended\n";
    }
    return "usage: monitor trace on [file] | off\n";
}

std::string monitor::kernel(const std::string& name) {
    if (!m_hooks.stop_only) return "there is no GPU\n";
    m_hooks.stop_only(name);
    return name.empty() ? "breakpoints stop wavefronts of all kernels\n"
                        : fmt::format("breakpoints stop wavefronts of kernel {} only\n", name);
}

std::string monitor::lane(const std::string& argument) {
    auto& target = m_selected();
    if (target.lanes() == 1) return "the present thread is not a wavefront\n";
    if (!argument.empty()) {
        const bool digits = argument.size() < 4 && argument.find_first_not_of("0123456789") == std::string::npos;
        if (!digits || std::stoul(argument) >= target.lanes())
            return fmt::format("'{}' is not a lane: 0 … {}\n", argument, target.lanes() - 1);
        if (!target.select_lane(static_cast<unsigned>(std::stoul(argument))))
            return fmt::format("lane {} has ended\n", argument);
        return fmt::format("lane {}; GDB shows its registers after `maintenance flush register-cache`\n",
                           target.lane());
    }
    return fmt::format("{} {}\n", target.debug_name(), target.debug_state());
}

std::string monitor::queue_pair(const std::string& number) const {
    if (!m_hooks.queue_pair) return "there is no RDMA adapter\n";
    if (number.empty()) {
        const auto all = m_hooks.queue_pair(std::nullopt);
        return all.empty() ? "no adapter of this node has a queue pair\n" : all;
    }
    const auto wanted = number_of(number);
    if (!wanted) return "usage: monitor qp [N], its number, decimal or 0x…\n";
    const auto text = m_hooks.queue_pair(*wanted);
    return text.empty() ? fmt::format("no adapter of this node has a queue pair {}\n", number) : text;
}

std::string monitor::gpu_queue(const std::string& first, const std::string& second) const {
    if (!m_hooks.gpu_queue) return "there is no GPU\n";
    const bool named = !first.empty() && !number_of(first);
    const auto& number = named ? second : first;
    if ((!number.empty() && !number_of(number)) || (!named && !second.empty()))
        return "usage: monitor queue [GPU] [N], a GPU's name and a queue's number, decimal or 0x…\n";
    const auto wanted = number.empty() ? std::nullopt : number_of(number);
    const auto text = m_hooks.gpu_queue(named ? first : "", wanted);
    if (!text.empty()) return text;
    return wanted ? fmt::format("queue {} is not open\n", *wanted) : "no queue is open\n";
}

std::string monitor::reset() {
    if (!m_hooks.reset) return unsupported;
    m_hooks.reset();
    m_after_reset();
    return "node reset; GDB still shows old registers until `maintenance flush register-cache`\n";
}

std::string monitor::time() const {
    if (!m_hooks.now) return unsupported;
    const ticks t = m_hooks.now();
    return fmt::format("{}.{:012} s\n", t / ticks_per_second, t % ticks_per_second);
}

}  // namespace fabricvp::gdb
