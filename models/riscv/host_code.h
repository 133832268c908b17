// SPDX-License-Identifier: Apache-2.0
// Memory for code that is executed on the host. It is private to the process, so that each branch of a forked machine
// has its own.
#pragma once

#include <cstddef>
#include <vector>

namespace fabricvp::riscv {

class host_code {
public:
    host_code() = default;
    host_code(const host_code&) = delete;
    host_code& operator=(const host_code&) = delete;
    ~host_code() { clear(); }

    /// Room for `size` bytes, aligned to 16; null where the system gives no such memory, or enough is used.
    std::byte* allocate(std::size_t size);
    /// Gives back what was not needed of the last one.
    void shrink(std::size_t by) { m_next -= by & ~std::size_t{15}, m_left += by & ~std::size_t{15}; }
    void clear();

private:
    static constexpr std::size_t chunk_bytes = 1024 * 1024, max_chunks = 64;
    std::vector<void*> m_chunks;
    std::byte* m_next = nullptr;
    std::size_t m_left = 0;
};

}  // namespace fabricvp::riscv
