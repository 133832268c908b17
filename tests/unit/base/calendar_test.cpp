// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <random>
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

ticks kernel_time() { return sc_core::sc_time_stamp().value(); }

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

/// Third-party code: a thread that does what the test says whenever `step` is notified, and every `period` if it has
/// one.
SC_MODULE(foreign) {
    SC_HAS_PROCESS(foreign);
    explicit foreign(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(run); }
    void run() {
        for (;;) {
            wait(step);
            do {
                if (action) action();
                if (period) wait(sc_core::sc_time::from_value(period), step);
            } while (period);
        }
    }
    sc_core::sc_event step;
    ticks period = 0;
    std::function<void()> action;
};

std::unique_ptr<calendar> the_calendar;
bool second_refused = false;
foreign* one;
foreign* two;

/// Elaboration happens once, before the first run.
struct bench {
    bench() : c(machine()) {
        seen.clear();
        t0 = c.now();
    }
    ~bench() {
        for (auto* f : {one, two}) {
            f->period = 0;
            f->action = nullptr;
            f->step.notify(sc_core::SC_ZERO_TIME);
        }
        c.run_until(c.now() + 1_us);
    }
    static calendar& machine() {
        if (!the_calendar) {
            the_calendar = std::make_unique<calendar>();
            try {
                calendar("second");
            } catch (const std::logic_error&) {
                second_refused = true;
            }
            one = new foreign("one");
            two = new foreign("two");
            the_calendar->run_until(0);
        }
        return *the_calendar;
    }
    calendar& c;
    ticks t0;
};

}  // namespace

TEST_CASE_METHOD(bench, "events run in time order, equal times in insertion order") {
    probe a{"a"}, b{"b"}, d{"d"}, e{"e"}, f{"f"};
    c.schedule(a.event, t0 + 5_us);
    c.schedule(b.event, t0 + 3);
    c.schedule(d.event, t0 + 5_us);
    c.schedule(e.event, t0 + 5_us - 1);
    // By the time it is inserted the wheel has moved close to it, yet it comes after the earlier ones.
    e.then = [&] { c.schedule(f.event, t0 + 5_us); };
    c.run_until(t0 + 10_us);
    REQUIRE(seen == record{{t0 + 3, "b"}, {t0 + 5_us - 1, "e"}, {t0 + 5_us, "a"}, {t0 + 5_us, "d"}, {t0 + 5_us, "f"}});
}

TEST_CASE_METHOD(bench, "at equal times ranks come last and in order, whenever they were scheduled") {
    probe a{"a"}, b{"b"}, d{"d"}, e{"e"}, f{"f"};
    a.event.set_rank(7);
    b.event.set_rank(3);
    for (auto* p : {&a, &b, &d, &e}) c.schedule(p->event, t0 + 5);
    b.then = [&] { c.schedule(f.event, t0 + 5); };
    c.run_until(t0 + 5);
    REQUIRE(seen == record{{t0 + 5, "d"}, {t0 + 5, "e"}, {t0 + 5, "b"}, {t0 + 5, "f"}, {t0 + 5, "a"}});
}

