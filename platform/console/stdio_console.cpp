// SPDX-License-Identifier: Apache-2.0
#include "platform/console/stdio_console.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "platform/common/input_error.h"
#include "platform/common/terminal.h"

namespace fabricvp {
namespace {

constexpr char ctrl_a = 0x01;
constexpr char ctrl_bracket = 0x1d;

// One terminal a process: all ways in which the process ends restore it.
termios g_cooked;
volatile bool g_raw = false;

bool enter_raw_mode(bool interrupts) {
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &g_cooked) != 0) return false;
    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) return false;  // in the background: touching it would stop us
    static const bool registered = (std::atexit(restore_terminal), true);
    (void)registered;
    auto raw = g_cooked;
    cfmakeraw(&raw);
    raw.c_oflag |= OPOST;
    if (interrupts) {
        raw.c_lflag |= ISIG;
        raw.c_cc[VQUIT] = raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    }
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return false;
    g_raw = true;
    return true;
}

}  // namespace

void restore_terminal() {
    if (!g_raw) return;
    g_raw = false;
    tcsetattr(STDIN_FILENO, TCSANOW, &g_cooked);
}

stdio_console::stdio_console(bool interrupts)
    : m_terminal(enter_raw_mode(interrupts)), m_output_terminal(isatty(STDOUT_FILENO)) {
    m_input_ended = isatty(STDIN_FILENO) && !m_terminal;
}

stdio_console::~stdio_console() {
    try {
        flush();
    } catch (const input_error&) {
        // told before
    }
    if (m_terminal) restore_terminal();
}

void stdio_console::abandon() {
    m_unwritten.clear();
    m_terminal = false;
    g_raw = false;
}

void stdio_console::write(std::string_view text) {
    m_unwritten += text;
    if (m_unwritten.size() > 4096) flush();
}

void stdio_console::flush() {
    std::string_view rest = m_unwritten;
    if (!rest.empty() && m_output_terminal) status_line::before_output(rest);
    while (!rest.empty()) {
        const auto done = ::write(STDOUT_FILENO, rest.data(), rest.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EAGAIN) {
            pollfd out{STDOUT_FILENO, POLLOUT, 0};
            ::poll(&out, 1, 100);
            continue;
        }
        if (done < 0 && errno != EPIPE && errno != EIO) {
            const auto why = errno;
            m_unwritten.clear();
            throw input_error(std::string("standard output: cannot write: ") + std::strerror(why));
        }
        if (done <= 0) break;  // the reader is gone
        rest.remove_prefix(static_cast<std::size_t>(done));
    }
    m_unwritten.clear();
}

std::string stdio_console::poll(bool room) {
    flush();
    if (!room) return {};
    pollfd in{STDIN_FILENO, POLLIN, 0};
    if (m_input_ended || ::poll(&in, 1, 0) <= 0) return {};
    char buffer[1024];
    const auto got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) m_input_ended = true;
    if (got <= 0) return {};
    const std::string_view typed(buffer, static_cast<std::size_t>(got));
    return m_terminal ? without_escapes(typed) : std::string(typed);
}

std::string stdio_console::without_escapes(std::string_view typed) {
    std::string out;
    for (const char c : typed) {
        if (m_escape) {
            m_escape = false;
            if (c == 'x' || c == 'X') m_quit = true;
            if (c == ctrl_a) out += c;
        } else if (c == ctrl_a) {
            m_escape = true;
        } else if (c == ctrl_bracket) {
            m_quit = true;
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace fabricvp
