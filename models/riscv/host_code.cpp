// SPDX-License-Identifier: Apache-2.0
#include "riscv/host_code.h"

#include <sys/mman.h>

namespace fabricvp::riscv {

std::byte* host_code::allocate(std::size_t size) {
    size = (size + 15) & ~std::size_t{15};
    if (size > chunk_bytes) return nullptr;
    if (m_left < size) {
        if (m_chunks.size() == max_chunks) return nullptr;
        void* const chunk =
            mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (chunk == MAP_FAILED) return nullptr;
        m_chunks.push_back(chunk);
        m_next = static_cast<std::byte*>(chunk);
        m_left = chunk_bytes;
    }
    auto* const at = m_next;
    m_next += size;
    m_left -= size;
    return at;
}

void host_code::clear() {
    for (void* chunk : m_chunks) munmap(chunk, chunk_bytes);
    m_chunks.clear();
    m_next = nullptr;
    m_left = 0;
}

}  // namespace fabricvp::riscv
