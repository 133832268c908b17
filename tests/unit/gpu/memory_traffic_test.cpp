// SPDX-License-Identifier: Apache-2.0
// Random traffic against a flat reference, MSHRs, banks, bandwidth, determinism.
#include "unit/gpu/memory_bench.h"

#include <random>

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

gpu_memory_system_params tight() {
    gpu_memory_system_params p;  // so small that everything that can stall does
    p.capacity = {64 << 20};
    p.unit.queue = 8;
    p.unit.outstanding_bypasses = 20;
    p.unit.tlb.ways = 4;
    p.unit.tlb.mshrs = 2;
    p.unit.l1.size = {1 << 10};
    p.unit.l1.mshrs = 3;
    p.l2_tlb.sets = 2;
    p.l2_tlb.ways = 4;
    p.l2_tlb.mshrs = 2;
    p.gmmu.walkers = 2;
    p.gmmu.walk_cache_entries = 2;
    p.l2.size = {8 << 10};
    p.l2.banks = 4;
    p.l2.ways = 4;
    p.l2.locked_ways = 1;
    p.l2.mshrs = 3;
    p.hbm.channels = 2;
    return p;
}
gpu_memory_system_params wide() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.hbm.channels = 4;
    return p;
}

/// The way to another GPU, on which requests overtake each other.
class far_memory final : public line_target {
public:
    explicit far_memory(memory_router& there) : m_there(there) {}
    void send(const line_request_ptr& r) override {
        m_scheduler.schedule<&far_memory::arrive>(r, calendar::current().now() + 1000 + m_random() % 800'000, *this);
    }
    std::minstd_rand m_random{7};

private:
    void arrive(const line_request_ptr& r) { m_there.send(r); }
    memory_router& m_there;
    line_request_scheduler m_scheduler;
};

struct bench {
    calendar cal{"calendar"};
    memory_machine m{"gpu0", tight(), 4, 0}, peer{"gpu1", tight(), 1, 1}, plain{"gpu2", wide(), 8, 2};
    far_memory far{peer.system.router};
};
bench& all() {
    static bench b;
    return b;
}

// Pages of 4 KiB from `base` on, each third of them in another GPU's memory; behind them some that lie in one of 2 MiB.
constexpr std::uint64_t base = 0x8000'0000, home = 0x200000, small_pages = 16, pages = 24, large = 0x8040'0000,
                        large_home = 0x400000;
constexpr unsigned wavefronts = 3;

struct spot {
    memory_machine* machine;
    std::uint64_t offset;
};
spot spot_of(std::uint64_t address) {
    if (address >= large) return {&all().m, address - large + large_home};
    return {(address - base) / 4096 % 3 == 2 ? &all().peer : &all().m, address - base + home};
}

/// Wavefronts of a unit that own words of lines which all share, and issue without waiting; counters that all add to.
class walker {
public:
    walker(memory_machine& m, unsigned unit, unsigned seed) : m_m(m), m_unit(unit), m_random(seed) {}

    static std::uint64_t place(std::uint64_t word) {
        const std::uint64_t at = word * 4;
        return at < small_pages * 4096 ? base + at
                                       : large + (at - small_pages * 4096) * 8;  // spread over many parts of 4 KiB
    }
    void step() {
        auto& c = *m_m.clients[m_unit];
        if (!c.memory.can_issue()) return;
        const unsigned wavefront = m_random() % wavefronts, what = m_random() % 16;
        if (what == 0) return c.memory.invalidate();
        auto a = c.make(what < 8    ? access_kind::read
                        : what < 14 ? access_kind::write
                                    : access_kind::atomic,
                        4, wavefront);
        if (what < 2) a->scope = memory_scope::agent;
        a->operation = atomic_extension::operation::add;
        a->address.fill(0);  // a pooled access still has those of its last life
        const unsigned lanes = 1 + m_random() % 20;
        const bool near = m_random() % 2;
        const std::uint64_t some = m_random() % 2 ? words : 12;  // the few are in and out of L1 all the time
        const std::uint64_t start = m_random() % some * 64 % words;
        for (unsigned i = 0; i < lanes; ++i) {
            // Lane n of this wavefront owns every word whose number is `owner` modulo the number of owners.
            const std::uint64_t owner = (m_unit * wavefronts + wavefront) * 2 + 1;
            const std::uint64_t slot = near ? (start + i) % words : m_random() % some * 64 % words;
            const std::uint64_t word = slot * stride + owner;
            if (std::any_of(&a->address[0], &a->address[i], [&](std::uint64_t other) { return other == place(word); }))
                continue;
            a->mask |= lane_mask{1} << i;
            a->address[i] = place(word);
            if (a->kind == access_kind::atomic && m_random() % 2)
                a->address[i] = place(slot * stride);  // a counter of all
            a->data[i] = m_random() % 1000;
            if (a->kind == access_kind::write)
                reference[a->address[i]] = static_cast<std::uint32_t>(a->data[i]);
            else if (a->kind == access_kind::atomic)
                reference[a->address[i]] += static_cast<std::uint32_t>(a->data[i]);
        }
        if (a->kind != access_kind::atomic)
            for (unsigned i = 0; i < 64; ++i)
                if (a->mask >> i & 1) m_expected.push_back(reference[a->address[i]]);
        if (a->kind == access_kind::read) m_checks.push_back({a, m_expected});
        m_expected.clear();
        c.memory.issue(a);
        ++issued;
    }
    /// Checks loads that have ended. \returns how many
    unsigned check() {
        unsigned n = 0;
        for (auto& k : m_checks) {
            const std::uint32_t* e = k.expected.data();
            for (unsigned i = 0; i < 64; ++i)
                if (k.access->mask >> i & 1 && k.access->data[i] != *e++) {
                    CAPTURE(m_unit, i, k.access->wavefront, k.access->address[i], k.access->data[i], e[-1]);
                    CHECK(k.access->data[i] == e[-1]);
                }
            CHECK(k.access->fault == memory_fault::none);
            ++n;
        }
        m_checks.clear();
        return n;
    }

