// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/growing_ring.h"

namespace fabricvp {

/// A queue that is mostly short: its first items lie inside of it, so who touches its owner has them. Those behind them
/// wait on the heap. \tparam Inside how many lie inside; a power of two
template <class T, std::uint16_t Inside>
class short_ring {
    static_assert(Inside && (Inside & (Inside - 1)) == 0);

public:
    bool empty() const { return m_size == 0; }
    std::size_t size() const { return m_size + m_more_size; }
    T& operator[](std::size_t n) { return n < m_size ? at(n) : (*m_more)[n - m_size]; }
    const T& operator[](std::size_t n) const { return const_cast<short_ring&>(*this)[n]; }
    T& front() { return m_inside[m_head]; }
    T& back() { return m_more_size ? m_more->back() : at(m_size - 1u); }

    void push_back(T&& item) {
        if (m_size == Inside) return push_behind(std::move(item));
        at(m_size++) = std::move(item);
    }
    /// Removes the first item and returns it.
    T take_front() {
        T item = std::move(front());
        m_head = (m_head + 1u) & (Inside - 1u);
        --m_size;
        if (m_more_size) move_up();
        return item;
    }
    void clear() {
        while (!empty()) take_front();
    }

private:
    T& at(std::size_t n) { return m_inside[(m_head + n) & (Inside - 1u)]; }
    [[gnu::noinline]] void push_behind(T&& item) {
        if (!m_more) m_more = std::make_unique<growing_ring<T>>();
        m_more->push_back(std::move(item));
        ++m_more_size;
    }
    void move_up() {
        at(m_size++) = m_more->take_front();
        --m_more_size;
    }

    std::unique_ptr<growing_ring<T>> m_more;
    std::uint32_t m_more_size = 0;
    std::uint16_t m_head = 0, m_size = 0;
    std::array<T, Inside> m_inside{};
};

}  // namespace fabricvp