TEST_CASE_METHOD(bench, "after an interruption all goes on as if there had been none") {
    const auto run = [&](bool interrupted) {
        seen.clear();
        const auto begin = c.now();
        probe a{"a"}, b{"b"}, d{"d"}, e{"e"}, early{"early"}, late{"late"};
        e.event.set_rank(4);
        for (auto* p : {&e, &a, &b}) c.schedule(p->event, begin + 5);
        c.schedule(early.event, begin + 4);
        c.schedule(late.event, begin + 6);
        a.then = [&] { c.schedule(d.event, begin + 5); };
        one->period = 2;
        one->action = [&] { seen.emplace_back(c.now(), "foreign"); };
        one->step.notify(sc_core::sc_time::from_value(3));
        unsigned stops = 0;
        if (interrupted) c.interrupt_at(0);
        do {
            c.run_until(begin + 9);
            stops += c.interrupted();
        } while (c.interrupted());
        c.interrupt_at(never);
        one->period = 0;
        one->action = nullptr;
        CHECK(c.now() == begin + 9);
        c.run_until(begin + 1_us);
        CHECK(stops == (interrupted ? 2 : 0));  // not at 5, when foreign code is to come
        auto relative = seen;
        for (auto& r : relative) r.first -= begin;
        return relative;
    };
    const auto undisturbed = run(false);
    CHECK(undisturbed.size() > 8);
    CHECK(run(true) == undisturbed);

    // The first event at that time or later is the last one; a stop() is no interruption.
    seen.clear();
    const auto begin = c.now();
    probe a{"a"}, b{"b"}, d{"d"};
    c.schedule(a.event, begin + 10);
    c.schedule(b.event, begin + 30);
    c.schedule(d.event, begin + 40);
    c.interrupt_at(begin + 20);
    c.run_until(begin + 100);
    CHECK(c.interrupted());
    CHECK(seen == record{{begin + 10, "a"}, {begin + 30, "b"}});
    d.then = [&] { c.stop(); };
    c.run_until(begin + 100);
    CHECK_FALSE(c.interrupted());
    c.interrupt_at(never);
}

TEST_CASE_METHOD(bench, "who lags catches up at the end of a run, to where the calendar has come") {
    struct late : lagging {
        void catch_up() override { came.push_back(calendar::current().reached()); }
        std::vector<calendar::position> came;
    } l;
    probe a{"a"};
    a.event.set_rank(9);
    a.then = [&] {
        c.catch_up();
        c.go_on_at(a.event, t0 + 30);
        CHECK(c.now() == t0 + 30);
    };
    c.schedule(a.event, t0 + 20);
    probe b{"b"};
    c.schedule(b.event, t0 + 500);
    c.attach(l);
    c.run_until(t0 + 100);
    REQUIRE(l.came.size() == 2);
    CHECK((l.came[0].when == t0 + 20 && l.came[0].rank == 9));
    CHECK((l.came[1].when == t0 + 101 && l.came[1].rank == 0));
    b.then = [&] { c.stop(); };
    c.run_until(t0 + 1000);
    REQUIRE(l.came.size() == 3);
    CHECK((l.came[2].when == t0 + 500 && l.came[2].rank == 1));
    c.detach(l);
    c.run_until(t0 + 2000);
    CHECK(l.came.size() == 3);
}

