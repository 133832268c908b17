// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/sparse_memory.h"
#include "riscv/block.h"
#include "riscv/host_code.h"

namespace fabricvp::riscv {

/// Decoded blocks by the host address of their code. Memory comes from chunks that are given back all at once.
class block_cache {
public:
    block_cache();

    /// The block whose code starts at `host`, or null.
    block* find(const std::uint8_t* host, bool float_enabled) const;
    /// Makes room for a block with `op_count` operations; insert() publishes it.
    block* allocate(unsigned op_count);
    /// \param memory, offset where the code lies; its page carries (or gets) the mark `decoded`
    void insert(block* b, sparse_memory& memory, std::uint64_t offset);
    /// The rest of a block whose last instruction straddles a page border.
    void insert_tail(block* b, sparse_memory& memory, std::uint64_t offset, std::uint64_t length);

    /// Forgets blocks with code in the range. \returns true if there were any
    bool invalidate(const sparse_memory& memory, std::uint64_t offset, std::uint64_t size);
    /// True if blocks have code in the page.
    bool holds_page(const sparse_memory& memory, std::uint64_t page) const;
    void clear();
    /// True if clear() is due before more is allocated. Only between blocks.
    bool full() const { return m_used > max_bytes; }

    host_code translated;  ///< what blocks were translated to; given back with them

private:
    static constexpr std::size_t chunk_bytes = 64 * 1024, max_bytes = 48 * 1024 * 1024;

    struct code_page {
        std::uint64_t lines = 0;  ///< one bit for each 64 bytes that hold code
        std::vector<block*> blocks;
    };
    static std::size_t hash(const std::uint8_t* host);
    static std::uint64_t line_bits(std::uint64_t offset, std::uint64_t size);
    void add_to_page(block* b, sparse_memory& memory, std::uint64_t offset, std::uint64_t length);
    bool invalidate_in_page(const std::uint8_t* page, std::uint64_t from, std::uint64_t to);
    void grow();

    std::vector<block*> m_table;  // open addressing; dead blocks stay until the table is rebuilt
    std::size_t m_entries = 0;
    std::unordered_map<const std::uint8_t*, code_page> m_pages;  // by host address of the page
    std::vector<std::unique_ptr<std::byte[]>> m_chunks;
    std::size_t m_chunk_left = 0, m_used = 0;
    std::byte* m_next = nullptr;
};

}  // namespace fabricvp::riscv