    static constexpr std::uint64_t stride = 32, words = pages * 4096 / 4 / stride;
    static std::map<std::uint64_t, std::uint32_t> reference;
    unsigned issued = 0;

private:
    struct pending_check {
        vector_access_ptr access;
        std::vector<std::uint32_t> expected;
    };
    memory_machine& m_m;
    unsigned m_unit;
    std::minstd_rand m_random;
    std::vector<pending_check> m_checks;
    std::vector<std::uint32_t> m_expected;
};
std::map<std::uint64_t, std::uint32_t> walker::reference;

/// Runs random traffic. \returns a fingerprint: when it ended, and statistics
std::vector<double> stress(unsigned seed) {
    auto& b = all();
    b.m.reset();
    b.peer.reset();
    walker::reference.clear();
    b.far.m_random.seed(seed);
    b.m.system.router.set_aperture(GPU_PA_GPU0 + 1, &b.far);
    for (std::uint64_t page = 0; page < small_pages; ++page) {
        const spot s = spot_of(base + page * 4096);
        b.m.map(base + page * 4096, s.machine->base() | s.offset);
    }
    b.m.map(large, b.m.base() | large_home, GPU_PTE_READ | GPU_PTE_WRITE, 1);
    auto& cal = calendar::current();
    const ticks begin = cal.now();
    std::vector<std::unique_ptr<walker>> walkers;
    for (unsigned u = 0; u < 4; ++u) walkers.push_back(std::make_unique<walker>(b.m, u, seed * 4 + u + 1));
    std::minstd_rand pace(seed + 1);
    restart_statistics();
    for (unsigned round = 0; round < 1500; ++round) {
        for (auto& w : walkers)
            if (pace() % 3) w->step();
        const ticks until = cal.now() + pace() % 300'000;
        const at_time passes(until, [] {});
        cal.run_until(until);
    }
    b.m.run();
    unsigned checks = 0, issued = 0, done = 0;
    for (auto& w : walkers) {
        checks += w->check();
        issued += w->issued;
    }
    for (auto& c : b.m.clients) {
        done += static_cast<unsigned>(c->done.size());
        c->done.clear();
    }
    CHECK(done == issued);
    CHECK(checks > 500);
    CHECK(b.m.system.pools.requests.live() == 0);
    unsigned wrong = 0;
    for (const auto& [address, value] : walker::reference) {
        const spot s = spot_of(address);
        wrong += s.machine->peek<std::uint32_t>(s.offset) != value;
    }
    CHECK(wrong == 0);
    std::vector<double> print{static_cast<double>(cal.now() - begin)};
    for (const auto& [path, value] : snapshot_statistics("gpu0")) print.push_back(value);
    return print;
}

}  // namespace

TEST_CASE("random traffic agrees with a flat memory, and repeats itself") {
    const auto first = stress(1);
    for (unsigned seed = 2; seed < 12; ++seed) stress(seed);
    CHECK(stress(1) == first);
    auto& m = all().m.system;
    CHECK(m.units[0]->l1.mshr_stalls.value() > 0);  // it went through the narrow places
    CHECK(m.units[0]->l1.mshr_merges.value() > 0);
    CHECK(m.units[0]->tlb.mshr_stalls.value() > 0);
    CHECK(m.units[0]->queue_stalls.value() > 0);
    CHECK(m.l2_tlb.mshr_stalls.value() > 0);
    CHECK(m.l2.banks[0]->mshr_stalls.value() > 0);
    CHECK(m.l2.banks[0]->writebacks.value() > 0);
}

