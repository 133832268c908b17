// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace fabricvp {

/// Storage from a few large stretches that the host is asked to back by large pages: for the many objects of a
/// simulation that are used in no order, where looking up the host's small pages would cost as much as the work. What
/// is freed is kept for the next request of that size.
class large_pages {
public:
    static constexpr std::size_t alignment = 64;  ///< of every object: the host's cache lines

    /// \throws std::bad_alloc
    static void* allocate(std::size_t size);
    /// The same, all zeros; what has never been in use costs no writing.
    /// \throws std::bad_alloc
    static void* zeros(std::size_t size);
    /// \param size that of its allocation
    static void free(void* at, std::size_t size) noexcept;
};

/// A class that derives from this lives there. Its alignment is at most large_pages::alignment.
struct on_large_pages {
    static void* operator new(std::size_t size) { return large_pages::allocate(size); }
    static void* operator new(std::size_t size, std::align_val_t) { return large_pages::allocate(size); }
    static void operator delete(void* at, std::size_t size) noexcept { large_pages::free(at, size); }
    static void operator delete(void* at, std::size_t size, std::align_val_t) noexcept { large_pages::free(at, size); }
};

/// For tables there.
template <class T>
struct large_page_allocator {
    using value_type = T;
    large_page_allocator() = default;
    template <class U>
    large_page_allocator(const large_page_allocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(large_pages::allocate(n * sizeof(T))); }
    void deallocate(T* at, std::size_t n) noexcept { large_pages::free(at, n * sizeof(T)); }
    template <class U>
    bool operator==(const large_page_allocator<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const large_page_allocator<U>&) const {
        return false;
    }
};
template <class T>
using large_page_vector = std::vector<T, large_page_allocator<T>>;

}  // namespace fabricvp
