// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "platform/common/files.h"
#include "platform/console/console_backend.h"

namespace fabricvp {

/// Writes what the guest prints into a file as it comes. The file is opened, and what was in it cleared, when the run
/// begins: a run that is rejected before leaves it as it was.
class file_console final : public console_backend {
public:
    /// \param max_bytes a regular file ends there, with a line that says so
    /// \throws input_error if the file cannot be written (a folder, a FIFO without a reader)
    file_console(std::string path, std::uint64_t max_bytes);
    ~file_console() override;

    /// \throws input_error
    void write(std::string_view text) override;
    /// \throws input_error
    std::string poll(bool room = true) override;
    bool may_type() const override { return false; }
    /// \throws input_error
    void close() override;
    void abandon() override;

private:
    void open();
    void flush();

    std::string m_path, m_unwritten;
    std::uint64_t m_max_bytes, m_bytes = 0;
    held_file m_held;
    int m_file = -1;
    bool m_limited = false;  ///< a regular file
    bool m_full = false;
};

}  // namespace fabricvp
