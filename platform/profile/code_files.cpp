// SPDX-License-Identifier: Apache-2.0
#include "platform/profile/code_files.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "platform/common/input_error.h"

namespace fabricvp {

debug_file& debug_files::open(const std::string& path) {
    auto& file = m_files[path];
    try {
        if (!file) file = std::make_unique<debug_file>(path);
    } catch (const input_error&) {
        m_files.erase(path);
        throw;
    }
    return *file;
}

debug_file* debug_files::find(const std::string& path) {
    try {
        return &open(path);
    } catch (const input_error&) {
        return nullptr;
    }
}

debug_file* code_files::at(std::uint64_t address, const debug_file::reader& read) {
    if (const auto known = m_known.find(address); known != m_known.end()) return known->second;
    if (!m_asked) m_files = m_candidates();
    m_asked = true;
    std::array<char, 2> code{};  // of the shortest instruction
    debug_file* found = nullptr;
    if (read(address, code.data(), code.size()))
        for (auto* const file : m_files) {
            const auto own = file->bytes(address, code.size());
            if (own.empty() || std::memcmp(own.data(), code.data(), code.size()) != 0) continue;
            found = file;
            break;
        }
    return m_known[address] = found;
}

}  // namespace fabricvp
