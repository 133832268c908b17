// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/parameters.h"

namespace fabricvp::virtio {

/// What becomes of what a guest writes to a disk: it may not; it is kept for this run; it goes into the file.
enum class disk_mode { read_only, copy_on_write, writable };

/// The bytes of a disk: a file, with what a run has changed over it if the file must not change.
class disk_image {
public:
    /// \param path a regular file, a multiple of 512 bytes long; empty: `blank` bytes of zeros
    /// \throws std::invalid_argument if it cannot be opened so
    disk_image(const std::string& path, disk_mode mode, std::uint64_t blank);
    ~disk_image();
    disk_image(const disk_image&) = delete;
    disk_image& operator=(const disk_image&) = delete;

    std::uint64_t size() const { return m_size; }

    /// The range must lie inside. \returns false if the file could not be read or written
    bool read(std::uint64_t offset, std::uint8_t* to, std::size_t bytes) const;
    bool write(std::uint64_t offset, const std::uint8_t* from, std::size_t bytes);
    /// Lets the host's storage have what was written.
    bool flush();

private:
    static constexpr std::size_t page_size = 4096;
    bool read_file(std::uint64_t offset, std::uint8_t* to, std::size_t bytes) const;

    int m_file = -1;
    std::uint64_t m_size = 0;
    bool m_keeps_changes;  // in m_changed
    std::map<std::uint64_t, std::array<std::uint8_t, page_size>> m_changed;
};

}  // namespace fabricvp::virtio

namespace fabricvp {
template <>
struct choice_traits<virtio::disk_mode> {
    static constexpr std::pair<virtio::disk_mode, const char*> names[] = {
        {virtio::disk_mode::read_only, "read_only"},
        {virtio::disk_mode::copy_on_write, "copy_on_write"},
        {virtio::disk_mode::writable, "writable"}};
};
}  // namespace fabricvp
