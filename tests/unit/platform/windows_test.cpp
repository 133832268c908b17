// SPDX-License-Identifier: Apache-2.0
// Ranks that go from window to window, of which each takes part in those in which it has something to do. Programs of
// events that follow from a seed are executed one after the other, and by ranks: a message that comes too late, or not
// at all, gives another history of a block, and a rank that is not woken never ends.
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "platform/ranks/all_to_all_windows.h"
#include "platform/ranks/ring_communicator.h"

using namespace fabricvp;
using namespace fabricvp::ranks;

namespace {

constexpr ticks lookahead = 10;

/// What happens to a block at a time. The rest follows from it.
struct happening {
    ticks when;
    std::uint64_t id;
    unsigned block, generation;
    bool operator<(const happening& o) const { return std::tie(when, block, id) < std::tie(o.when, o.block, o.id); }
};

struct program {
    std::uint64_t seed;
    unsigned blocks, generations;
    bool ends;  ///< some events end it, one lookahead later

    static std::uint64_t mixed(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }
    std::vector<happening> begin() const {
        std::vector<happening> all;
        for (unsigned b = 0; b < blocks; ++b)
            if (b % 3 == 0) all.push_back({mixed(seed + b) % 50, mixed(seed * 31 + b), b, 0});
        return all;
    }
    bool ends_it(const happening& h) const { return ends && h.generation > 8 && mixed(h.id + 3) % 1024 == 0; }
    /// Others hear of it after the lookahead or later; most of what follows is soon, some of it is far away.
    std::vector<happening> followers(const happening& h) const {
        std::vector<happening> all;
        if (h.generation == generations) return all;
        const auto n = h.generation < 3 ? 2u : 1u;
        for (unsigned i = 0; i < n; ++i) {
            const auto x = mixed(h.id * 5 + i + seed);
            const auto block = x % 4 ? static_cast<unsigned>((x >> 8) % blocks) : h.block;
            const auto delay = (x >> 20) % ((x >> 4) % 16 ? 8 : 900) + (block == h.block ? 1 : lookahead);
            all.push_back({h.when + delay, mixed(x), block, h.generation + 1});
        }
        return all;
    }
};

using history = std::map<unsigned, std::vector<happening>>;  ///< by block

bool same(const history& a, const history& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && std::equal(x.second.begin(), x.second.end(), y.second.begin(), y.second.end(),
                                                [](const auto& s, const auto& t) { return !(s < t) && !(t < s); });
    });
}

history executed_in_order(const program& p) {
    history done;
    ticks end = never;
    std::set<happening> pending;
    for (const auto& h : p.begin()) pending.insert(h);
    while (!pending.empty() && pending.begin()->when <= end) {
        const auto h = *pending.begin();
        pending.erase(pending.begin());
        done[h.block].push_back(h);
        if (p.ends_it(h)) end = std::min(end, h.when + lookahead);
        for (const auto& f : p.followers(h)) pending.insert(f);
    }
    return done;
}

/// One rank of those that execute a program, in slices as a run does.
class worker {
public:
    worker(const program& p, const shared_segment& s, communicator& c, window_exchange& w, std::vector<unsigned> owners,
           std::size_t padding)
        : m_program(p),
          m_segment(s),
          m_comm(c),
          m_windows(w),
          m_owners(std::move(owners)),
          m_padding(padding),
          m_to(c.count()) {}

    history done;
    unsigned late = 0, early = 0, windows = 0, slices = 0;
    unsigned seatless = 0;  ///< windows begun while another rank had the processor's seat

    void run() {
        for (const auto& h : m_program.begin())
            if (m_owners[h.block] == m_comm.rank()) m_pending.insert(h);
        for (bool quiet = false; !quiet && m_now < m_end; m_slice_end += slice, ++slices) {
            quiet = !run_slice();
            std::vector<bytes> to(m_comm.count(), bytes(slices % 40)), from(m_comm.count());
            m_comm.all_to_all(to, from);
            for (unsigned r = 0; r < m_comm.count(); ++r) late += r != m_comm.rank() && from[r] != to[0];
        }
    }

private:
    static constexpr ticks slice = 300;
    struct header {
        ticks end, sent;
    };

