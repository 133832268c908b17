// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fabricvp {

/// Items under small numbers, for whatever comes back with a tag or a cookie. A slot that was freed last is used first;
/// the table grows when all are in use.
template <class T>
class slot_table {
public:
    using slot = std::uint32_t;

    slot insert(T item) {
        slot n;
        if (m_free.empty()) {
            n = static_cast<slot>(m_entries.size());
            m_entries.push_back({std::move(item), true});
        } else {
            n = m_free.back();
            m_free.pop_back();
            m_entries[n].item = std::move(item);
            m_entries[n].used = true;
        }
        return n;
    }
    /// Frees a slot in use. \returns its item
    T remove(slot n) {
        entry& e = m_entries[n];
        e.used = false;
        m_free.push_back(n);
        return std::exchange(e.item, T{});
    }
    bool contains(std::uint64_t n) const { return n < m_entries.size() && m_entries[n].used; }
    T& operator[](slot n) { return m_entries[n].item; }
    const T& operator[](slot n) const { return m_entries[n].item; }
    bool empty() const { return size() == 0; }
    std::size_t size() const { return m_entries.size() - m_free.size(); }

    /// Frees all slots; numbers begin at 0 again.
    void clear() {
        m_entries.clear();
        m_free.clear();
    }
    /// Calls `f(item)` for each slot in use, in order of the numbers.
    template <class F>
    void for_each(F f) {
        for (auto& e : m_entries)
            if (e.used) f(e.item);
    }

private:
    struct entry {
        T item;
        bool used;
    };
    std::vector<entry> m_entries;
    std::vector<slot> m_free;
};

}  // namespace fabricvp
