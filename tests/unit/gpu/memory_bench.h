// SPDX-License-Identifier: Apache-2.0
// A GPU's memory system with a client in the place of each compute unit, and page tables.
#pragma once

#include <catch2/catch.hpp>

#include <functional>
#include <vector>

#include "gpu/memory/gpu_memory_system.h"

namespace fabricvp::test {

using namespace fabricvp::gpu;

constexpr std::uint64_t gpu0 = std::uint64_t{GPU_PA_GPU0} << GPU_PA_APERTURE_SHIFT;

/// Issues accesses to one unit and keeps what comes back.
class memory_client final : public access_client {
public:
    explicit memory_client(vector_memory& m) : memory(m) {}

    struct result {
        vector_access_ptr access;
        ticks ready = 0;
    };
    vector_memory& memory;
    std::vector<result> done;  ///< in order of completion
    unsigned spaces = 0;       ///< times that space_available() was heard

    vector_access_ptr make(access_kind kind, unsigned bytes, std::uint32_t wavefront = 0) {
        auto a = memory.make_access();
        a->kind = kind;
        a->size = static_cast<std::uint8_t>(bytes);
        a->address_space = 1;
        a->wavefront = wavefront;
        a->client = this;
        return a;
    }
    /// One lane's access.
    vector_access_ptr one(access_kind kind, std::uint64_t address, std::uint64_t data = 0, unsigned bytes = 4,
                          unsigned lane = 0) {
        auto a = make(kind, bytes);
        a->mask = lane_mask{1} << lane;
        a->address[lane] = address;
        a->data[lane] = data;
        return a;
    }
    void access_done(vector_access& a, ticks ready) override { done.push_back({vector_access_ptr(&a), ready}); }
    void space_available() override { ++spaces; }
};

/// Calls a function at a time.
class at_time {
public:
    at_time(ticks when, std::function<void()> f) : m_f(std::move(f)) { calendar::current().schedule(m_event, when); }
    void fire() { m_f(); }

private:
    std::function<void()> m_f;
    calendar_event m_event{method<&at_time::fire>, this};
};

/// A client of line requests.
class line_listener final : public line_client {
public:
    struct response {
        ticks when;
        memory_fault fault;
        bool succeeded;
        std::uint64_t operand;
        std::array<std::uint8_t, line_bytes> data;
    };
    std::vector<response> responses;
    pool<line_request> requests;

    line_request_ptr make(access_kind kind, std::uint64_t physical, std::uint64_t owner = 0) {
        auto r = requests.make();
        r->kind = kind;
        r->line = physical & ~std::uint64_t{63};
        r->offset = static_cast<std::uint8_t>(physical & 63);
        r->size = 8;
        r->owner = owner;
        r->byte_mask = ~std::uint64_t{0};
        r->data.fill(0);
        r->client = this;
        return r;
    }
    void line_done(line_request& r) override {
        responses.push_back({calendar::current().now(), r.fault, r.succeeded, r.operand, r.data});
    }
};

struct memory_machine {
    gpu_memory_system system;
    std::vector<std::unique_ptr<memory_client>> clients;
    std::uint64_t root = 0x1000;        ///< of address space 1: an offset, as all below
    std::uint64_t next_table = 0x2000;  ///< where the next page table goes, up to 1 MiB

