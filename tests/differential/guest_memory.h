// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "layout.h"

namespace differential {

/// Memory of a guest in a file that another process can map; removed with the object.
class guest_memory {
public:
    guest_memory();
    ~guest_memory();
    guest_memory(const guest_memory&) = delete;
    guest_memory& operator=(const guest_memory&) = delete;

    static constexpr std::uint64_t size = std::uint64_t(LAYOUT_END) - LAYOUT_DRAM;
    std::uint8_t* bytes() { return m_bytes; }
    const std::uint8_t* at(std::uint64_t address) const { return m_bytes + (address - LAYOUT_DRAM); }
    std::uint64_t word(std::uint64_t address) const;
    const std::string& path() const { return m_path; }
    /// All bytes zero again.
    void clear();

private:
    std::string m_path;
    int m_file = -1;
    std::uint8_t* m_bytes = nullptr;
};

}  // namespace differential