TEST_CASE_METHOD(bench, "a callback may go on until something else is due, ends or looks") {
    probe a{"a"}, b{"b"};
    const auto allowed_at = [&](ticks when) {
        bool allowed = false;
        a.then = [&] { allowed = c.may_go_on_at(when); };
        const auto begin = c.now();
        c.schedule(a.event, begin + 20);
        c.run_until(begin + 1'000'000);
        return allowed;
    };
    CHECK(allowed_at(c.now() + 30));
    CHECK(allowed_at(c.now() + 999'999));
    CHECK_FALSE(allowed_at(c.now() + 1'000'001));  // beyond the run
    for (const ticks delay : {40u, 400'000u}) {
        c.schedule(b.event, c.now() + delay);
        CHECK(allowed_at(c.now() + delay - 1));
        c.schedule(b.event, c.now() + delay);
        CHECK_FALSE(allowed_at(c.now() + delay));
    }
    c.interrupt_at(c.now() + 21);
    CHECK(allowed_at(c.now() + 30));
    c.interrupt_at(c.now() + 20);
    CHECK_FALSE(allowed_at(c.now() + 30));
    c.interrupt_at(never);
}

TEST_CASE_METHOD(bench, "the kernel follows a callback that went on, and none may schedule before it") {
    probe a{"a"}, b{"b"};
    const auto begin = c.now();
    bool refused = false;
    a.then = [&] {
        const auto executed = c.executed(), steps = c.steps();
        c.go_on_at(a.event, begin + 300);
        CHECK(c.executed() == executed);
        CHECK(c.steps() == steps + 1);
        try {
            c.schedule(b.event, begin + 299);
        } catch (const std::logic_error&) {
            refused = true;
        }
        c.stop();
    };
    c.schedule(a.event, begin + 20);
    CHECK(c.run_until(begin + 1000) == begin + 300);
    CHECK(kernel_time() == begin + 300);
    CHECK(refused);
    c.run_until(begin + 1000);
}

TEST_CASE_METHOD(bench, "random schedules, moves and cancellations agree with a sorted list") {
    struct item {
        void fire() {
            order->push_back(this);
            times->push_back(calendar::current().now());
            if (react) react();
        }
        std::vector<item*>* order;
        std::vector<ticks>* times;
        std::function<void()> react;
        calendar_event event{method<&item::fire>, this};
    };
    std::mt19937_64 random(7);
    std::vector<item*> order;
    std::vector<ticks> times;
    std::vector<std::unique_ptr<item>> items;
    std::map<std::pair<ticks, std::uint64_t>, item*> reference;  // (time, rank and insertion) → item
    std::map<item*, std::pair<ticks, std::uint64_t>> where;
    std::uint64_t insertion = 0;
    std::size_t executed = 0, mismatches = 0;
    const auto put = [&](item* i) {
        // Delays of every magnitude, often equal ones.
        const ticks delay = (random() >> 12 >> random() % 52) & ~(random() % 3 == 0 ? ticks{0xff} : ticks{0});
        const ticks when = c.now() + delay;
        if (auto at = where.find(i); at != where.end()) reference.erase(at->second);
        where[i] = {when, std::uint64_t{i->event.rank()} << 40 | insertion++};
        reference[where[i]] = i;
        c.schedule(i->event, when);
    };
    for (int n = 0; n < 500; ++n) {
        items.push_back(std::make_unique<item>());
        item* i = items.back().get();
        if (n % 3 == 0) i->event.set_rank(static_cast<std::uint32_t>(random() % 4));
        i->order = &order;
        i->times = &times;
        i->react = [&, i] {
            if (reference.empty() || reference.begin()->second != i || reference.begin()->first.first != c.now())
                ++mismatches;
            reference.erase(where[i]);
            where.erase(i);
            const ticks next = reference.empty() ? never : reference.begin()->first.first;
            if (c.next_event_time() != next) ++mismatches;
            if (++executed >= 60'000) return c.stop();
            put(i);
            item* other = items[random() % items.size()].get();
            if (random() % 4 == 0) put(other);
            if (random() % 8 == 0 && other->event.scheduled()) {
                c.cancel(other->event);
                reference.erase(where[other]);
                where.erase(other);
                put(items[random() % items.size()].get());
            }
        };
        put(i);
    }
    c.run_until(c.now() + ticks_per_second * 1'000'000);
    CHECK(executed == 60'000);
    CHECK(mismatches == 0);
    CHECK(std::is_sorted(times.begin(), times.end()));
    CHECK(c.now() == times.back());
}

TEST_CASE_METHOD(bench, "an event can be moved, cancelled and destroyed while it is scheduled") {
    probe a{"a"}, b{"b"}, d{"d"};
    auto gone = std::make_unique<probe>("gone");
    c.schedule(a.event, t0 + 10);
    c.schedule(b.event, t0 + 20);
    c.schedule(gone->event, t0 + 15);
    c.schedule(d.event, t0 + 20);
    CHECK(a.event.when() == t0 + 10);
    CHECK(c.next_event_time() == t0 + 10);
    c.schedule(a.event, t0 + 20);  // behind b and d now
    c.cancel(b.event);
    CHECK_FALSE(b.event.scheduled());
    CHECK(b.event.when() == never);
    gone.reset();
    c.cancel(b.event);  // harmless
    const auto before = c.executed();
    c.run_until(t0 + 100);
    CHECK(seen == record{{t0 + 20, "d"}, {t0 + 20, "a"}});
    CHECK(c.executed() == before + 2);
    CHECK(c.next_event_time() == never);
}

TEST_CASE_METHOD(bench, "the limit is inclusive, and the run can go on") {
    probe a{"a"}, b{"b"}, d{"d"};
    c.schedule(a.event, t0 + 1_ms);
    c.schedule(b.event, t0 + 1_ms + 1);
    CHECK(c.run_until(t0 + 1_ms) == t0 + 1_ms);
    CHECK(kernel_time() == t0 + 1_ms);
    CHECK(c.now() == t0 + 1_ms);
    CHECK(seen == record{{t0 + 1_ms, "a"}});
    // What is inserted at the present time runs even if the time does not advance.
    c.schedule(d.event, t0 + 1_ms);
    CHECK(c.run_until(t0 + 1_ms) == t0 + 1_ms);
    CHECK(seen.back() == std::make_pair(t0 + 1_ms, std::string("d")));
    CHECK(c.run_until(t0 + 1_ms + 5) == t0 + 1_ms + 1);
    CHECK(seen.back() == std::make_pair(t0 + 1_ms + 1, std::string("b")));
    CHECK(c.run_until(t0) == t0 + 1_ms + 1);  // a limit in the past changes nothing
}

TEST_CASE_METHOD(bench, "at the limit the kernel has nothing pending that is the calendar's own") {
    probe later("later");
    c.schedule(later.event, t0 + 500_ns);
    c.run_until(t0 + 100_ns);
    CHECK(kernel_time() == t0 + 100_ns);
    CHECK_FALSE(sc_core::sc_pending_activity());
    c.schedule(later.event, t0 + 200_ns);
    c.run_until(t0 + 200_ns);  // an event at the limit
    CHECK(seen.size() == 1);
    CHECK_FALSE(sc_core::sc_pending_activity());
    one->step.notify(sc_core::sc_time(50, sc_core::SC_NS));  // a foreign process's is seen
    c.schedule(later.event, t0 + 600_ns);
    c.run_until(t0 + 220_ns);
    CHECK(sc_core::sc_time_to_pending_activity() == sc_core::sc_time(30, sc_core::SC_NS));
    c.run_until(t0 + 600_ns);
    CHECK(seen.size() == 2);
}

TEST_CASE_METHOD(bench, "with nothing to do a run ends early and warns of nothing") {
    CHECK(c.run_until(t0 + 1_s) == t0);
    CHECK(c.run_until(t0 + 1_s) == t0);
    probe a{"a"};
    c.schedule(a.event, t0 + 300_ms);
    CHECK(c.run_until(never) == t0 + 300_ms);
    CHECK(kernel_time() == t0 + 300_ms);
}

TEST_CASE_METHOD(bench, "stop() ends the run after the callback, at its time") {
    probe a{"a"}, b{"b"}, d{"d"};
    a.then = [&] {
        CHECK(c.in_callback());
        c.stop();
    };
    c.schedule(a.event, t0 + 7_us);
    c.schedule(b.event, t0 + 7_us);
    c.schedule(d.event, t0 + 9_us);
    CHECK(c.run_until(t0 + 20_us) == t0 + 7_us);
    CHECK(c.stop_requested());
    CHECK(kernel_time() == t0 + 7_us);
    CHECK_FALSE(c.in_callback());
    CHECK(seen == record{{t0 + 7_us, "a"}});
    CHECK(c.run_until(t0 + 20_us) == t0 + 9_us);
    CHECK(seen == record{{t0 + 7_us, "a"}, {t0 + 7_us, "b"}, {t0 + 9_us, "d"}});
}

TEST_CASE_METHOD(bench, "stop() from foreign code ends the run at the kernel's time") {
    probe a{"a"};
    c.schedule(a.event, t0 + 9_us);
    one->action = [&] { c.stop(); };
    one->step.notify(sc_core::sc_time(4, sc_core::SC_US));
    CHECK(c.run_until(t0 + 20_us) == t0 + 4_us);
    CHECK(seen.empty());
    c.run_until(t0 + 20_us);
    CHECK(seen == record{{t0 + 9_us, "a"}});
}

TEST_CASE_METHOD(bench, "a pause by foreign code loses no events") {
    probe a{"a"};
    c.schedule(a.event, t0 + 9_us);
    one->action = [] { sc_core::sc_pause(); };
    one->step.notify(sc_core::sc_time(4, sc_core::SC_US));
    CHECK(c.run_until(t0 + 20_us) == t0 + 4_us);
    CHECK_FALSE(c.stop_requested());
    CHECK(c.run_until(t0 + 20_us) == t0 + 9_us);
    CHECK(seen == record{{t0 + 9_us, "a"}});
}

TEST_CASE_METHOD(bench, "misuse is refused") {
    probe a{"a"}, b{"b"};
    std::string past, nested;
    a.then = [&] {
        try {
            c.schedule(b.event, c.now() - 1);
        } catch (const std::logic_error& e) {
            past = e.what();
        }
        try {
            c.run_until(never);
        } catch (const std::logic_error& e) {
            nested = e.what();
        }
    };
    c.schedule(a.event, t0 + 1_us);
    c.run_until(t0 + 2_us);
    CHECK(past == "calendar: scheduled in the past");
    CHECK(nested == "run_until() was called while the simulation runs");
    CHECK_THROWS_AS(c.schedule(b.event, never), std::logic_error);
    CHECK_FALSE(b.event.scheduled());
    CHECK(second_refused);
    CHECK(&calendar::current() == &c);
}

TEST_CASE_METHOD(bench, "an exception in a callback ends the run and surfaces there") {
    probe a{"a"}, b{"b"};
    a.then = [] { throw std::runtime_error("device failed"); };
    c.schedule(a.event, t0 + 5_us);
    c.schedule(b.event, t0 + 6_us);
    CHECK_THROWS_WITH(c.run_until(t0 + 10_us), "device failed");
    CHECK(kernel_time() == t0 + 5_us);
    CHECK(c.run_until(t0 + 10_us) == t0 + 6_us);
    CHECK(seen == record{{t0 + 5_us, "a"}, {t0 + 6_us, "b"}});
}

TEST_CASE_METHOD(bench,
                 "calendar events of a time come before foreign processes of that time, their insertions after") {
    probe a{"a"}, b{"b"}, late{"late"}, soon{"soon"};
    c.schedule(a.event, t0 + 1_us - 1);
    c.schedule(b.event, t0 + 2_us);
    int wakes = 0;
    const auto wake = [&](const char* name, probe& inserted) {
        CHECK(c.now() == kernel_time());
        seen.emplace_back(c.now(), name);
        if (++wakes == 3) c.schedule(inserted.event, c.now());
    };
    one->action = [&] { wake("one", late); };
    two->action = [&] { wake("two", late); };
    one->period = two->period = 1_us;
    one->step.notify(sc_core::sc_time(1, sc_core::SC_US));
    two->step.notify(sc_core::sc_time(1, sc_core::SC_US));
    c.schedule(soon.event, t0 + 2_us);
    c.run_until(t0 + 2500_ns);
    REQUIRE(seen.size() == 8);
    std::sort(seen.begin() + 1, seen.begin() + 3);  // the kernel decides between the two
    std::sort(seen.begin() + 5, seen.begin() + 7);
    CHECK(seen == record{{t0 + 1_us - 1, "a"},
                         {t0 + 1_us, "one"},
                         {t0 + 1_us, "two"},
                         {t0 + 2_us, "b"},
                         {t0 + 2_us, "soon"},
                         {t0 + 2_us, "one"},
                         {t0 + 2_us, "two"},
                         {t0 + 2_us, "late"}});
    CHECK(c.now() == t0 + 2500_ns);
}

TEST_CASE_METHOD(bench, "the calendar runs ahead between foreign wakes, and never past one") {
    ticks farthest_ahead = 0;
    probe tick{"tick"};
    tick.then = [&] {
        farthest_ahead = std::max(farthest_ahead, c.now() - kernel_time());
        c.schedule_in(tick.event, 10_ns);
    };
    c.schedule(tick.event, t0 + 10_ns);
    int wakes = 0, behind = 0;
    one->period = 1_us;
    one->action = [&] {
        ++wakes;
        if (!seen.empty() && seen.back().first != c.now()) ++behind;  // a tick of this very time has been executed
    };
    one->step.notify(sc_core::sc_time(1, sc_core::SC_US));
    c.run_until(t0 + 100_us);
    CHECK(wakes == 99);  // SystemC leaves those of the end time to the next run
    CHECK(behind == 0);
    CHECK(seen.size() == 10'000);
    CHECK(farthest_ahead == 1_us);
}

TEST_CASE_METHOD(bench, "without foreign processes a slice bounds how far the calendar runs ahead") {
    ticks farthest_ahead = 0;
    probe tick{"tick"};
    tick.then = [&] {
        farthest_ahead = std::max(farthest_ahead, c.now() - kernel_time());
        c.schedule_in(tick.event, 1_us);
    };
    c.schedule(tick.event, t0 + 1_us);
    c.run_until(t0 + 1_ms);
    CHECK(seen.size() == 1000);
    CHECK(farthest_ahead > 90_us);
    CHECK(farthest_ahead <= 101_us);
}

TEST_CASE_METHOD(bench, "a foreign call makes the calendar wait for what it notified") {
    probe a{"a"}, b{"b"}, d{"d"}, inserted{"inserted"};
    a.then = [&] {
        // Foreign code that is called 30 us ahead of the kernel and annotates the delay.
        one->step.notify(sc_core::sc_time::from_value(c.now() - kernel_time() + 2_us));
        c.note_foreign_call();
    };
    one->action = [&] {
        seen.emplace_back(c.now(), "one");
        c.schedule(inserted.event, c.now() + 1_us);
    };
    c.schedule(a.event, t0 + 30_us);
    c.schedule(b.event, t0 + 31_us);
    c.schedule(d.event, t0 + 40_us);
    c.run_until(t0 + 50_us);
    CHECK(
        seen ==
        record{{t0 + 30_us, "a"}, {t0 + 31_us, "b"}, {t0 + 32_us, "one"}, {t0 + 33_us, "inserted"}, {t0 + 40_us, "d"}});
}

TEST_CASE_METHOD(bench,
                 "where foreign code is due at once the calendar yields, and what comes late runs as soon as it can") {
    probe a{"a"}, b{"b"}, inserted{"inserted"};
    a.then = [&] {
        one->step.notify(sc_core::SC_ZERO_TIME);  // a delta cycle at the kernel's time, 30 us ago
        c.note_foreign_call();
    };
    one->action = [&] {
        seen.emplace_back(c.now(), "one");
        c.schedule(inserted.event, c.now() + 1_us);
    };
    probe start{"start"};
    c.schedule(start.event, t0 + 1_us);
    c.schedule(a.event, t0 + 30_us);
    c.schedule(b.event, t0 + 30_us + 1);
    c.run_until(t0 + 50_us);
    REQUIRE(seen.size() == 5);
    CHECK(seen[1] == std::make_pair(t0 + 30_us, std::string("a")));
    CHECK(seen[2].second == "one");
    CHECK(seen[2].first < t0 + 30_us);
    CHECK(seen[3] == std::make_pair(t0 + 30_us, std::string("inserted")));
    CHECK(seen[4] == std::make_pair(t0 + 30_us + 1, std::string("b")));
}

TEST_CASE_METHOD(bench, "foreign code that runs alone can start a chain of events") {
    probe a{"a"};
    int rounds = 0;
    a.then = [&] {
        if (++rounds < 3) {
            one->step.notify(sc_core::sc_time::from_value(c.now() - kernel_time() + 5_us));
            c.note_foreign_call();
        }
    };
    one->action = [&] { c.schedule(a.event, c.now() + 10_us); };
    one->step.notify(sc_core::sc_time(1, sc_core::SC_US));
    CHECK(c.run_until(t0 + 1_s) == t0 + 41_us);
    CHECK(seen == record{{t0 + 11_us, "a"}, {t0 + 26_us, "a"}, {t0 + 41_us, "a"}});
}
