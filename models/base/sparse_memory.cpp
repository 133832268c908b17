// SPDX-License-Identifier: Apache-2.0
#include "base/sparse_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace fabricvp {

namespace {

std::uint8_t* reserve(std::uint64_t size) {
    void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        throw std::runtime_error(fmt::format("cannot reserve {} bytes of host address space: {}", size,
                                             std::generic_category().message(errno)));
    return static_cast<std::uint8_t*>(p);
}

}  // namespace

sparse_memory::sparse_memory(std::uint64_t size) : m_size(size) {
    if (size == 0 || size % page_size != 0)
        throw std::invalid_argument(fmt::format("memory of {} bytes is not a multiple of {} bytes", size, page_size));
    m_data = reserve(size);
    try {
        m_marks = reserve(reserved_for_pages());
    } catch (...) {
        munmap(m_data, size);
        throw;
    }
    m_walks = reinterpret_cast<walk*>(m_marks + walks_offset());
}

sparse_memory::~sparse_memory() {
    munmap(m_data, m_size);
    munmap(m_marks, reserved_for_pages());
}

void sparse_memory::read(std::uint64_t offset, void* to, std::size_t size) const {
    std::memcpy(to, m_data + offset, size);
}

void sparse_memory::write(std::uint64_t offset, const void* from, std::size_t size, const memory_observer* writer) {
    announce(offset, size, true);
    std::memcpy(m_data + offset, from, size);
    written(offset, size, writer);
}

void sparse_memory::fill(std::uint64_t offset, std::uint8_t byte, std::uint64_t size) {
    announce(offset, size, true);
    std::memset(m_data + offset, byte, size);
    written(offset, size);
}

void sparse_memory::announce(std::uint64_t offset, std::uint64_t size, bool writes) {
    if (size == 0) return;
    const std::uint64_t last = (offset + size - 1) >> page_bits;
    for (std::uint64_t page = offset >> page_bits; page <= last; ++page) {
        if (!(m_marks[page] & watched)) continue;
        const std::uint64_t from = std::max(offset, page << page_bits);
        const std::uint64_t to = std::min(offset + size, (page + 1) << page_bits);
        bool stays = false;
        for (auto* observer : m_observers)
            stays = observer->watched_page_reached(*this, from, to - from, writes) || stays;
        if (!stays) clear_mark(page, watched);
    }
}

void sparse_memory::written(std::uint64_t offset, std::uint64_t size, const memory_observer* writer) {
    if (size == 0) return;
    announce(offset, size, true);  // if the writer has not, it is late: who sleeps may overwrite what was written
    if (m_checker && is_faulty(offset, size)) m_checker->overwritten(offset, size);
    const std::uint64_t last = (offset + size - 1) >> page_bits;
    for (std::uint64_t page = offset >> page_bits; page <= last; ++page) {
        if (!(m_marks[page] & (decoded | reserved))) continue;
        const std::uint64_t from = std::max(offset, page << page_bits);
        const std::uint64_t to = std::min(offset + size, (page + 1) << page_bits);
        for (auto* observer : m_observers) observer->marked_page_written(*this, from, to - from, writer);
    }
}

void sparse_memory::set_mark(std::uint64_t page, unsigned mark) {
    const unsigned added = mark & ~marks(page);
    if (!added) return;
    m_marks[page] = static_cast<std::uint8_t>(m_marks[page] | added);
    for (auto* observer : m_observers) observer->page_marked(*this, page, added);
}

void sparse_memory::mark_faulty(std::uint64_t page) {
    if (m_marks[page] & faulty) return;
    set_mark(page, faulty);
    for (auto* observer : m_observers) observer->marked_page_written(*this, page << page_bits, page_size, nullptr);
}

void sparse_memory::touch_by_device(std::uint64_t offset, std::uint64_t size) {
    if (size == 0) return;
    announce(offset, size, false);
    const std::uint64_t last = (offset + size - 1) >> page_bits;
    for (std::uint64_t page = offset >> page_bits; page <= last; ++page) {
        if (m_marks[page] & device) {
            m_walks[page] = {};
        } else {
            m_walks[page] = {};
            set_mark(page, device);
        }
    }
}

void sparse_memory::reached_by_hart(std::uint64_t offset) {
    // Words that a loop polls in turn, one for each of eight devices say, are no walk; a short table is.
    constexpr unsigned steps_of_a_walk = 12;
    const auto page = offset >> page_bits;
    if (!(m_marks[page] & device)) return;
    auto& w = m_walks[page];
    const auto at = static_cast<std::uint16_t>(offset & (page_size - 1));
    if (at <= w.last) return;
    w.last = at;
    if (++w.steps < steps_of_a_walk) return;
    announce(page << page_bits, page_size, false);
    clear_mark(page, device);
}

void sparse_memory::detach(memory_observer& observer) {
    m_observers.erase(std::remove(m_observers.begin(), m_observers.end(), &observer), m_observers.end());
}

void sparse_memory::clear() {
    for (auto* observer : m_observers) observer->watched_page_reached(*this, 0, m_size, true);
    if (m_checker) m_checker->overwritten(0, m_size);
    madvise(m_data, m_size, MADV_DONTNEED);
    madvise(m_marks, reserved_for_pages(), MADV_DONTNEED);
    for (auto* observer : m_observers) observer->marked_page_written(*this, 0, m_size, nullptr);
}

}  // namespace fabricvp
