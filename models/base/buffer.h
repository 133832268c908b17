// SPDX-License-Identifier: Apache-2.0
// Bytes under way. A buffer is allocated where data enter a protocol, travels by reference and is never copied; who
// wants a part of it holds a slice. Storage is pooled by size, so that no packet costs a heap allocation.
#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/smart_ptr/intrusive_ptr.hpp>

namespace fabricvp {

class buffer {
public:
    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;

    std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(this + 1); }
    const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(this + 1); }
    /// Bytes; at least what was asked for.
    std::size_t capacity() const { return m_capacity; }
    unsigned references() const { return m_references; }

    /// Buffers in use in this process.
    static std::size_t live();

private:
    friend boost::intrusive_ptr<buffer> allocate_buffer(std::size_t bytes);
    friend void intrusive_ptr_add_ref(buffer* b) { ++b->m_references; }
    friend void intrusive_ptr_release(buffer* b) {
        if (--b->m_references == 0) release(b);
    }
    buffer(std::size_t capacity, unsigned size_class) : m_capacity(capacity), m_class(size_class) {}
    static void release(buffer* b);

    std::size_t m_capacity;
    buffer* m_next_free = nullptr;
    unsigned m_references = 0;
    unsigned m_class;
};

using buffer_ptr = boost::intrusive_ptr<buffer>;

/// A buffer of at least `bytes` bytes with undefined contents. \throws std::bad_alloc
buffer_ptr allocate_buffer(std::size_t bytes);

/// Part of a buffer.
struct buffer_slice {
    buffer_ptr storage;
    std::size_t offset = 0;
    std::size_t length = 0;

    std::uint8_t* data() const { return storage->data() + offset; }
    explicit operator bool() const { return storage != nullptr; }
    /// \throws std::out_of_range if the part does not lie inside this slice.
    buffer_slice part(std::size_t from, std::size_t bytes) const;
};

/// A slice over a buffer of its own.
inline buffer_slice allocate_slice(std::size_t bytes) { return {allocate_buffer(bytes), 0, bytes}; }

}  // namespace fabricvp
