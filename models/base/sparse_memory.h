// SPDX-License-Identifier: Apache-2.0
// Bytes of a memory: a reserved stretch of host address space, of which the system backs only pages that were touched
// (64 GiB cost what is used, and a forked child shares what it does not write).
//
// Pages carry marks, which every writer honours so that caches of decoded instructions, LR/SC reservations and direct
// access by harts are right against DMA, debuggers and loaders:
//  - decoded:  a hart holds decoded instructions of this page; a write must tell the observers,
//  - reserved: a hart that is not running holds an LR reservation in this page; a write must tell the observers,
//  - device:   a device has touched this page; harts reach it only through the calendar, at their local time. A hart
//  that
//              then walks through the page, to rising addresses without the device coming back, gets it back; one that
//              polls a word there does not,
//  - watched:  a hart sleeps until what it polls in this page is written; a writer tells the observers first,
//  - faulty:   cells of this page are wrong and a code protects it; who reads asks the checker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fabricvp {

/// Told when a page becomes restricted or a restricted page is written. Harts implement it.
class memory_observer {
public:
    /// A mark was set: direct mappings of the page must be dropped (writable ones for decoded and reserved, all for
    /// device).
    virtual void page_marked(class sparse_memory& memory, std::uint64_t page, unsigned mark) = 0;
    /// Bytes [offset, offset + size) of a decoded or reserved page were written by `writer` (null: not a hart).
    virtual void marked_page_written(class sparse_memory& memory, std::uint64_t offset, std::uint64_t size,
                                     const memory_observer* writer) = 0;
    /// Bytes of a watched page are about to be written, or (not `writes`) a device is about to reach them.
    /// \returns whether the page is to stay watched
    virtual bool watched_page_reached(class sparse_memory&, std::uint64_t /*offset*/, std::uint64_t /*size*/,
                                      bool /*writes*/) {
        return false;
    }

protected:
    ~memory_observer() = default;
};

/// Knows of words whose cells are wrong (memory_code.h).
class memory_checker {
public:
    /// Bytes of a faulty page are read. \returns whether they can be
    virtual bool reached(std::uint64_t offset, std::uint64_t size) = 0;
    /// Bytes of a faulty page were written.
    virtual void overwritten(std::uint64_t offset, std::uint64_t size) = 0;

protected:
    ~memory_checker() = default;
};

class sparse_memory {
public:
    static constexpr unsigned page_bits = 12;
    static constexpr std::uint64_t page_size = std::uint64_t{1} << page_bits;
    enum mark : unsigned { decoded = 1, reserved = 2, device = 4, watched = 8, faulty = 16 };

    /// \param size bytes, a multiple of the page size. \throws std::runtime_error if the host refuses the reservation.
    explicit sparse_memory(std::uint64_t size);
    ~sparse_memory();
    sparse_memory(const sparse_memory&) = delete;
    sparse_memory& operator=(const sparse_memory&) = delete;

    std::uint64_t size() const { return m_size; }

    /// The bytes themselves, for harts with a direct mapping and for readers. Writers use write().
    std::uint8_t* data() { return m_data; }
    const std::uint8_t* data() const { return m_data; }

    bool contains(std::uint64_t offset, std::uint64_t size) const {
        return offset <= m_size && size <= m_size - offset;
    }

    /// Copies bytes; the range must lie inside the memory.
    void read(std::uint64_t offset, void* to, std::size_t size) const;
    void write(std::uint64_t offset, const void* from, std::size_t size, const memory_observer* writer = nullptr);
    void fill(std::uint64_t offset, std::uint8_t byte, std::uint64_t size);
    /// Tells who watches them that bytes are about to be written through data(); write() and fill() do so themselves.
    void announce_write(std::uint64_t offset, std::uint64_t size) { announce(offset, size, true); }
    /// Tells observers about a write that was made through data() (atomics, for instance).
    void written(std::uint64_t offset, std::uint64_t size, const memory_observer* writer = nullptr);

    unsigned marks(std::uint64_t page) const { return m_marks[page]; }
    void set_mark(std::uint64_t page, unsigned mark);
    void clear_mark(std::uint64_t page, unsigned mark) {
        m_marks[page] = static_cast<std::uint8_t>(m_marks[page] & ~mark);
    }
    /// Marks all pages of a range as touched by a device; inexpensive when they are.
    void touch_by_device(std::uint64_t offset, std::uint64_t size);
    /// A hart has reached a byte over the bus; may end the device mark of its page.
    void reached_by_hart(std::uint64_t offset);
    /// Whether reached_by_hart() would change nothing now.
    bool was_reached_by_hart(std::uint64_t offset) const {
        const auto page = offset >> page_bits;
        return !(m_marks[page] & device) || (offset & (page_size - 1)) <= m_walks[page].last;
    }
    /// Sets the mark `watched`, without telling the observers.
    void watch_page(std::uint64_t page) { m_marks[page] = static_cast<std::uint8_t>(m_marks[page] | watched); }

    void set_checker(memory_checker& checker) { m_checker = &checker; }
    /// Sets the mark `faulty`; harts drop what they have decoded of the page.
    void mark_faulty(std::uint64_t page);
    /// Whether bytes can be read: false where a code has found what it cannot correct.
    bool readable(std::uint64_t offset, std::uint64_t size) const {
        return !m_checker || size == 0 || !is_faulty(offset, size) || m_checker->reached(offset, size);
    }

    void attach(memory_observer& observer) { m_observers.push_back(&observer); }
    void detach(memory_observer& observer);

    /// Gives all pages back to the host; they read as zero. Marks are cleared, observers told.
    void clear();

private:
    struct walk {             // of harts through a page that a device has touched
        std::uint16_t last;   // highest offset since the device was there
        std::uint16_t steps;  // that were higher than all before
    };
    std::uint64_t walks_offset() const { return ((m_size >> page_bits) + 7) / 8 * 8; }
    std::uint64_t reserved_for_pages() const { return walks_offset() + (m_size >> page_bits) * sizeof(walk); }

    void announce(std::uint64_t offset, std::uint64_t size, bool writes);
    bool is_faulty(std::uint64_t offset, std::uint64_t size) const {
        for (auto page = offset >> page_bits; page <= (offset + size - 1) >> page_bits; ++page)
            if (m_marks[page] & faulty) return true;
        return false;
    }

    std::uint64_t m_size;
    std::uint8_t* m_data = nullptr;
    std::uint8_t* m_marks = nullptr;  // one a page, reserved the same way
    walk* m_walks = nullptr;          // likewise
    std::vector<memory_observer*> m_observers;
    memory_checker* m_checker = nullptr;  // null: no code protects the memory
};

}  // namespace fabricvp