TEST_CASE("loads of one line share a fetch") {
    auto& m = all().plain;
    m.reset();
    m.map_range(base, home, 1 << 21, 1);
    m.load(0, base + 0x10000);
    auto& c = *m.clients[0];
    c.done.clear();
    auto& l1 = m.system.units[0]->l1;
    const auto reads = m.system.hbm.reads.value(), misses = l1.misses.value(), merges = l1.mshr_merges.value();
    for (unsigned i = 0; i < 4; ++i) c.memory.issue(c.one(access_kind::read, base + 4 * i));
    m.run();
    CHECK(c.done.size() == 4);
    CHECK(l1.misses.value() == misses + 1);
    CHECK(l1.mshr_merges.value() == merges + 3);
    CHECK(m.system.hbm.reads.value() == reads + 1);
    // Two units: two requests at L2, one at memory.
    m.load(1, base + 0x10000);
    auto& bank = m.system.l2.bank_of(home + 64);
    const auto shared = bank.mshr_merges.value();
    m.clients[0]->memory.issue(m.clients[0]->one(access_kind::read, base + 128));
    m.clients[1]->memory.issue(m.clients[1]->one(access_kind::read, base + 128));
    m.run();
    CHECK(m.system.hbm.reads.value() == reads + 2);
    CHECK(m.system.l2.bank_of(home + 128).mshr_merges.value() + bank.mshr_merges.value() >= shared + 1);
    CHECK(l1.bytes_needed.count() > 0);
}

TEST_CASE("lines of one L2 bank take their turns, those of different banks do not") {
    auto& m = all().plain;
    const auto spread = [&](std::uint64_t stride) {
        m.reset();
        m.map_range(base, home, 1 << 21, 1);
        for (unsigned u = 0; u < 8; ++u) m.load(u, base + 0x100000);
        for (unsigned u = 0; u < 8; ++u) m.load(0, base + u * stride);  // into L2
        m.clients[0]->memory.invalidate();
        for (auto& c : m.clients) c->done.clear();
        const ticks begin = calendar::current().now();
        for (unsigned u = 0; u < 8; ++u)
            m.clients[u]->memory.issue(m.clients[u]->one(access_kind::read, base + u * stride));
        m.run();
        ticks last = 0;
        for (auto& c : m.clients) last = std::max(last, c->done.at(0).ready);
        return (last - begin) / 1000;
    };
    const auto apart = spread(128), together = spread(128 * 16);
    CHECK(together == apart + 7);  // one cycle each
}

TEST_CASE("streams come within 5 % of the peak of HBM") {
    auto& m = all().plain;
    m.reset();
    const std::uint64_t bytes = 8 << 20;
    m.map_range(base, home, 32 << 20, 1);
    const auto rate = [&](bool random, access_kind kind) {
        std::minstd_rand dice(3);
        std::vector<std::uint64_t> next(8), left(8, bytes / 8 / 256);
        for (unsigned u = 0; u < 8; ++u) next[u] = base + u * (bytes / 8);
        auto& cal = calendar::current();
        const ticks begin = cal.now();
        const auto before = m.system.hbm.bytes.value();
        const auto feed = [&](unsigned u) {
            auto& c = *m.clients[u];
            while (left[u] && c.memory.can_issue()) {
                --left[u];
                auto a = c.make(kind, 4);
                a->mask = ~lane_mask{0};
                const std::uint64_t line = dice() % ((32 << 20) / 64);
                for (unsigned i = 0; i < 64; ++i)
                    a->address[i] = (random ? base + line * 64 + i % 16 * 4 : next[u] + 4 * i);
                next[u] += 256;
                c.memory.issue(a);
            }
        };
        do {
            for (unsigned u = 0; u < 8; ++u) feed(u);
            if (cal.next_event_time() != never) cal.run_until(cal.next_event_time());
        } while (std::any_of(left.begin(), left.end(), [](auto n) { return n != 0; }) ||
                 cal.next_event_time() != never);
        for (auto& c : m.clients) c->done.clear();
        return static_cast<double>(m.system.hbm.bytes.value() - before) / static_cast<double>(cal.now() - begin) *
               1e12 / m.system.hbm.peak();
    };
    const double stream = rate(false, access_kind::read), random = rate(true, access_kind::read);
    INFO("stream " << stream << ", random " << random << " of the peak");
    CHECK(m.system.hbm.peak() == Approx(64e9));
    CHECK(stream > 0.95);
    CHECK(stream <= 1.0);
    CHECK(random < stream);  // rows have to be opened; many banks hide most of it
}
