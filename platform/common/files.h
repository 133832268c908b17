// SPDX-License-Identifier: Apache-2.0
// Files as users of the command line expect them: one clear line on failure, nothing half written.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fabricvp {

/// Whole contents of a regular file. \throws input_error if it cannot be read or has more than `max_bytes`
std::string read_file(const std::string& path, std::size_t max_bytes);

/// Writes a file so that readers see either the old or the whole new contents. \throws input_error
void write_file(const std::string& path, const std::string& contents);

/// Writes several files into a folder (made if need be): all are complete under temporary names before the first one
/// gets its own. \param files name inside the folder and contents \param copies name and the file that it is a copy of
/// \throws input_error
void write_files(const std::string& folder, const std::vector<std::pair<std::string, std::string>>& files,
                 const std::map<std::string, std::string>& copies = {});

/// Whether two paths lead to one file, which may not be there yet. Devices and FIFOs, which several can write to, are
/// never the same.
bool is_same_file(const std::string& a, const std::string& b);

/// Holds a FIFO open while it is, lest its reader see an end.
using held_file = std::shared_ptr<void>;
/// Whether output can go there, without opening or creating it: not a folder, no FIFO without a reader, in a folder
/// that takes files. \returns what holds a FIFO open, to be kept until it is opened for good \throws input_error
[[nodiscard]] held_file check_writable(const std::string& path);
[[noreturn]] void throw_unwritable(const std::string& path, int error);

/// Makes a folder, with those around it. \throws input_error if it is not there then
void make_folder(const std::string& folder);

}  // namespace fabricvp
