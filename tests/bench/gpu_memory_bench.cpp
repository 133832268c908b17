// SPDX-License-Identifier: Apache-2.0
// L1 transactions a second of wall time of a GPU's memory system (stock sizes, 64 compute units), with the compute
// units replaced by clients that always have something to ask for. Prints one JSON object; with an argument, only that
// pattern.
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "gpu/memory/gpu_memory_system.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

constexpr unsigned compute_units = 64, in_flight = 16;
constexpr std::uint64_t base = GPU_GLOBAL_BASE, footprint = 256 << 20, tables = 0x100000, data = 0x1000000;

struct pattern {
    const char* name;
    access_kind kind;
    std::uint64_t bytes;  // footprint
    bool random;
    unsigned level;  // of the page table: 0: pages of 4 KiB, 1: 2 MiB
    std::uint64_t accesses;
};
const pattern patterns[] = {
    {"random_loads", access_kind::read, footprint, true, 1, 20'000},
    {"random_loads_4k_pages", access_kind::read, footprint, true, 0, 20'000},
    {"random_stores", access_kind::write, footprint, true, 1, 20'000},
    {"random_atomics", access_kind::atomic, footprint, true, 1, 20'000},
    {"random_loads_l2", access_kind::read, 1 << 20, true, 1, 20'000},
    {"unit_stride_loads", access_kind::read, footprint, false, 1, 200'000},
    {"unit_stride_l1_hits", access_kind::read, 8 << 10, false, 1, 1'000'000},
};

struct client final : access_client {
    client(vector_memory_unit& u, const pattern& p, unsigned number)
        : unit(u),
          what(p),
          state(number * 0x9e3779b97f4a7c15u + 12345),
          next(number * (p.bytes / compute_units)),
          left(p.accesses / compute_units) {}
    std::uint64_t random() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
    void go() {
        while (left && unit.can_issue() && unit.in_flight() < in_flight && depth < 8) {
            --left;
            ++depth;
            auto a = unit.make_access();
            a->kind = what.kind;
            a->size = 4;
            a->operation = atomic_extension::operation::add;
            a->address_space = 1;
            a->mask = ~lane_mask{0};
            a->client = this;
            for (unsigned i = 0; i < 64; ++i) {
                a->address[i] =
                    base + (what.random ? (random() % what.bytes & ~std::uint64_t{3}) : (next + 4 * i) % what.bytes);
                a->data[i] = i;
            }
            next += 256;
            unit.issue(a);
            --depth;
        }
    }
    void access_done(vector_access&, ticks) override {
        if (depth == 0) go();
    }
    void space_available() override {}
    vector_memory_unit& unit;
    const pattern& what;
    std::uint64_t state, next, left;
    unsigned depth = 0;
};

void map(gpu_memory_system& m, const pattern& p) {
    const std::uint64_t home = std::uint64_t{m.router.where()} << GPU_PA_APERTURE_SHIFT;
    std::uint64_t free = tables + 0x1000;
    const auto entry = [&](std::uint64_t table, std::uint64_t address, unsigned level) {
        return table + (address >> (12 + 9 * level) & 511) * 8;
    };
    for (std::uint64_t at = 0; at < footprint; at += p.level ? 1 << 21 : 1 << 12) {
        std::uint64_t table = tables;
        for (unsigned level = 3; level > p.level; --level) {
            std::uint64_t e;
            m.memory.bytes.read(entry(table, base + at, level), &e, 8);
            if (!e) {
                e = ((home | free) >> 12) << GPU_PTE_PPN_SHIFT | GPU_PTE_VALID;
                m.memory.bytes.write(entry(table, base + at, level), &e, 8);
                free += 0x1000;
            }
            table = e >> GPU_PTE_PPN_SHIFT << 12 & GPU_PA_OFFSET_MASK;
        }
        const std::uint64_t leaf =
            ((home | (data + at)) >> 12) << GPU_PTE_PPN_SHIFT | GPU_PTE_VALID | GPU_PTE_READ | GPU_PTE_WRITE;
        m.memory.bytes.write(entry(table, base + at, p.level), &leaf, 8);
    }
    m.gmmu.set_root(1, home | tables);
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    calendar cal;
    gpu_memory_system m("memory", {}, 0, clock_domain(frequency{1'000'000'000}), compute_units);
    cal.run_until(0);
    std::printf("{");
    const char* separator = "";
    for (const pattern& p : patterns) {
        if (argc > 1 && std::strcmp(argv[1], p.name) != 0) continue;
        m.reset();
        m.memory.bytes.clear();
        map(m, p);
        std::vector<std::unique_ptr<client>> clients;
        for (unsigned i = 0; i < compute_units; ++i) clients.push_back(std::make_unique<client>(*m.units[i], p, i));
        const auto count = [&] {
            std::uint64_t n = 0;
            for (auto& u : m.units) n += u->transactions.total();
            return n;
        };
        const std::uint64_t before = count(), events = cal.executed();
        const ticks simulated = cal.now();
        const std::clock_t clock_begin = std::clock();
        const auto begin = std::chrono::steady_clock::now();
        for (auto& c : clients) c->go();
        cal.run_until(cal.now() + 1'000'000'000'000);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const auto n = static_cast<double>(count() - before);
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        const double processor = static_cast<double>(std::clock() - clock_begin) / CLOCKS_PER_SEC;
        std::printf(
            "%s\n \"%s\": {\"transactions_per_s\": %.0f, \"transactions_per_cpu_s\": %.0f, \"transactions\": %.0f, "
            "\"events_per_transaction\": %.2f, "
            "\"simulated_us\": %.1f, \"resident_mb\": %ld}",
            separator, p.name, n / seconds, n / processor, n, static_cast<double>(cal.executed() - events) / n,
            static_cast<double>(cal.now() - simulated) / 1e6, usage.ru_maxrss / 1024);
        separator = ",";
    }
    std::printf("\n}\n");
    return 0;
}
