// SPDX-License-Identifier: Apache-2.0
// A recording as a file: "fabricvp recording\n", the version in four bytes, then blocks: a letter, sizes before and
// after compression (zlib) and a CRC-32 of all else in four bytes each (the lowest first), the contents. The head comes
// in block H; transactions, walks and streams in any number of blocks T, W and S; launches and host in L; E ends the
// file and says how much there was.
#pragma once

#include <cstdio>
#include <string>

#include "gpu/replay/recording.h"
#include "gpu/replay/recording_bytes.h"

namespace fabricvp::gpu::replay {

class recording_writer {
public:
    /// \throws recording_error if the file cannot be made
    explicit recording_writer(const std::string& path);
    /// A file that is not finished is removed.
    ~recording_writer();
    recording_writer(const recording_writer&) = delete;
    recording_writer& operator=(const recording_writer&) = delete;

    void add(const transaction& t);
    void add(const walk& w);
    void add(const stream& s);
    /// \throws recording_error if it cannot be written
    void finish(const recording_head& head, const std::vector<launch>& launches, const std::vector<host_event>& host);
    std::uint64_t bytes() const { return m_written; }
    /// With what waits to be compressed.
    std::uint64_t size() const { return m_written + m_transactions.size() + m_walks.size() + m_streams.size(); }
    /// Why it cannot be written any more (errno); 0 while it can. finish() throws then.
    int error() const { return m_error; }

private:
    void block(char letter, const std::string& contents);
    void flush(char letter, std::string& contents, std::size_t min_bytes);
    void raw(const std::string& bytes);

    std::string m_path, m_part;
    std::FILE* m_file = nullptr;
    int m_error = 0;
    std::string m_transactions, m_walks, m_streams;
    std::uint64_t m_transaction_count = 0, m_walk_count = 0, m_stream_count = 0, m_written = 0;
    std::uint64_t m_line = 0;
};

/// \throws recording_error
recording read_recording(const std::string& path);

}  // namespace fabricvp::gpu::replay
