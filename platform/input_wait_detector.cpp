// SPDX-License-Identifier: Apache-2.0
#include "platform/input_wait_detector.h"

#include <algorithm>

#include "abi/uart16550.h"

namespace fabricvp {
namespace {

constexpr ticks prompt_time = ticks_per_second / 2;
constexpr std::uint64_t prompt_polls =
    10'000;  ///< in that time: one in 50 us, where U-Boot's `sleep` looks every 100 us
constexpr ticks rest_time = 60 * ticks_per_second;

// A loop that looks for input that often is a prompt; U-Boot's countdown looks every 10 ms, for a second a digit.
constexpr std::uint64_t loop_polls = 64;
constexpr ticks loop_time = loop_polls * (ticks_per_second / 20'000);
// One that looks seldom may be a prompt as well, if it prints nothing meanwhile.
constexpr std::uint64_t slow_polls = 10;
constexpr ticks slow_time = 5 * (ticks_per_second / 4);

bool off(const node& n) {
    return std::all_of(n.host.harts.begin(), n.host.harts.end(), [](const auto& hart) { return hart->halted(); });
}

bool rests(const node& n) {
    return std::all_of(n.host.harts.begin(), n.host.harts.end(),
                       [](const auto& hart) { return hart->waiting() || hart->halted(); });
}

}  // namespace

input_wait_detector::input_wait_detector(const machine& hardware)
    : m_hardware(hardware), m_guests(hardware.nodes.size()) {}

bool input_wait_detector::waits(const node& n, guest& g, ticks now) {
    const auto& uart = n.host.uart;
    const auto characters = uart.transmitted.total() + uart.received.total();
    if (characters != g.characters || uart.queued_input() != 0) {
        g = {characters, uart.idle_polls(), now, now, 0, 0, false};
        return false;
    }
    ++g.calls;
    g.resting += rests(n);
    if (now - g.polls_since >= prompt_time) {
        g.prompts = uart.idle_polls() - g.polls >= prompt_polls;
        g.polls = uart.idle_polls();
        g.polls_since = now;
    }
    return g.prompts || (now - g.since >= rest_time && 4 * g.resting >= 3 * g.calls);
}

input_wait_detector::verdict input_wait_detector::look(ticks now) {
    bool some = false, all = true;
    for (std::size_t i = 0; i < m_guests.size(); ++i) {
        const auto& n = m_hardware.nodes[i];
        if (!n || off(*n)) continue;
        some = true;
        all = waits(*n, m_guests[i], now) && all;
    }
    return {some, all};
}

bool input_demand::look(const host::uart& uart, ticks now) {
    if (m_reads) return true;
    const auto characters = uart.transmitted.total() + uart.received.total(), polls = uart.idle_polls();
    if (characters != m_characters) {
        m_characters = characters;
        m_quiet_polls = m_polls = polls;
        m_quiet_since = m_since = now;
    }
    const auto loops = polls - m_polls >= loop_polls && now - m_since <= loop_time;
    const auto looks = polls - m_quiet_polls >= slow_polls && now - m_quiet_since >= slow_time;
    m_reads = loops || looks || (uart.ier() & UART_IER_ERBFI);
    if (now - m_since > loop_time) {
        m_polls = polls;
        m_since = now;
    }
    return m_reads;
}

}  // namespace fabricvp
