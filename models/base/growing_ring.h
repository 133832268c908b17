// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include <boost/circular_buffer.hpp>

namespace fabricvp {

/// A queue in a ring of memory. It allocates when it grows beyond what it has ever held, and then doubles.
template <class T>
class growing_ring : private boost::circular_buffer<T> {
    using ring = boost::circular_buffer<T>;

public:
    using typename ring::const_iterator;
    using typename ring::iterator;
    using typename ring::value_type;
    growing_ring() = default;

    using ring::back;
    using ring::begin;
    using ring::clear;
    using ring::empty;
    using ring::end;
    using ring::front;
    using ring::size;
    using ring::operator[];

    void push_back(const T& item) {
        if (ring::full()) return push_back(T(item));  // growing would move what `item` may refer to
        ring::push_back(item);
    }
    void push_back(T&& item) {
        if (ring::full()) {
            T kept(std::move(item));
            grow();
            ring::push_back(std::move(kept));
        } else {
            ring::push_back(std::move(item));
        }
    }
    void push_front(T&& item) {
        T kept(std::move(item));
        if (ring::full()) grow();
        ring::push_front(std::move(kept));
    }
    void pop_front() { ring::pop_front(); }
    /// Removes the first item and returns it.
    T take_front() {
        T item(std::move(front()));
        ring::pop_front();
        return item;
    }

private:
    static constexpr std::size_t initial_capacity = 16;
    [[gnu::noinline]] void grow() { ring::set_capacity(ring::capacity() ? 2 * ring::capacity() : initial_capacity); }
};

}  // namespace fabricvp
