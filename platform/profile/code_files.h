// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/profile/debug_file.h"

namespace fabricvp {

/// ELF files, each read once.
class debug_files {
public:
    /// \throws input_error
    debug_file& open(const std::string& path);
    /// The same, but null for what is no ELF file.
    debug_file* find(const std::string& path);
    /// Files that the user names, which come first. \throws input_error
    void add_named(const std::string& path) { m_named.push_back(&open(path)); }
    const std::vector<debug_file*>& named() const { return m_named; }
    const std::map<std::string, std::unique_ptr<debug_file>>& all() const { return m_files; }

private:
    std::map<std::string, std::unique_ptr<debug_file>> m_files;
    std::vector<debug_file*> m_named;
};

/// Tells from which file the code of a program comes: the first one that has the same bytes where they are executed.
class code_files {
public:
    /// \param candidates asked for when code is executed first
    explicit code_files(std::function<std::vector<debug_file*>()> candidates) : m_candidates(std::move(candidates)) {}

    /// Null: none. \param address of an instruction \param read memory of the program
    debug_file* at(std::uint64_t address, const debug_file::reader& read);

private:
    std::function<std::vector<debug_file*>()> m_candidates;
    std::vector<debug_file*> m_files;
    bool m_asked = false;
    std::unordered_map<std::uint64_t, debug_file*> m_known;
};

}  // namespace fabricvp
