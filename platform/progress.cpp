// SPDX-License-Identifier: Apache-2.0
#include "platform/progress.h"

#include <cstdio>

#include <fmt/format.h>

#include "platform/machine.h"
#include "platform/platform.h"

namespace fabricvp {
namespace {

using wall_clock = std::chrono::steady_clock;

double seconds_since(wall_clock::time_point then) {
    return std::chrono::duration<double>(wall_clock::now() - then).count();
}

}  // namespace

progress_line::progress_line(const platform& p, ticks limit, bool terminal)
    : m_platform(p),
      m_limit(limit),
      m_terminal(terminal),
      m_began(wall_clock::now()),
      m_last(m_began),
      m_began_at(p.now()),
      m_last_instructions(static_cast<double>(p.hardware().instructions())),
      m_began_part(p.replay_progress().value_or(0)) {}

progress_line::~progress_line() {
    if (m_printed && m_terminal) std::fputs("\r\033[K", stderr);
}

void progress_line::poll() {
    const double interval = seconds_since(m_last);
    if (interval < (m_terminal ? 1.0 : 30.0)) return;
    const auto instructions = static_cast<double>(m_platform.hardware().instructions());
    const double rate = (instructions - m_last_instructions) / interval;
    const auto part = m_platform.replay_progress();
    m_last = wall_clock::now();
    m_last_instructions = instructions;

    const auto now = m_platform.now();
    auto text = fmt::format("{}{:.6f} s simulated",
                            m_terminal ? "\r\033[K" : "fabricvp: ", static_cast<double>(now) / ticks_per_second);
    text += part ? fmt::format(", {:.0f} % of the recording", 100 * *part) : fmt::format(", {:.1f} MIPS", rate / 1e6);
    if (part && *part > m_began_part) {
        text += fmt::format(", {:.0f} s to go", seconds_since(m_began) * (1 - *part) / (*part - m_began_part));
    } else if (m_limit != never && now > m_began_at) {
        const double left =
            seconds_since(m_began) * static_cast<double>(m_limit - now) / static_cast<double>(now - m_began_at);
        text += fmt::format(", {:.0f} s to go", left);
    }
    if (!m_terminal) text += '\n';
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    m_printed = true;
}

}  // namespace fabricvp
