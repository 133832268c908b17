// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include <array>
#include <new>
#include <stdexcept>

namespace fabricvp {

namespace {

constexpr unsigned smallest_bits = 6;  // 64 B
constexpr unsigned classes = 15;       // … 1 MiB; larger ones come from the heap and go back to it
constexpr unsigned unpooled = classes;

std::array<buffer*, classes> free_lists{};
std::size_t in_use = 0;

unsigned class_of(std::size_t bytes) {
    unsigned c = 0;
    while (c < classes && (std::size_t{1} << (smallest_bits + c)) < bytes) ++c;
    return c;
}

}  // namespace

std::size_t buffer::live() { return in_use; }

buffer_ptr allocate_buffer(std::size_t bytes) {
    const unsigned c = class_of(bytes);
    buffer* b;
    if (c != unpooled && free_lists[c]) {
        b = free_lists[c];
        free_lists[c] = b->m_next_free;
    } else {
        const std::size_t capacity = c == unpooled ? bytes : std::size_t{1} << (smallest_bits + c);
        if (capacity > SIZE_MAX - sizeof(buffer)) throw std::bad_alloc();
        b = new (::operator new(sizeof(buffer) + capacity)) buffer(capacity, c);
    }
    ++in_use;
    return buffer_ptr(b);
}

void buffer::release(buffer* b) {
    --in_use;
    if (b->m_class == unpooled) {
        b->~buffer();
        ::operator delete(b);
        return;
    }
    b->m_next_free = free_lists[b->m_class];
    free_lists[b->m_class] = b;
}

buffer_slice buffer_slice::part(std::size_t from, std::size_t bytes) const {
    if (from > length || bytes > length - from) throw std::out_of_range("part lies outside of its slice");
    return {storage, offset + from, bytes};
}

}  // namespace fabricvp
