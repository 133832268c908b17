// SPDX-License-Identifier: Apache-2.0
#include "base/large_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

namespace fabricvp {

static std::size_t rounded(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

#ifdef __SANITIZE_ADDRESS__  // sees objects that the C library has allocated, one by one

void* large_pages::allocate(std::size_t size) {
    if (void* const at = std::aligned_alloc(alignment, rounded(size, alignment))) return at;
    throw std::bad_alloc();
}

void* large_pages::zeros(std::size_t size) {
    void* const at = allocate(size);
    std::memset(at, 0, size);
    return at;
}

void large_pages::free(void* at, std::size_t) noexcept { std::free(at); }

#else

namespace {

constexpr std::size_t large_page = std::size_t{1} << 21, min_arena = 8 * large_page;

struct arena {
    char* next = nullptr;
    char* end = nullptr;
    std::unordered_map<std::size_t, void*> freed;  // by size: lists through the blocks themselves; looked up only
};

/// Never destroyed: objects with static storage may free theirs later.
arena& all() {
    static auto* const s = new arena;
    return *s;
}

void extend(arena& s, std::size_t size) {
    const std::size_t arena_size = rounded(size, min_arena);
    void* const p = mmap(nullptr, arena_size + large_page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    s.next = reinterpret_cast<char*>(rounded(reinterpret_cast<std::uintptr_t>(p), large_page));
    s.end = s.next + arena_size;
#ifdef MADV_HUGEPAGE
    madvise(s.next, arena_size, MADV_HUGEPAGE);  // a hint: if the host refuses, pages stay small
#endif
}

}  // namespace

/// Storage that was freed, null if there is none of that size.
static void* reuse(arena& s, std::size_t size) {
    auto& freed = s.freed[size];
    void* const at = freed;
    if (at) std::memcpy(&freed, at, sizeof freed);
    return at;
}

static void* fresh(arena& s, std::size_t size) {
    if (size > static_cast<std::size_t>(s.end - s.next)) extend(s, size);
    void* const at = s.next;
    s.next += size;
    return at;
}

void* large_pages::allocate(std::size_t size) {
    size = rounded(size, alignment);
    if (void* const at = reuse(all(), size)) return at;
    return fresh(all(), size);
}

void* large_pages::zeros(std::size_t size) {
    size = rounded(size, alignment);
    void* const at = reuse(all(), size);
    return at ? std::memset(at, 0, size) : fresh(all(), size);
}

void large_pages::free(void* at, std::size_t size) noexcept {
    if (!at) return;
    auto& freed = all().freed.find(rounded(size, alignment))->second;
    std::memcpy(at, &freed, sizeof freed);
    freed = at;
}

#endif

}  // namespace fabricvp
