// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/calendar.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

using record = std::vector<std::pair<ticks, std::string>>;
record seen;

struct probe {
    explicit probe(std::string name) : name(std::move(name)) {}
    void fire() {
        seen.emplace_back(calendar::current().now(), name);
        if (then) then();
    }
    std::string name;
    std::function<void()> then;
    calendar_event event{method<&probe::fire>, this};
};

SC_MODULE(foreign) {
    SC_HAS_PROCESS(foreign);
    explicit foreign(sc_core::sc_module_name) { SC_THREAD(run); }
    void run() {
        for (;;) {
            wait(step);
            if (action) action();
        }
    }
    sc_core::sc_event step;
    std::function<void()> action;
};

calendar& timeline() {
    static calendar c;
    return c;
}
foreign& other() {
    static foreign f{"foreign"};
    return f;
}
// Elaboration ends with the first run.
const bool built = (timeline(), other(), true);

}  // namespace

TEST_CASE("events run in time order, equal times in insertion order") {
    auto& c = timeline();
    seen.clear();
    const ticks t0 = c.now();
    probe a{"a"}, b{"b"}, d{"d"}, e{"e"}, f{"f"};
    c.schedule(a.event, t0 + 5_us);
    c.schedule(b.event, t0 + 3);
    c.schedule(d.event, t0 + 5_us);
    c.schedule(e.event, t0 + 5_us - 1);
    // By the time it is inserted the wheel has moved close to it, yet it comes after the earlier ones.
    e.then = [&] { c.schedule(f.event, t0 + 5_us); };
    REQUIRE(c.run_until(t0 + 10_us) == t0 + 5_us);  // nothing is left to do
    REQUIRE(c.now() == t0 + 5_us);
    REQUIRE(seen == record{{t0 + 3, "b"}, {t0 + 5_us - 1, "e"}, {t0 + 5_us, "a"}, {t0 + 5_us, "d"}, {t0 + 5_us, "f"}});
}
