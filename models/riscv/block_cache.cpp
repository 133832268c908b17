// SPDX-License-Identifier: Apache-2.0
#include "riscv/block_cache.h"

#include <algorithm>
#include <new>
#include <utility>

namespace fabricvp::riscv {

block_cache::block_cache() : m_table(1024, nullptr) {}

std::size_t block_cache::hash(const std::uint8_t* host) {
    return (reinterpret_cast<std::uint64_t>(host) >> 1) * 0x9e3779b97f4a7c15u >> 32;
}

block* block_cache::find(const std::uint8_t* host, bool float_enabled) const {
    const auto mask = m_table.size() - 1;
    for (auto i = hash(host) & mask; m_table[i]; i = (i + 1) & mask) {
        auto* b = m_table[i];
        if (b->host == host && !b->dead && b->float_enabled == float_enabled) return b;
    }
    return nullptr;
}

block* block_cache::allocate(unsigned op_count) {
    const auto bytes = sizeof(block) + op_count * (sizeof(block_op) + sizeof(block_op_position));
    const auto rounded = (bytes + 15) & ~std::size_t{15};
    if (m_chunk_left < rounded) {
        m_chunks.push_back(std::make_unique<std::byte[]>(chunk_bytes));
        m_next = m_chunks.back().get();
        m_chunk_left = chunk_bytes;
        m_used += chunk_bytes;
    }
    auto* b = new (m_next) block;
    m_next += rounded;
    m_chunk_left -= rounded;
    b->op_count = op_count;
    return b;
}

void block_cache::grow() {
    std::vector<block*> old;
    old.swap(m_table);
    const auto live = std::count_if(old.begin(), old.end(), [](const block* b) { return b && !b->dead; });
    std::size_t size = 1024;
    while (size < static_cast<std::size_t>(live) * 4) size *= 2;
    m_table.assign(size, nullptr);
    m_entries = 0;
    for (auto* b : old) {
        if (!b || b->dead) continue;
        auto i = hash(b->host) & (size - 1);
        while (m_table[i]) i = (i + 1) & (size - 1);
        m_table[i] = b;
        ++m_entries;
    }
}

void block_cache::insert(block* b, sparse_memory& memory, std::uint64_t offset) {
    if ((m_entries + 1) * 2 > m_table.size()) grow();
    auto i = hash(b->host) & (m_table.size() - 1);
    while (m_table[i]) i = (i + 1) & (m_table.size() - 1);
    m_table[i] = b;
    ++m_entries;
    const auto in_page = sparse_memory::page_size - offset % sparse_memory::page_size;
    add_to_page(b, memory, offset, std::min<std::uint64_t>(b->length, in_page));
}

void block_cache::insert_tail(block* b, sparse_memory& memory, std::uint64_t offset, std::uint64_t length) {
    add_to_page(b, memory, offset, length);
}

std::uint64_t block_cache::line_bits(std::uint64_t offset, std::uint64_t size) {
    const auto first = offset % sparse_memory::page_size / 64;
    const auto last = (offset % sparse_memory::page_size + size - 1) / 64;
    return (~std::uint64_t{0} << first) & (~std::uint64_t{0} >> (63 - last));
}

void block_cache::add_to_page(block* b, sparse_memory& memory, std::uint64_t offset, std::uint64_t length) {
    const auto page = offset >> sparse_memory::page_bits;
    auto& p = m_pages[memory.data() + (page << sparse_memory::page_bits)];
    p.lines |= line_bits(offset, length);
    p.blocks.push_back(b);
    memory.set_mark(page, sparse_memory::decoded);
}

bool block_cache::invalidate_in_page(const std::uint8_t* page, std::uint64_t from, std::uint64_t to) {
    const auto at = m_pages.find(page);
    if (at == m_pages.end()) return false;
    auto& p = at->second;
    if (!(p.lines & line_bits(from, to - from))) return false;
    // A straddling block's range in its second page starts at the page's start.
    const auto range = [page](const block& b) {
        const bool here = b.host >= page && b.host < page + sparse_memory::page_size;
        const std::uint64_t first = here ? static_cast<std::uint64_t>(b.host - page) : 0;
        return std::pair(first, here ? std::min<std::uint64_t>(first + b.length, sparse_memory::page_size) : 2);
    };
    bool any = false;
    for (auto* b : p.blocks) {
        const auto [first, end] = range(*b);
        if (b->dead || first >= to || from >= end) continue;
        b->dead = true;
        any = true;
    }
    if (!any) return false;  // data beside code: programs store there often
    p.blocks.erase(std::remove_if(p.blocks.begin(), p.blocks.end(), [](const block* b) { return b->dead; }),
                   p.blocks.end());
    p.lines = 0;
    for (const auto* b : p.blocks) {
        const auto [first, end] = range(*b);
        p.lines |= line_bits(first, end - first);
    }
    if (p.blocks.empty()) m_pages.erase(at);
    return any;
}

bool block_cache::invalidate(const sparse_memory& memory, std::uint64_t offset, std::uint64_t size) {
    bool any = false;
    if (size > std::uint64_t{64} * sparse_memory::page_size) {  // a whole memory was cleared
        any = !m_pages.empty();
        clear();
        return any;
    }
    const auto end = offset + size;
    while (offset < end) {
        const auto page = offset & ~(sparse_memory::page_size - 1);
        const auto to = std::min(end, page + sparse_memory::page_size);
        any |= invalidate_in_page(memory.data() + page, offset - page, to - page);
        offset = to;
    }
    return any;
}

bool block_cache::holds_page(const sparse_memory& memory, std::uint64_t page) const {
    return m_pages.count(memory.data() + (page << sparse_memory::page_bits)) != 0;
}

void block_cache::clear() {
    std::fill(m_table.begin(), m_table.end(), nullptr);
    m_entries = 0;
    m_pages.clear();
    m_chunks.clear();
    m_chunk_left = m_used = 0;
    m_next = nullptr;
    translated.clear();
}

}  // namespace fabricvp::riscv
