// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace fabricvp::gpu {

/// A queue that allocates only when it grows beyond what it has ever held.
template <class T>
class fifo {
public:
    bool empty() const { return m_size == 0; }
    std::size_t size() const { return m_size; }
    T& front() { return m_items[m_first]; }

    void push(T item) {
        if (m_size == m_items.size()) grow();
        m_items[(m_first + m_size++) & (m_items.size() - 1)] = std::move(item);
    }
    T pop() {
        T item = std::move(m_items[m_first]);
        m_items[m_first] = T{};
        m_first = (m_first + 1) & (m_items.size() - 1);
        --m_size;
        return item;
    }
    void clear() {
        while (!empty()) pop();
    }

private:
    void grow() {
        std::vector<T> larger(m_items.empty() ? 16 : 2 * m_items.size());  // a power of two
        for (std::size_t i = 0; i < m_size; ++i) larger[i] = std::move(m_items[(m_first + i) & (m_items.size() - 1)]);
        m_items = std::move(larger);
        m_first = 0;
    }

    std::vector<T> m_items;
    std::size_t m_first = 0, m_size = 0;
};

}  // namespace fabricvp::gpu
