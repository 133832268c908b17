// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "platform/profile/code_files.h"

namespace fabricvp {

/// Executions of instructions, by path of their ELF file and address in it.
using execution_table = std::map<std::string, std::map<std::uint64_t, std::uint64_t>>;

/// How often instructions of programs were executed, by their address in the ELF file.
class execution_counts {
public:
    /// The file is listed, whether or not any of it is executed.
    void add_file(debug_file& file) { m_counts[file.path()].first = &file; }
    void add(debug_file& file, std::uint64_t address, std::uint64_t times) {
        add_file(file);
        m_counts[file.path()].second[address] += times;
    }
    execution_table table() const;
    /// A tracefile as geninfo(1) of lcov describes it. A line counts as often as the most executed of its instructions.
    /// Lines of a source that is in several ELF files are added up.
    std::string tracefile() const;

private:
    std::map<std::string, std::pair<debug_file*, std::map<std::uint64_t, std::uint64_t>>> m_counts;  // by path
};

}  // namespace fabricvp
