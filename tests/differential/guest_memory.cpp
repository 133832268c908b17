// SPDX-License-Identifier: Apache-2.0
#include "guest_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace differential {

guest_memory::guest_memory() {
    const bool has_shm = access("/dev/shm", W_OK) == 0;
    m_path =
        (has_shm ? std::string("/dev/shm") : std::filesystem::temp_directory_path().string()) + "/differential-XXXXXX";
    m_file = mkstemp(m_path.data());
    if (m_file < 0) throw std::system_error(errno, std::generic_category(), m_path);
    if (ftruncate(m_file, size) != 0) throw std::system_error(errno, std::generic_category(), m_path);
    auto* const p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, m_file, 0);
    if (p == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    m_bytes = static_cast<std::uint8_t*>(p);
}

guest_memory::~guest_memory() {
    if (m_bytes) munmap(m_bytes, size);
    if (m_file >= 0) close(m_file);
    unlink(m_path.c_str());
}

std::uint64_t guest_memory::word(std::uint64_t address) const {
    std::uint64_t v;
    std::memcpy(&v, at(address), sizeof v);
    return v;
}

void guest_memory::clear() {
    if (ftruncate(m_file, 0) != 0 || ftruncate(m_file, size) != 0)
        throw std::system_error(errno, std::generic_category(), m_path);
}

}  // namespace differential
