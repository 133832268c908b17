// SPDX-License-Identifier: Apache-2.0
// Reference-counted objects that go back to their pool instead of the heap. A transaction derives from pooled<> and has
// a recycle() that drops what it refers to:
//
//     struct packet : pooled<packet> {
//         buffer_slice data;
//         void recycle() { data = {}; }
//     };
//     pool<packet> packets;
//     pooled_ptr<packet> p = packets.make();
//
// Everything is single-threaded; counts are plain integers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>

namespace fabricvp {

template <class T>
class pool;

template <class T>
using pooled_ptr = boost::intrusive_ptr<T>;

template <class T>
class pooled {
public:
    pooled() = default;
    pooled(const pooled&) = delete;
    pooled& operator=(const pooled&) = delete;

    unsigned references() const { return m_references; }

    friend void intrusive_ptr_add_ref(T* object) { ++static_cast<pooled*>(object)->m_references; }
    friend void intrusive_ptr_release(T* object) {
        pooled* p = object;
        if (--p->m_references == 0) return_to_pool(object, p->m_home);
    }

private:
    friend class pool<T>;
    static void return_to_pool(T* object, void* home) { pool<T>::return_to_pool(object, home); }
    void* m_home = nullptr;
    unsigned m_references = 0;  // last: what derives from this may have something small behind it
};

/// Objects may outlive their pool; the last one then frees the storage.
template <class T>
class pool {
public:
    pool() : m_store(new store) {}
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    ~pool() {
        m_store->orphaned = true;
        if (m_store->live == 0) delete m_store;
    }

    pooled_ptr<T> make() {
        if (m_store->free.empty()) {
            m_store->all.push_back(std::make_unique<T>());
            m_store->free.reserve(m_store->all.size());  // so that giving back never allocates
            m_store->all.back()->m_home = m_store;
            m_store->free.push_back(m_store->all.back().get());
        }
        T* object = m_store->free.back();
        m_store->free.pop_back();
        if (!m_store->free.empty())  // whose turn is next
            for (std::size_t at = 0; at < sizeof(T) && at < 320; at += 64)
                __builtin_prefetch(reinterpret_cast<const char*>(m_store->free.back()) + at, 1);
        ++m_store->live;
        return pooled_ptr<T>(object);
    }

    /// Objects in use, and objects ever made.
    std::size_t live() const { return m_store->live; }
    std::size_t made() const { return m_store->all.size(); }

private:
    friend class pooled<T>;
    struct store {
        std::vector<std::unique_ptr<T>> all;
        std::vector<T*> free;
        std::size_t live = 0;
        bool orphaned = false;
    };
    static void return_to_pool(T* object, void* home) {
        object->recycle();
        auto* s = static_cast<store*>(home);
        s->free.push_back(object);
        if (--s->live == 0 && s->orphaned) delete s;
    }

    store* m_store;
};

}  // namespace fabricvp
