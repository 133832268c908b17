// SPDX-License-Identifier: Apache-2.0
#include "platform/console/line_console.h"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "base/parameters.h"
#include "base/quantity.h"
#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

/// Recordings hold one line a chunk: time in picoseconds, a blank, the bytes in hexadecimal.
std::string hex(const std::string& text) {
    std::string out;
    for (const char c : text) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}

std::string unhex(const std::string& digits, const std::string& where) {
    std::string out;
    if (digits.empty() || digits.size() % 2 || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw input_error(where + ": not a recording of console input (time in ps, bytes in hexadecimal)");
    for (std::size_t i = 0; i < digits.size(); i += 2)
        out += static_cast<char>(std::stoul(digits.substr(i, 2), nullptr, 16));
    return out;
}

}  // namespace

line_console::line_console(std::string name, std::function<void(std::string_view)> send, std::function<ticks()> now)
    : m_name(std::move(name)), m_send(std::move(send)), m_now(std::move(now)) {}

void line_console::type(std::string_view text) {
    if (text.empty()) return;
    if (!m_typed.empty() && m_typed.back().when == m_now())
        m_typed.back().text += text;
    else
        m_typed.push_back({m_now(), std::string(text)});
    m_send(text);
}

void line_console::outlet::flush() {
    const auto text = std::exchange(pending, {});
    if (end && !text.empty()) end->write(text);
}

void line_console::attach(const std::string& where) {
    auto backend = make_console_backend(where, m_output, m_options);
    m_backend.flush();
    std::swap(m_backend.end, backend);
    if (backend) backend->close();
}

void line_console::log_into(const std::string& path) {
    m_log = {make_console_backend("file:" + path, m_output, m_options), {}};
    m_log.end->poll();
}

bool line_console::end_log() {
    m_log.flush();
    const auto log = std::move(m_log.end);
    if (log) log->close();
    return log != nullptr;
}

void line_console::abandon() {
    for (auto* out : {&m_log, &m_backend}) {
        if (out->end) out->end->abandon();
        *out = {};
    }
}

void line_console::hold_piped_input(std::function<bool()> guest_reads, std::function<std::size_t()> queued) {
    m_guest_reads = std::move(guest_reads);
    m_queued = std::move(queued);
}

std::string line_console::recorded_input() const {
    std::string out;
    for (const auto& c : m_typed) out += fmt::format("{} {}\n", c.when, hex(c.text));
    return out;
}

void line_console::replay(const std::string& recording, const std::string& name) {
    std::deque<chunk> chunks;
    std::istringstream lines(recording);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        const auto where = fmt::format("{}:{}", name, number);
        const auto blank = line.find(' ');
        const auto time = line.substr(0, blank);
        if (blank == std::string::npos || time.empty() || time.size() > 19 ||
            time.find_first_not_of("0123456789") != std::string::npos)
            throw input_error(where + ": not a recording of console input (time in ps, bytes in hexadecimal)");
        chunks.push_back({std::stoull(time), unhex(line.substr(blank + 1), where)});
        if (chunks.size() > 1 && chunks[chunks.size() - 2].when > chunks.back().when)
            throw input_error(where + ": a recording's times must not go back");
    }
    m_replay = std::move(chunks);
    m_replaying = true;
}

void line_console::printed(char c) {
    if (m_output.size() < m_options.max_kept_bytes) {
        m_output += c;
    } else if (!std::exchange(m_output_full, true)) {
        log_message(log_level::warning, m_name,
                    fmt::format("the console has printed {}; what comes now goes to files, but is kept no longer",
                                quantity_text(parameter_kind::byte_size, m_options.max_kept_bytes)));
    }
    for (auto* out : {&m_backend, &m_log})
        if (out->end) out->pending += c;
    for (const auto& sink : m_sinks) sink(c);
}

void line_console::poll() {
    while (!m_replay.empty() && m_replay.front().when <= m_now()) {
        type(m_replay.front().text);
        m_replay.pop_front();
    }
    m_log.flush();
    if (m_log.end) m_log.end->poll();
    m_backend.flush();
    if (m_backend.end) take_input();
}

void line_console::serve_person() {
    m_backend.flush();
    if (m_backend.end && !m_backend.end->is_piped()) take_input();
}

void line_console::take_input() {
    constexpr std::size_t max_waiting = 4096;
    const auto typed = m_backend.end->poll(m_held.size() + (m_queued ? m_queued() : 0) < max_waiting);
    if (m_replaying) return;
    m_held += typed;
    if (m_held.empty() || (m_backend.end->is_piped() && m_guest_reads && !m_guest_reads())) return;
    type(std::exchange(m_held, {}));
}

}  // namespace fabricvp
