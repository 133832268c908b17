// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/large_pages.h"

using namespace fabricvp;

namespace {

struct alignas(64) wide : on_large_pages {
    std::uint8_t data[192];
};
struct narrow : on_large_pages {
    std::uint8_t data[24];
};

template <class T>
void fill_and_check(std::size_t count) {
    std::vector<std::unique_ptr<T>> all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<T>());
        CHECK(reinterpret_cast<std::uintptr_t>(all.back().get()) % alignof(T) == 0);
        std::memset(all.back()->data, static_cast<int>(i), sizeof all.back()->data);
        if (i % 3 == 2) all[i - 1].reset();  // its place is for a later one
    }
    for (std::size_t i = 0; i < count; ++i)
        if (all[i])
            for (const auto byte : all[i]->data) REQUIRE(byte == static_cast<std::uint8_t>(i));
}

}  // namespace

TEST_CASE("objects on large pages are aligned and keep apart, whatever is freed between") {
    fill_and_check<wide>(2000);
    fill_and_check<narrow>(2000);
    fill_and_check<wide>(200'000 / sizeof(wide));
}

TEST_CASE("objects larger than a stretch of large pages find place") {
    constexpr std::size_t size = std::size_t{40} << 20;
    auto* at = static_cast<char*>(large_pages::allocate(size));
    at[0] = at[size - 1] = 1;
    auto* small = static_cast<char*>(large_pages::allocate(64));
    CHECK((small + 64 <= at || small >= at + size));
    large_pages::free(small, 64);
    large_pages::free(at, size);
}