    ticks limit() const { return std::min(m_slice_end, m_end); }

    bool run_slice() {
        for (;;) {
            std::vector<ticks> due(m_comm.count(), never);
            for (unsigned r = 0; r < m_comm.count(); ++r) {
                auto& to = m_to[r];
                to.clear();
                const auto& posted = m_posted[r];
                if (r == m_comm.rank() || (posted.empty() && !m_end_is_new)) continue;
                const header head{m_end, m_now};
                to.resize(sizeof head + posted.size() * sizeof(happening) + m_padding);
                std::memcpy(to.data(), &head, sizeof head);
                auto* at = to.data() + sizeof head;
                for (const auto& h : posted) {
                    std::memcpy(at, &h, sizeof h);
                    at += sizeof h;
                    due[r] = std::min(due[r], h.when);
                }
            }
            m_posted.clear();
            window_report own{next(), m_now, limit(), 0, m_events, std::exchange(m_end_is_new, false)};
            const auto bounds =
                m_windows.next(own, m_to, due, [this](const bytes& m, std::size_t at) { receive(m, at); });
            m_events = 0;
            early += m_sent > bounds.latest;  // it was sent in this window
            if (bounds.first() == never || bounds.first() > limit()) {
                m_now = bounds.first() == never ? bounds.latest : limit();
                return bounds.first() != never;
            }
            ++windows;
            seatless += m_segment.seats() && m_segment.seat_of(m_comm.rank()).holder != m_comm.rank() + 1;
            const auto end = bounds.end(lookahead);
            while (next() <= std::min(end, limit())) execute();
            m_now = std::min(end, limit());
        }
    }
    ticks next() const { return m_pending.empty() ? never : m_pending.begin()->when; }
    void receive(const bytes& m, std::size_t at) {
        header head;
        std::memcpy(&head, m.data() + at, sizeof head);
        m_end = std::min(m_end, head.end);
        m_sent = std::max(m_sent, head.sent);
        for (at += sizeof head; at + m_padding < m.size(); at += sizeof(happening)) {
            happening h;
            std::memcpy(&h, m.data() + at, sizeof h);
            late += h.when <= m_now;
            m_pending.insert(h);
        }
    }
    void execute() {
        const auto h = *m_pending.begin();
        m_pending.erase(m_pending.begin());
        ++m_events;
        done[h.block].push_back(h);
        if (m_program.ends_it(h) && h.when + lookahead < m_end) m_end = h.when + lookahead, m_end_is_new = true;
        for (const auto& f : m_program.followers(h)) {
            if (m_owners[f.block] == m_comm.rank())
                m_pending.insert(f);
            else
                m_posted[m_owners[f.block]].push_back(f);
        }
    }

    const program& m_program;
    const shared_segment& m_segment;
    communicator& m_comm;
    window_exchange& m_windows;
    const std::vector<unsigned> m_owners;  // of blocks
    const std::size_t m_padding;
    std::vector<bytes> m_to;
    std::set<happening> m_pending;
    std::map<unsigned, std::vector<happening>> m_posted;
    ticks m_now = 0, m_end = never, m_slice_end = slice, m_sent = 0;
    std::uint64_t m_events = 0;
    bool m_end_is_new = false;
};

struct outcome {
    history done;
    unsigned late = 0, early = 0, windows = 0, all_windows = 0, slices = 0;
    std::uint64_t events = 0;
    unsigned seatless = 0;
};

