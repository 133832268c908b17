// SPDX-License-Identifier: Apache-2.0
#include "platform/progress.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

#include "platform/common/terminal.h"
#include "platform/machine.h"
#include "platform/platform.h"

namespace fabricvp {
namespace {

double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// Simulated time in a second.
std::string speed_text(double seconds_a_second) {
    for (const auto& [factor, unit] : {std::pair{1.0, "s"}, {1e3, "ms"}, {1e6, "us"}})
        if (seconds_a_second * factor >= 1) return fmt::format("{:.3g} {}/s", seconds_a_second * factor, unit);
    return fmt::format("{:.3g} ns/s", seconds_a_second * 1e9);
}

}  // namespace

std::string span_text(double s) {
    if (s < 100) return fmt::format("{:.0f} s", s);
    if (s < 100 * 60) return fmt::format("{:.0f} min", s / 60);
    if (s < 100 * 3600) return fmt::format("{:.0f} h", s / 3600);
    return fmt::format("{:.0f} days", s / 86400);
}

progress_meter::progress_meter(const platform& p, ticks limit)
    : m_platform(p),
      m_limit(limit),
      m_began(wall_clock::now()),
      m_began_at(p.now()),
      m_last(m_began + grace - std::chrono::seconds(1)),
      m_last_now(m_began_at),
      m_last_instructions(static_cast<double>(p.hardware().instructions())),
      m_work_began(m_began) {}

bool progress_meter::idle() const { return m_platform.waits_for_user(); }

/// Dispatches under way on all GPUs, which are parts of one where a grid is spread over them.
std::optional<progress_meter::work> progress_meter::kernels() const {
    work w;
    for (const auto& n : m_platform.hardware().nodes) {
        if (!n) continue;
        for (const auto& gpu : n->devices.gpus)
            for (const auto& run : gpu->core.dispatcher.runs()) {
                if (w.name.empty()) {
                    const auto& name_of = gpu->core.dispatcher.name_of;
                    w.whose = name_of ? name_of(run->what) : "a kernel";
                    w.name = fmt::format("{} {}", gpu->core.owner.name(), run->number);
                }
                w.done += static_cast<double>(run->finished);
                w.whole += static_cast<double>(run->group_count);
            }
    }
    if (w.name.empty()) return std::nullopt;
    w.text = fmt::format("kernel {} {:.0f} of {:.0f} work-groups", w.whose, w.done, w.whole);
    w.whose = " of the kernel";
    return w;
}

std::optional<progress_meter::work> progress_meter::present_work(double instructions) const {
    if (const auto part = m_platform.replay_progress())
        return work{"recording", fmt::format("{:.0f} % of the recording", 100 * *part), *part, 1, ""};
    if (auto w = kernels()) return w;
    if (m_limit != never)
        return work{"time", "", static_cast<double>(m_platform.now() - m_began_at),
                    static_cast<double>(m_limit - m_began_at), ""};
    if (const auto setup = m_platform.app_instructions(); setup && instructions < *setup)
        return work{"input", "input and check of the application on the host", instructions, *setup, ""};
    return std::nullopt;
}

/// By the speed since it was seen first.
std::optional<double> progress_meter::seconds_left(const work& w) {
    if (w.name != m_work) {
        const bool from_the_start = w.name == "time" || (w.name == "input" && m_began_at == 0);
        m_work = w.name;
        m_work_began = from_the_start ? m_began : m_last;
        m_done_before = from_the_start ? 0 : w.done;
    }
    if (w.done <= m_done_before) return std::nullopt;
    return seconds(m_last - m_work_began) * (w.whole - w.done) / (w.done - m_done_before);
}

std::optional<std::string> progress_meter::poll() {
    const auto wall = wall_clock::now();
    if (wall - m_last < std::chrono::seconds(1)) return std::nullopt;
    const double interval = seconds(wall - std::max(m_last, m_began));
    const auto first = m_last < m_began + grace;
    const auto now = m_platform.now();
    const auto instructions = static_cast<double>(m_platform.hardware().instructions());
    const double simulated = static_cast<double>(now - m_last_now) / ticks_per_second;
    const double mips = (instructions - m_last_instructions) / 1e6;
    const double period = first ? seconds(wall - m_began) : interval;
    m_last = wall;
    m_last_now = now;
    m_last_instructions = instructions;

    auto text = fmt::format("{:.6f} s simulated, {}", static_cast<double>(now) / ticks_per_second,
                            speed_text(simulated / period));
    if (mips / period >= 0.05) text += fmt::format(", {:.1f} MIPS", mips / period);
    m_left.clear();
    auto is_long = false;
    if (const auto w = present_work(instructions)) {
        if (!w->text.empty()) text += ", " + w->text;
        if (const auto left = seconds_left(*w)) {
            m_left = fmt::format("about {} left{}", span_text(*left), w->whose);
            text += ", " + m_left;
            is_long = *left > seconds(long_work);
        }
    }
    m_long = is_long ? m_long + 1 : 0;
    return text;
}

std::optional<std::string> progress_meter::forecast() {
    if (m_limit != never) return std::nullopt;  // the run may end long before
    auto text = m_platform.long_work_message();
    m_warned = m_warned || text;
    return text;
}

std::optional<std::string> progress_meter::warning() {
    constexpr unsigned sure = 2;  // the first estimate of a kernel may be far off
    if (m_warned || m_long < sure) return std::nullopt;
    m_warned = true;
    return m_left + "; Ctrl-C ends the run";
}

progress_line::progress_line(const platform& p, ticks limit) : m_meter(p, limit), m_terminal(isatty(STDERR_FILENO)) {
    if (!m_terminal) return;
    if (const auto text = m_meter.forecast()) fmt::print(stderr, "fabricvp: {}\n", *text);
}

progress_line::~progress_line() { status_line::erase(); }

void progress_line::poll() {
    if (!m_terminal) return;
    const auto text = m_meter.poll();
    if (!text) return;
    if (m_meter.idle()) return status_line::erase();
    if (const auto warning = m_meter.warning()) {
        status_line::erase();
        fmt::print(stderr, "fabricvp: {}\n", *warning);
    }
    status_line::show(*text);
}

progress_log::progress_log(const platform& p, ticks limit)
    : m_meter(p, limit), m_last(std::chrono::steady_clock::now()) {}

void progress_log::begin() {
    if (const auto text = m_meter.forecast()) fmt::print(stderr, "fabricvp: {}\n", *text);
}

void progress_log::poll() {
    const auto text = m_meter.poll();
    const auto now = std::chrono::steady_clock::now();
    if (!text || now - m_last < std::chrono::seconds(30)) return;
    m_last = now;
    fmt::print(stderr, "fabricvp: {}\n", *text);
}

}  // namespace fabricvp
