// SPDX-License-Identifier: Apache-2.0
#include "platform/console/file_console.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/log.h"
#include "base/parameters.h"
#include "base/quantity.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"

namespace fabricvp {

file_console::file_console(std::string path, std::uint64_t max_bytes)
    : m_path(std::move(path)), m_max_bytes(max_bytes) {
    m_held = check_writable(m_path);
}

file_console::~file_console() {
    if (m_file >= 0) ::close(m_file);
}

void file_console::open() {
    if (m_file >= 0) return;
    m_file = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    if (m_file < 0) throw_unwritable(m_path, errno);
    m_held.reset();
    struct stat s {};
    m_limited = ::fstat(m_file, &s) == 0 && S_ISREG(s.st_mode);
}

void file_console::write(std::string_view text) {
    if (text.empty() || m_full) return;
    open();
    if (m_limited && m_bytes + text.size() > m_max_bytes) {
        m_full = true;
        const auto limit = quantity_text(parameter_kind::byte_size, m_max_bytes);
        m_unwritten += text.substr(0, m_max_bytes - m_bytes);
        m_unwritten += fmt::format("\n[the console's file ends here: limit of {}]\n", limit);
        log_message(log_level::warning, "console",
                    fmt::format("{} has reached its limit of {}; what the guest prints from now on is not in it",
                                m_path, limit));
    } else {
        m_unwritten += text;
    }
    m_bytes += text.size();
    if (m_unwritten.size() > 4096) flush();
}

void file_console::flush() {
    const auto pending = std::exchange(m_unwritten, {});  // a failure is reported once
    for (std::string_view rest = pending; !rest.empty();) {
        const auto done = ::write(m_file, rest.data(), rest.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EAGAIN) {  // a FIFO whose reader is slow
            pollfd out{m_file, POLLOUT, 0};
            ::poll(&out, 1, 100);
            continue;
        }
        if (done < 0 && errno == EPIPE) return;  // the reader is gone
        if (done <= 0) throw_unwritable(m_path, done < 0 ? errno : EIO);
        rest.remove_prefix(static_cast<std::size_t>(done));
    }
}

std::string file_console::poll(bool /*room*/) {
    open();
    flush();
    return {};
}

void file_console::close() {
    if (m_file < 0) return;
    flush();
    if (::close(std::exchange(m_file, -1)) != 0) throw_unwritable(m_path, errno);
}

void file_console::abandon() {
    m_unwritten.clear();
    if (m_file >= 0) ::close(std::exchange(m_file, -1));
}

}  // namespace fabricvp
