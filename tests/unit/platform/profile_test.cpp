// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "platform/profile/flame_graph.h"
#include "platform/profile/sampling.h"

namespace fabricvp {

TEST_CASE("each period has one sample, somewhere in it") {
    const sampling s{1000, 0};
    bool early = false, late = false;
    for (ticks begin = 0; begin < 100'000; begin += 1000) {
        CHECK(s.between(begin, begin + 1000) == 1);
        const auto at = s.next(begin);
        CHECK((at >= begin && at < begin + 1000));
        CHECK(s.between(at, at + 1) == 1);
        CHECK(s.next(at + 1) >= begin + 1000);
        early = early || at < begin + 250;
        late = late || at >= begin + 750;
    }
    CHECK((early && late));
}

TEST_CASE("samples begin when they are asked for") {
    const sampling s{10, 25}, none;
    CHECK(s.between(0, 25) == 0);
    CHECK(s.next(0) >= 25);
    CHECK(s.between(0, 1000) == s.between(25, 1000));
    CHECK(none.between(0, 1000) == 0);
    CHECK(none.next(5) == never);
}

TEST_CASE("stretches that follow each other have the samples of the whole") {
    const sampling s{7, 13};
    std::uint64_t sum = 0;
    ticks end = 0;
    for (ticks t = 0; t < 1000; t = end) {
        end = t + 1 + t % 11;
        sum += s.between(t, end);
    }
    CHECK(sum == s.between(0, end));
    CHECK(sum > (end - 13) / 7 - 2);
}

TEST_CASE("names in a page are no markup") {
    const auto page = flame_graph_page({{"a;</script><b>", 3}, {"a;c", 4}}, "x < y & z", 1000);
    CHECK(page.find("</script><b>") == std::string::npos);
    CHECK(page.find("x &lt; y &amp; z") != std::string::npos);
    CHECK(page.find("\"a;c\":4") != std::string::npos);
}

}  // namespace fabricvp