/// \param all_take_part in every window \param processors that ranks share
outcome executed_by_ranks(const program& p, unsigned count, std::size_t ring_bytes, std::size_t padding,
                          bool all_take_part, unsigned processors) {
    shared_segment segment(count, ring_bytes, processors);
    std::vector<unsigned> owners;
    for (unsigned b = 0; b < p.blocks; ++b)
        owners.push_back(b < count ? b : static_cast<unsigned>(program::mixed(p.seed * 7 + b) % count));
    std::vector<outcome> of(count);
    std::vector<std::thread> threads;
    for (unsigned r = 0; r < count; ++r)
        threads.emplace_back([&, r] {
            ring_communicator c(segment, r);
            const auto windows = all_take_part ? std::make_unique<all_to_all_windows>(c) : c.open_windows(lookahead);
            worker w(p, segment, c, *windows, owners, padding);
            w.run();
            const auto& work = windows->work();
            of[r] = {std::move(w.done), w.late,        w.early,   w.windows, static_cast<unsigned>(work.windows()),
                     w.slices,          work.events(), w.seatless};
        });
    for (auto& t : threads) t.join();
    outcome sum = std::move(of[0]);
    for (unsigned r = 1; r < count; ++r) {
        sum.done.merge(of[r].done);
        sum.late += of[r].late;
        sum.early += of[r].early;
        sum.windows += of[r].windows;
        sum.seatless += of[r].seatless;
        CHECK(of[r].events == sum.events);
        CHECK(of[r].all_windows == sum.all_windows);
    }
    return sum;
}

std::size_t events_of(const history& h) {
    std::size_t sum = 0;
    for (const auto& [block, all] : h) sum += all.size();
    return sum;
}

}  // namespace

TEST_CASE("a window reaches as far as nothing unknown can happen") {
    CHECK(window_bounds{100, 130, 0}.end(10) == 119);
    CHECK(window_bounds{100, 105, 0}.end(10) == 114);
    CHECK(window_bounds{100, never, 0}.end(10) == 119);
    CHECK(window_bounds{never, 100, 0}.end(10) == 109);
    CHECK(window_bounds{never - 5, never, 0}.end(10) == never);
    CHECK(window_bounds{100, 99, 0}.first() == 99);
}

TEST_CASE("ranks that take part in some windows do what one process does") {
    for (unsigned seed = 1; seed <= 40; ++seed)
        for (const bool ends : {false, true}) {
            const program p{seed, 2 + seed % 11, 60 + seed * 5, ends};
            const auto expected = executed_in_order(p);
            for (unsigned count = 2; count <= std::min(p.blocks, 8u); count += 1 + seed % 3) {
                const auto processors = 1 + seed % (count + 1);
                const auto found = executed_by_ranks(p, count, 0, 0, false, processors);
                INFO("seed " << seed << ", " << count << " ranks on " << processors << (ends ? ", ends" : ""));
                CHECK(same(found.done, expected));
                CHECK(found.late == 0);
                CHECK(found.early == 0);
                CHECK(found.events == events_of(expected));
                CHECK(found.seatless == 0);
            }
        }
}

TEST_CASE("ranks that sleep make room in full rings") {
    for (unsigned seed = 100; seed < 124; ++seed) {
        const program p{seed, 5, 120, seed % 2 == 0};
        const auto expected = executed_in_order(p);
        const auto found = executed_by_ranks(p, 2 + seed % 4, 128, seed % 3 * 60, false, 1 + seed % 5);
        INFO("seed " << seed);
        CHECK(same(found.done, expected));
        CHECK(found.late == 0);
        CHECK(found.early == 0);
    }
}

TEST_CASE("windows in which all ranks take part have the same results") {
    for (unsigned seed = 200; seed < 206; ++seed) {
        const program p{seed, 6, 150, seed % 2 == 0};
        const auto expected = executed_in_order(p);
        const auto some = executed_by_ranks(p, 4, 0, 0, false, 4), all = executed_by_ranks(p, 4, 0, 0, true, 4);
        INFO("seed " << seed);
        CHECK(same(all.done, expected));
        CHECK(all.late == 0);
        CHECK(same(some.done, expected));
        CHECK(all.events == some.events);
        CHECK(all.slices == some.slices);
        CHECK(all.windows + 4 * all.slices == 4 * all.all_windows);
        CHECK(some.windows < all.windows * 3 / 4);  // idle ranks sleep on
    }
}
