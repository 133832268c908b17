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

TEST_CASE("zeros are zeros, and so are those that had been something else before") {
    constexpr std::size_t size = 4'000'064;
    const auto all_zero = [](const char* at) { return at[0] == 0 && std::memcmp(at, at + 1, size - 1) == 0; };
    auto* first = static_cast<char*>(large_pages::zeros(size));
    CHECK(all_zero(first));
    std::memset(first, 0x5a, size);
    large_pages::free(first, size);
    auto* second = static_cast<char*>(large_pages::zeros(size));
#ifndef __SANITIZE_ADDRESS__  // which holds back what is freed
    CHECK(static_cast<void*>(second) == static_cast<void*>(first));
#endif
    CHECK(all_zero(second));
    large_pages::free(second, size);
}

TEST_CASE("tables that grow on large pages keep what they hold") {
    large_page_vector<std::uint64_t> numbers;
    for (std::uint64_t n = 0; n < 100'000; ++n) numbers.push_back(n * n);
    for (std::uint64_t n = 0; n < numbers.size(); ++n) REQUIRE(numbers[n] == n * n);
    CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % large_pages::alignment == 0);
}
