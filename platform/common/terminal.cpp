// SPDX-License-Identifier: Apache-2.0
#include "platform/common/terminal.h"

#include <algorithm>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"

namespace fabricvp {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

bool g_shown = false;      // a status line stands there
bool g_line_start = true;  // the cursor is where a line begins

}  // namespace

std::optional<std::size_t> terminal_width(int descriptor) {
    winsize size{};
    if (!isatty(descriptor)) return std::nullopt;
    constexpr std::size_t usual = 80;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
    return size.ws_col;
}

std::size_t columns(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
}

std::string_view clipped(std::string_view text, std::size_t width) {
    std::size_t end = 0;
    for (std::size_t taken = 0; end < text.size(); ++end)
        if (!continues(text[end]) && taken++ == width) break;
    return text.substr(0, end);
}

std::string wrapped(std::string_view line, std::size_t indent, std::size_t width, std::string_view lead) {
    const auto before = std::string(std::min(indent, width / 2), ' ').append(lead);
    std::string out;
    while (columns(line) > width) {
        const auto word = line.find_first_not_of(' ');
        const auto head = clipped(line, width + 1);
        auto blank = head.rfind(' ');
        if (blank == std::string_view::npos || blank < word) blank = line.find(' ', word);  // the word is longer
        const auto next = blank == std::string_view::npos ? blank : line.find_first_not_of(' ', blank);
        if (next == std::string_view::npos) break;
        out.append(line.substr(0, line.find_last_not_of(' ', blank) + 1)).append("\n").append(before);
        line.remove_prefix(next);
        if (out.find('\n') == out.rfind('\n'))
            width -= std::min(width - 1, columns(before));  // of the second and later
    }
    return out.append(line);
}

std::string fitted(std::string_view line, std::size_t indent, std::string_view lead) {
    const auto width = terminal_width(STDOUT_FILENO);
    return width ? wrapped(line, indent, *width, lead) : std::string(line);
}

namespace status_line {

void show(std::string_view text) {
    const auto width = terminal_width(STDERR_FILENO);
    if (!width || !g_line_start) return;
    std::fflush(stdout);
    std::string line = "\r\033[K";
    line += clipped(text, *width - 1);  // a full line would move the cursor into the next one
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    g_shown = true;
}

void erase() {
    if (!g_shown) return;
    g_shown = false;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
}

void share_with_log() {
    static const bool once = [] {
        set_log_sink([write = set_log_sink({})](log_level level, const std::string& source, const std::string& text) {
            erase();
            write(level, source, text);
        });
        return true;
    }();
    (void)once;
}

void before_output(std::string_view text) {
    if (text.empty()) return;
    erase();
    g_line_start = text.back() == '\n' || text.back() == '\r';
}

}  // namespace status_line
}  // namespace fabricvp
