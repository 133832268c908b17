// SPDX-License-Identifier: Apache-2.0
// What lanes see of each other's stores; atomics, reservations, faults, memory elsewhere.
#include "unit/gpu/memory_bench.h"

#include "gpu/memory/gpu_memory_port.h"

using namespace fabricvp;
using namespace fabricvp::test;
using operation = atomic_extension::operation;

namespace {

gpu_memory_system_params small() {
    auto p = four_banks();
    p.unit.queue = 4;
    return p;
}

/// Takes requests to another GPU's memory there, after a delay that may reorder them; cuts off sectors that are not
/// needed.
class far_memory final : public line_target, private line_client {
public:
    explicit far_memory(memory_router& there) : m_there(there) {}
    bool trim = false;
    unsigned requests = 0, trimmed = 0, page_table = 0;

    void send(const line_request_ptr& r) override {
        ++requests;
        page_table += r->page_table;
        m_state = m_state * 6364136223846793005u + 1442695040888963407u;
        m_scheduler.schedule<&far_memory::arrive>(r, calendar::current().now() + 1000 + (m_state >> 33) % 500'000,
                                                  *this);
    }

private:
    void arrive(const line_request_ptr& r) {
        auto copy = m_pool.make();
        copy->set_operation(*r);
        copy->data = r->data;
        copy->client = this;
        intrusive_ptr_add_ref(r.get());
        copy->context = r.get();
        m_there.send(copy);
    }
    void line_done(line_request& copy) override {
        const line_request_ptr r(static_cast<line_request*>(copy.context), false);
        r->fault = copy.fault;
        r->data = copy.data;
        r->operand = copy.operand;
        r->succeeded = copy.succeeded;
        r->valid_sectors = trim && !r->page_table ? r->needed_sectors : copy.valid_sectors;
        if (r->valid_sectors != 0xf) {
            ++trimmed;
            for (unsigned s = 0; s < 4; ++s)
                if (!(r->valid_sectors >> s & 1)) std::fill_n(r->data.begin() + 16 * s, 16, std::uint8_t{0xee});
        }
        m_scheduler.respond(r, calendar::current().now() + 1000);
    }
    memory_router& m_there;
    line_request_scheduler m_scheduler;
    pool<line_request> m_pool;
    std::uint64_t m_state = 1;
};

struct bench {
    calendar cal{"calendar"};
    memory_machine m{"gpu0", small(), 4, 0}, peer{"gpu1", small(), 1, 1};
    far_memory far{peer.system.router};
    gpu_memory_port port{"port", {}, clock_domain(frequency{1'000'000'000}), m.system.router};
};
bench& both() {
    static bench b;
    return b;
}
constexpr std::uint64_t base = 0x8000'0000, home = 0x200000, elsewhere = 0xa000'0000;
memory_machine& fresh() {
    bench& b = both();
    b.m.reset();
    b.peer.reset();
    b.far.trim = false;
    b.m.map_range(base, home, 1 << 20);
    b.m.map_range(elsewhere, 0, 0x100000);
    for (std::uint64_t at = 0; at < 0x100000; at += 4096) b.m.map(elsewhere + at, b.peer.base() | (home + at));
    b.m.system.router.set_aperture(GPU_PA_GPU0 + 1, &b.far);
    return b.m;
}

std::uint64_t atomic(memory_machine& m, unsigned unit, access_kind kind, std::uint64_t address, std::uint64_t operand,
                     operation op = operation::add, unsigned bytes = 8, unsigned lane = 0) {
    auto a = m.clients[unit]->one(kind, address, operand, bytes, lane);
    a->operation = op;
    m.time(unit, a);
    REQUIRE(a->fault == memory_fault::none);
    return a->data[lane];
}

}  // namespace

TEST_CASE("without an acquire L1 shows stale data, with it the right ones") {
    auto& m = fresh();
    for (const std::uint64_t at : {base, elsewhere}) {
        m.store(0, at, 1);
        CHECK(m.load(1, at) == 1);
        m.store(0, at, 2);
        CHECK(m.load(1, at) == 1);  // its L1 still holds the line
        CHECK(m.load(2, at) == 2);
        CHECK(m.load(0, at) == 2);  // the one that stored
        SECTION("acquire") {
            m.clients[1]->memory.invalidate();
            CHECK(m.load(1, at) == 2);
        }
        SECTION("a scoped load, and plain loads after it") {
            CHECK(m.load(1, at, memory_scope::agent) == 2);
            CHECK(m.load(1, at) == 2);
        }
        SECTION("an atomic, and plain loads after it") {
            CHECK(atomic(m, 1, access_kind::atomic, at, 5, operation::add, 4) == 2);
            CHECK(m.load(1, at) == 7);
        }
    }
}

TEST_CASE("lines that are on their way when an acquire comes are not kept") {
    auto& m = fresh();
    m.poke<std::uint32_t>(home, 1);
    m.load(0, base + 1024);
    auto early = m.clients[0]->one(access_kind::read, base);
    m.clients[0]->memory.issue(early);
    const at_time later(calendar::current().now() + 30'000, [&] {
        m.poke<std::uint32_t>(home, 2);  // after it was read at L2
        m.clients[0]->memory.invalidate();
    });
    m.run();
    CHECK(early->data[0] == 1);
    CHECK(m.load(0, base) == 2);
}

TEST_CASE("a store that follows a load of its line is not forgotten") {
    auto& m = fresh();
    for (const std::uint64_t at : {base, elsewhere}) {
        m.load(0, at + 1024);  // brings the translation in
        auto& c = *m.clients[0];
        c.memory.issue(c.one(access_kind::read, at));
        c.memory.issue(c.one(access_kind::write, at + 4, 7));  // behind the fetch at L2
        m.run();
        CHECK(m.load(0, at + 4) == 7);
    }
}

TEST_CASE("a fetch that overtakes a store on its way to another GPU is not kept") {
    auto& m = fresh();
    auto& b = both();
    auto& c = *m.clients[0];
    m.load(0, elsewhere + 1024);
    for (unsigned i = 0; i < 32; ++i) {  // delays differ from time to time
        const std::uint64_t at = elsewhere + 64 * i;
        auto store = c.one(access_kind::write, at + 4, 100 + i), other = c.one(access_kind::read, at);
        store->wavefront = 1;
        other->wavefront = 2;
        c.memory.issue(store);
        c.memory.issue(other);
        m.run();
        CHECK(m.load(0, at + 4) == 100 + i);
        CHECK(b.peer.peek<std::uint32_t>(home + 64 * i + 4) == 100 + i);
    }
}

TEST_CASE("pages that are not to be cached") {
    auto& m = fresh();
    m.map(base, gpu0 | home, GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_TYPE_UNCACHED << GPU_PTE_TYPE_SHIFT);
    m.store(0, base, 1);
    CHECK(m.load(1, base) == 1);
    m.store(0, base, 2);
    CHECK(m.load(1, base) == 2);
}

TEST_CASE("atomics do what they are called") {
    auto& m = fresh();
    const struct {
        operation op;
        std::uint64_t before, operand, after;
        unsigned bytes;
    } cases[] = {
        {operation::swap, 7, 9, 9, 8},
        {operation::add, ~0ull, 2, 1, 8},
        {operation::add, 0xffff'ffff, 2, 1, 4},
        {operation::bit_xor, 0xff, 0x0f, 0xf0, 4},
        {operation::bit_or, 0xf0, 0x0f, 0xff, 8},
        {operation::bit_and, 0xff, 0x3c, 0x3c, 4},
        {operation::min, 0xffff'fffe, 3, 0xffff'fffe, 4},
        {operation::max, 0xffff'fffe, 3, 3, 4},
        {operation::min_unsigned, 0xffff'fffe, 3, 3, 4},
        {operation::max_unsigned, 5, ~0ull, ~0ull, 8},
    };
    for (const auto& c : cases)
        for (const bool far : {false, true}) {
            auto& where = far ? both().peer : m;
            const std::uint64_t address = (far ? elsewhere : base) + 0x108;
            where.poke<std::uint64_t>(home + 0x108, c.before);
            CHECK(atomic(m, 0, access_kind::atomic, address, c.operand, c.op, c.bytes) == c.before);
            CHECK(where.peek<std::uint64_t>(home + 0x108) == c.after);
        }
}

TEST_CASE("compare and swap, as a bus brings it") {
    auto& m = fresh();
    line_listener l;
    m.poke<std::uint64_t>(home + 8, 5);
    auto r = l.make(access_kind::atomic, gpu0 | (home + 8));
    r->operation = operation::compare_swap;
    r->compare = 5;
    r->operand = 6;
    m.system.router.send(r);
    m.run();
    r = l.make(access_kind::atomic, gpu0 | (home + 8));
    r->operation = operation::compare_swap;
    r->compare = 5;
    r->operand = 7;
    m.system.router.send(r);
    m.run();
    REQUIRE(l.responses.size() == 2);
    CHECK(l.responses[0].operand == 5);
    CHECK(l.responses[1].operand == 6);
    CHECK(m.peek<std::uint64_t>(home + 8) == 6);
}

TEST_CASE("lanes of one atomic take their turns") {
    auto& m = fresh();
    auto a = m.clients[0]->make(access_kind::atomic, 4);
    a->mask = ~lane_mask{0};
    a->operation = operation::add;
    for (unsigned i = 0; i < 64; ++i) {
        a->address[i] = base + (i % 2) * 256;
        a->data[i] = 1;
    }
    m.time(0, a);
    CHECK(m.peek<std::uint32_t>(home) == 32);
    CHECK(m.peek<std::uint32_t>(home + 256) == 32);
    std::uint64_t seen = 0;
    for (unsigned i = 0; i < 64; i += 2) seen |= std::uint64_t{1} << a->data[i];
    CHECK(seen == 0xffff'ffff);  // each saw another value
}

TEST_CASE("reservations") {
    auto& m = fresh();
    for (const bool far : {false, true}) {
        const std::uint64_t at = far ? elsewhere : base;
        auto& where = far ? both().peer : m;
        where.poke<std::uint64_t>(home, 10);
        const auto reserve = [&](unsigned unit, unsigned lane = 0) {
            return atomic(m, unit, access_kind::load_reserved, at, 0, operation::add, 8, lane);
        };
        const auto conditional = [&](unsigned unit, std::uint64_t value, unsigned lane = 0, std::uint64_t offset = 0) {
            return atomic(m, unit, access_kind::store_conditional, at + offset, value, operation::add, 8, lane);
        };
        CHECK(conditional(0, 1) == 1);  // without a reservation
        CHECK(reserve(0) == 10);
        CHECK(conditional(0, 11) == 0);
        CHECK(conditional(0, 12) == 1);  // once
        CHECK(where.peek<std::uint64_t>(home) == 11);
        reserve(0);
        reserve(0, 5);
        reserve(1);
        CHECK(conditional(0, 20, 5) == 0);  // ends those of the others
        CHECK(conditional(0, 21) == 1);
        CHECK(conditional(1, 22) == 1);
        reserve(0);
        m.store(1, at + 32, 1);  // the same line
        CHECK(conditional(0, 23) == 1);
        reserve(0);
        m.store(1, at + 64, 1);  // another line
        CHECK(conditional(0, 24) == 0);
        reserve(0);
        atomic(m, 1, access_kind::atomic, at + 8, 0);
        CHECK(conditional(0, 25) == 1);
        reserve(0);
        CHECK(conditional(0, 26, 0, 64) == 1);  // another line
        CHECK(conditional(0, 27) == 1);         // and the attempt ended it
        reserve(0);
        where.poke<std::uint64_t>(home + 16, 0);  // a debugger
        CHECK(conditional(0, 28) == 1);
        CHECK(where.peek<std::uint64_t>(home) == 24);
        CHECK(where.system.l2.reservations.held() == 0);
    }
}

TEST_CASE("faults name their lanes and harm no others") {
    auto& m = fresh();
    m.map(base + 0x40000000, gpu0 | home, GPU_PTE_READ);
    m.map(base + 0x40001000, std::uint64_t{0x40} << 48);         // an aperture without a target
    m.map(base + 0x40002000, gpu0 | (std::uint64_t{64} << 20));  // beyond the memory
    m.map(base + 0x40003000, gpu0 | home, GPU_PTE_EXECUTE);
    const auto fault = [&](access_kind kind, std::uint64_t address) {
        auto a = m.clients[0]->one(kind, address, 1, 4, 3);
        m.time(0, a);
        CHECK(a->faulted == (a->fault == memory_fault::none ? 0 : lane_mask{8}));
        return a->fault;
    };
    const std::uint64_t read_only = base + 0x40000000;
    CHECK(fault(access_kind::read, read_only) == memory_fault::none);
    CHECK(fault(access_kind::write, read_only) == memory_fault::read_only);
    CHECK(fault(access_kind::atomic, read_only) == memory_fault::read_only);
    CHECK(fault(access_kind::read, read_only + 0x1000) == memory_fault::bus_error);
    CHECK(fault(access_kind::write, read_only + 0x1000) == memory_fault::bus_error);
    CHECK(fault(access_kind::read, read_only + 0x2000) == memory_fault::bus_error);
    CHECK(fault(access_kind::read, read_only + 0x3000) == memory_fault::unmapped);
    CHECK(fault(access_kind::read, base + 0x80000000) == memory_fault::unmapped);
    CHECK(fault(access_kind::read, 1ull << 47) == memory_fault::unmapped);
    CHECK(fault(access_kind::write, ~0ull & ~63ull) == memory_fault::unmapped);
    auto mixed = m.clients[0]->make(access_kind::write, 4);
    mixed->mask = 7;
    mixed->address = {base, read_only, base + 4096};
    mixed->data = {11, 12, 13};
    m.time(0, mixed);
    CHECK(mixed->fault == memory_fault::read_only);
    CHECK(mixed->faulted == 2);
    CHECK(m.peek<std::uint32_t>(home) == 11);
    CHECK(m.peek<std::uint32_t>(home + 4096) == 13);
    SECTION("after the page has come, it is there") {
        m.map(base + 0x80000000, gpu0 | home);
        CHECK(fault(access_kind::read, base + 0x80000000) == memory_fault::none);
    }
    SECTION("after the page has gone and translations are forgotten, it is not") {
        const std::uint64_t leaf = m.map(read_only, gpu0 | home, GPU_PTE_READ);
        m.poke<std::uint64_t>(leaf, 0);
        CHECK(fault(access_kind::read, read_only) == memory_fault::none);
        m.system.invalidate_translations(1);
        CHECK(fault(access_kind::read, read_only) == memory_fault::unmapped);
    }
}

TEST_CASE("page tables elsewhere are walked there") {
    auto& m = fresh();
    auto& b = both();
    const std::uint64_t remote_table = 0x80000;
    const std::uint64_t leaf = memory_machine::pte(gpu0 | home, GPU_PTE_READ);
    b.peer.poke<std::uint64_t>(remote_table, leaf);
    m.poke<std::uint32_t>(home, 77);
    m.map(base + 0x40000000, b.peer.base() | remote_table, 0, 1);  // an upper entry that points to a table of the peer
    const unsigned before = b.far.page_table;
    CHECK(m.load(0, base + 0x40000000) == 77);
    CHECK(b.far.page_table == before + 1);
    translation t;
    CHECK(m.system.debug_translate(1, base, t));
    CHECK(t.physical == (gpu0 | home));
}

TEST_CASE("lines that arrive trimmed fill the sectors that came") {
    auto& m = fresh();
    auto& b = both();
    b.far.trim = true;
    for (std::uint32_t i = 0; i < 16; ++i) b.peer.poke<std::uint32_t>(home + 4 * i, 100 + i);
    auto& l1 = m.system.units[0]->l1;
    const auto misses = l1.misses.value(), sector_misses = l1.sector_misses.value(), refetches = l1.refetches.value();
    CHECK(m.load(0, elsewhere) == 100);
    CHECK(m.load(0, elsewhere + 12) == 103);
    CHECK(l1.misses.value() == misses + 1);
    CHECK(m.load(0, elsewhere + 20) == 105);  // the next sector
    CHECK(l1.sector_misses.value() == sector_misses + 1);
    m.clients[0]->memory.invalidate();
    // A load that shares a fetch which was sent for another sector.
    auto first = m.clients[0]->one(access_kind::read, elsewhere),
         second = m.clients[0]->one(access_kind::read, elsewhere + 60);
    m.clients[0]->memory.issue(first);
    m.clients[0]->memory.issue(second);
    m.run();
    CHECK(first->data[0] == 100);
    CHECK(second->data[0] == 115);
    CHECK(l1.refetches.value() == refetches + 1);
    CHECK(b.far.trimmed >= 4);
}

TEST_CASE("byte ranges of any length and alignment") {
    auto& m = fresh();
    struct listener final : transfer_client {
        std::vector<std::uint64_t> ended;
        memory_fault fault = memory_fault::none;
        void transfer_done(std::uint64_t cookie, memory_fault f) override {
            ended.push_back(cookie);
            if (f != memory_fault::none) fault = f;
        }
    } l;
    auto& port = both().port;
    const std::size_t lengths[] = {1, 63, 64, 65, 4096, 5000};
    std::uint64_t cookie = 0;
    for (const std::size_t length : lengths)
        for (const std::uint64_t offset : {0, 1, 63}) {
            auto out = allocate_slice(length), in = allocate_slice(length);
            for (std::size_t i = 0; i < length; ++i) out.data()[i] = static_cast<std::uint8_t>(i * 7 + length);
            m.poke<std::uint8_t>(home + offset + length, 0x5a);
            port.write(gpu0 | (home + offset), out, l, ++cookie);
            port.read(gpu0 | (home + offset), in, l, ++cookie);  // behind it, as at a bus
            m.run();
            CHECK(std::equal(out.data(), out.data() + length, in.data()));
            CHECK(m.peek<std::uint8_t>(home + offset + length) == 0x5a);
        }
    CHECK(l.ended.size() == cookie);
    CHECK(l.fault == memory_fault::none);
    port.read(gpu0 | ((64 << 20) - 32), allocate_slice(64), l, ++cookie);  // beyond the end
    m.run();
    CHECK(l.ended.back() == cookie);
    CHECK(l.fault == memory_fault::bus_error);
}

TEST_CASE("a full queue says so, and says when it is not") {
    auto& m = fresh();
    auto& c = *m.clients[0];
    for (unsigned i = 0; i < 4; ++i) {
        CHECK(c.memory.can_issue());
        c.memory.issue(c.one(access_kind::read, base + 4096 * i));
    }
    CHECK_FALSE(c.memory.can_issue());
    CHECK(c.spaces == 0);
    m.run();
    CHECK(c.memory.can_issue());
    CHECK(c.spaces == 1);
    CHECK(c.done.size() == 4);
}

TEST_CASE("a reset drops what is under way") {
    auto& m = fresh();
    auto& c = *m.clients[0];
    c.memory.issue(c.one(access_kind::write, base, 1));
    c.memory.issue(c.one(access_kind::read, base + 64));
    const at_time later(calendar::current().now() + 40'000, [&] { m.system.reset(); });
    m.run();
    CHECK(c.done.empty());
    CHECK(m.system.pools.requests.live() == 0);
    CHECK(c.memory.can_issue());
    m.system.gmmu.set_root(1, m.base() | m.root);
    m.store(0, base, 5);
    CHECK(m.load(1, base) == 5);
}