    memory_machine(const char* name, const gpu_memory_system_params& p, unsigned units, unsigned index = 0)
        : system(name, p, index, clock_domain(frequency{1'000'000'000}), units) {
        for (auto& u : system.units) clients.push_back(std::make_unique<memory_client>(*u));
        start();
    }
    /// Power-on state, with an empty address space 1.
    void reset() {
        system.reset();
        system.memory.bytes.clear();
        for (auto& c : clients) {
            c->done.clear();
            c->spaces = 0;
        }
        next_table = root + 0x1000;
        start();
    }

    std::uint64_t base() const { return std::uint64_t{system.router.where()} << GPU_PA_APERTURE_SHIFT; }
    std::uint64_t entry(std::uint64_t offset) {
        std::uint64_t e = 0;
        system.memory.bytes.read(offset, &e, 8);
        return e;
    }
    static std::uint64_t pte(std::uint64_t physical, unsigned flags) {
        return (physical >> 12) << GPU_PTE_PPN_SHIFT | flags | GPU_PTE_VALID;
    }
    /// Maps a page; `level` 0: 4 KiB, 1: 2 MiB. \returns the offset of the leaf entry
    std::uint64_t map(std::uint64_t address, std::uint64_t physical, unsigned flags = GPU_PTE_READ | GPU_PTE_WRITE,
                      unsigned level = 0) {
        std::uint64_t table = root;
        for (unsigned l = 3;; --l) {
            const std::uint64_t at = table + (address >> (12 + 9 * l) & 0x1ff) * 8;
            if (l == level) {
                const std::uint64_t e = pte(physical, flags);
                system.memory.bytes.write(at, &e, 8);
                return at;
            }
            std::uint64_t e = entry(at);
            if (!e) {
                e = pte(base() | next_table, 0);
                next_table += 0x1000;
                system.memory.bytes.write(at, &e, 8);
            }
            table = (e >> GPU_PTE_PPN_SHIFT) << 12 & GPU_PA_OFFSET_MASK;
        }
    }
    void map_range(std::uint64_t address, std::uint64_t offset, std::uint64_t bytes, unsigned level = 0,
                   unsigned flags = GPU_PTE_READ | GPU_PTE_WRITE) {
        const std::uint64_t page = level ? 1 << 21 : 1 << 12;
        for (std::uint64_t at = 0; at < bytes; at += page) map(address + at, base() + offset + at, flags, level);
    }
    template <class T>
    T peek(std::uint64_t offset) {
        T t;
        system.memory.bytes.read(offset, &t, sizeof t);
        return t;
    }
    template <class T>
    void poke(std::uint64_t offset, T value) {
        REQUIRE(system.debug_access(base() + offset, &value, sizeof value, true));
    }

    void run(ticks max_time = 1'000'000'000) { run_all(max_time); }
    static void run_all(ticks max_time = 1'000'000'000) {
        auto& c = calendar::current();
        const ticks limit = c.now() + max_time;
        while (c.next_event_time() != never) {
            REQUIRE(c.now() < limit);
            c.run_until(std::min(limit, c.next_event_time()));
        }
    }
    /// Issues and waits. \returns from issue to the data, in cycles of 1 ns
    double time(unsigned unit, const vector_access_ptr& a) {
        auto& client = *clients[unit];
        const std::size_t before = client.done.size();
        const ticks begin = calendar::current().now();
        client.memory.issue(a);
        run();
        REQUIRE(client.done.size() == before + 1);
        REQUIRE(client.done.back().access == a);
        const ticks ready = client.done.back().ready;
        client.done.pop_back();
        const at_time passes(std::max(ready, calendar::current().now()), [] {});
        run();
        return static_cast<double>(ready - begin) / 1000;
    }
    std::uint32_t load(unsigned unit, std::uint64_t address, memory_scope scope = memory_scope::plain) {
        auto a = clients[unit]->one(access_kind::read, address);
        a->scope = scope;
        time(unit, a);
        REQUIRE(a->fault == memory_fault::none);
        return static_cast<std::uint32_t>(a->data[0]);
    }
    void store(unsigned unit, std::uint64_t address, std::uint32_t value) {
        auto a = clients[unit]->one(access_kind::write, address, value);
        time(unit, a);
        REQUIRE(a->fault == memory_fault::none);
    }

private:
    void start() { system.gmmu.set_root(1, base() | root); }
};

/// A small L2 of four banks, two of whose four ways may be locked.
inline gpu_memory_system_params four_banks() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.l2.size = {64 << 10};
    p.l2.banks = 4;
    p.l2.ways = 4;
    p.l2.locked_ways = 2;
    return p;
}

/// The one machine of a test program, as at power-on.
template <gpu_memory_system_params (*params)(), unsigned units>
memory_machine& after_reset() {
    static struct {
        calendar cal{"calendar"};
        memory_machine m{"gpu0", params(), units};
    } bench;
    bench.m.reset();
    return bench.m;
}

}  // namespace fabricvp::test
