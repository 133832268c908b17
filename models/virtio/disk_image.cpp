// SPDX-License-Identifier: Apache-2.0
#include "virtio/disk_image.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace fabricvp::virtio {

disk_image::disk_image(const std::string& path, disk_mode mode, std::uint64_t blank)
    : m_size(blank), m_keeps_changes(mode == disk_mode::copy_on_write || path.empty()) {
    if (path.empty()) return;
    m_file = ::open(path.c_str(), (mode == disk_mode::writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (m_file < 0)
        throw std::invalid_argument(fmt::format("{}: cannot be opened{}: {}", path,
                                                mode == disk_mode::writable ? " for writing" : "",
                                                std::strerror(errno)));
    const auto reject = [&](const std::string& why) {
        ::close(m_file);
        throw std::invalid_argument(fmt::format("{}: {}", path, why));
    };
    struct stat s {};
    if (::fstat(m_file, &s) != 0) reject(std::strerror(errno));
    if (!S_ISREG(s.st_mode)) reject("is no regular file");
    if (s.st_size == 0 || s.st_size % 512) reject(fmt::format("has {} bytes: a disk has a multiple of 512", s.st_size));
    // A disk that writes has its image for itself, in this machine and beside others.
    if (::flock(m_file, (mode == disk_mode::writable ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        reject(mode == disk_mode::writable
                   ? "another disk uses it, here or in another run: a writable image is for one disk alone"
                   : "another disk writes to it, here or in another run");
    m_size = static_cast<std::uint64_t>(s.st_size);
}

disk_image::~disk_image() {
    if (m_file >= 0) ::close(m_file);
}

bool disk_image::read_file(std::uint64_t offset, std::uint8_t* to, std::size_t bytes) const {
    if (m_file < 0) {
        std::memset(to, 0, bytes);
        return true;
    }
    while (bytes > 0) {
        const auto n = ::pread(m_file, to, bytes, static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n;
        offset += static_cast<std::uint64_t>(n);
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

bool disk_image::read(std::uint64_t offset, std::uint8_t* to, std::size_t bytes) const {
    if (m_changed.empty()) return read_file(offset, to, bytes);
    while (bytes > 0) {
        const auto inside = static_cast<std::size_t>(offset % page_size);
        const auto here = std::min(bytes, page_size - inside);
        const auto changed = m_changed.find(offset / page_size);
        if (changed != m_changed.end())
            std::memcpy(to, changed->second.data() + inside, here);
        else if (!read_file(offset, to, here))
            return false;
        to += here;
        offset += here;
        bytes -= here;
    }
    return true;
}

bool disk_image::write(std::uint64_t offset, const std::uint8_t* from, std::size_t bytes) {
    while (bytes > 0 && !m_keeps_changes) {
        const auto n = ::pwrite(m_file, from, bytes, static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        from += n;
        offset += static_cast<std::uint64_t>(n);
        bytes -= static_cast<std::size_t>(n);
    }
    while (bytes > 0) {
        const auto inside = static_cast<std::size_t>(offset % page_size);
        const auto here = std::min(bytes, page_size - inside);
        auto changed = m_changed.find(offset / page_size);
        if (changed == m_changed.end()) {
            const auto begin = offset / page_size * page_size;
            std::array<std::uint8_t, page_size> fresh{};
            if (!read_file(begin, fresh.data(),
                           static_cast<std::size_t>(std::min<std::uint64_t>(page_size, m_size - begin))))
                return false;
            changed = m_changed.emplace(offset / page_size, fresh).first;
        }
        std::memcpy(changed->second.data() + inside, from, here);
        from += here;
        offset += here;
        bytes -= here;
    }
    return true;
}

bool disk_image::flush() { return m_keeps_changes || ::fdatasync(m_file) == 0; }

}  // namespace fabricvp::virtio
