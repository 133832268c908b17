// SPDX-License-Identifier: Apache-2.0
// Speed of the fabric: four devices in two clusters, as in configs/netcrafter_quad.yaml, each reads and writes
// the memory of all others all the time. First with traffic generators alone; then with the memory systems of four GPUs
// of 64 compute units, whose place clients take that always have something to ask for. Prints one line of JSON:
// packet-hops (a packet on a link) a second of processor time, and calendar events a packet-hop.
//
//     fabric_bench [REQUESTS_PER_GENERATOR [ACCESSES_PER_UNIT]]
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fabric/interconnect.h"
#include "gpu/memory/fabric_port.h"
#include "gpu/memory/gpu_memory_system.h"

namespace {

using namespace fabricvp;
using namespace fabricvp::gpu;

constexpr unsigned gpus = 4, compute_units = 64, in_flight = 8;
constexpr std::uint64_t base = GPU_GLOBAL_BASE, pages = 64, tables = 0x100000, data = 0x4000000;

fabric::interconnect_params quad(bool generators, std::uint64_t requests) {
    fabric::interconnect_params p;
    p.switches.resize(2);
    for (unsigned c = 0; c < 2; ++c) {
        p.switches[c].name = fmt::format("cluster{}", c);
        p.switches[c].cluster = c;
    }
    const auto link = [&](const std::string& from, const std::string& to) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    };
    for (unsigned g = 0; g < gpus; ++g) {
        const auto name = fmt::format("gpu{}", g);
        if (generators) {
            p.generators.emplace_back();
            p.generators.back().name = name;
            p.generators.back().requests = requests;
            p.generators.back().outstanding = 256;
            p.generators.back().writes = 0.3;
            p.generators.back().page_tables = 0.1;
            p.generators.back().service = {100'000};
        } else {
            p.devices.push_back(name);
        }
        link(name, fmt::format("cluster{}", g / 2));
    }
    link("cluster0", "cluster1");
    p.links.back().lane_rate = {2'000'000'000};
    return p;
}

/// In the place of a compute unit: wavefronts that read or write 64 consecutive words somewhere in a peer's memory.
struct client final : access_client {
    client(vector_memory_unit& u, unsigned g, unsigned number, std::uint64_t accesses)
        : unit(u), home(g), state((number + 1) * 0x9e3779b97f4a7c15u), left(accesses) {}
    std::uint64_t random() {
        state ^= state << 13;
        state ^= state >> 7;
        return state ^= state << 17;
    }
    void go() {
        while (left && unit.can_issue() && unit.in_flight() < in_flight && depth < 8) {
            --left;
            ++depth;
            auto a = unit.make_access();
            const auto r = random();
            a->kind = r % 10 < 3 ? access_kind::write : access_kind::read;
            a->size = 4;
            a->address_space = 1;
            a->mask = ~lane_mask{0};
            a->client = this;
            // Pages lie with the GPUs in turns; take one of a peer's.
            const auto page = (r >> 8) % pages / gpus * gpus + (home + 1 + (r >> 20) % (gpus - 1)) % gpus;
            const auto first = base + (page << 21) + ((r >> 24) << 8 & 0x1fff00);
            for (unsigned i = 0; i < wavefront_lanes; ++i) {
                a->address[i] = first + 4 * i;
                a->data[i] = i;
            }
            unit.issue(a);
            --depth;
        }
    }
    void access_done(vector_access&, ticks) override {
        if (depth == 0) go();
    }
    void space_available() override {}
    vector_memory_unit& unit;
    unsigned home;
    std::uint64_t state, left;
    unsigned depth = 0;
};

struct linked_gpu {
    gpu_memory_system memory;
    fabric_port port;
    linked_gpu(unsigned index)
        : memory(fmt::format("memory{}", index).c_str(), {}, index, clock_domain(frequency{1'000'000'000}),
                 compute_units),
          port(fmt::format("port{}", index).c_str(), memory.router) {
        const std::uint64_t here = std::uint64_t{memory.router.where()} << GPU_PA_APERTURE_SHIFT;
        const auto put = [&](std::uint64_t at, std::uint64_t physical, unsigned flags) {
            const std::uint64_t e = physical >> 12 << GPU_PTE_PPN_SHIFT | GPU_PTE_VALID | flags;
            memory.memory.bytes.write(at, &e, 8);
        };
        put(tables, here | (tables + 0x1000), 0);
        put(tables + 0x1000 + (base >> 30 & 511) * 8, here | (tables + 0x2000), 0);
        for (std::uint64_t p = 0; p < pages; ++p)
            put(tables + 0x2000 + p * 8,
                std::uint64_t{GPU_PA_GPU0 + p % gpus} << GPU_PA_APERTURE_SHIFT | (data + (p << 21)),
                GPU_PTE_READ | GPU_PTE_WRITE);
        memory.gmmu.set_root(1, here | tables);
    }
};

struct figures {
    double hops_per_s, events_per_hop;
    std::uint64_t hops;
};

template <class Begin>
figures measure(const fabric::interconnect& net, Begin begin) {
    auto& timeline = calendar::current();
    const auto hops = net.packet_hops(), events = timeline.executed();
    const std::clock_t start = std::clock();
    begin();
    while (timeline.next_event_time() != never)
        timeline.run_until(timeline.next_event_time() + ticks_per_second / 1000);
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const auto carried = net.packet_hops() - hops;
    return {static_cast<double>(carried) / took,
            static_cast<double>(timeline.executed() - events) / static_cast<double>(carried), carried};
}

int run(std::uint64_t requests, std::uint64_t accesses) {
    calendar timeline;
    fabric::interconnect alone("alone", quad(true, requests)), net("net", quad(false, 0));
    std::vector<std::unique_ptr<linked_gpu>> linked;
    std::vector<std::unique_ptr<client>> clients;
    for (unsigned g = 0; g < gpus; ++g) {
        linked.push_back(std::make_unique<linked_gpu>(g));
        linked.back()->port.attach(*net.terminals[g]);
        for (auto& u : linked.back()->memory.units)
            clients.push_back(std::make_unique<client>(*u, g, static_cast<unsigned>(clients.size()), accesses));
    }
    const auto generators = measure(alone, [&] { alone.start(); });
    const auto with_gpus = measure(net, [&] {
        for (auto& c : clients) c->go();
    });
    for (const auto& g : alone.generators)
        if (!g->finished() || g->corrupt.value()) throw std::runtime_error("a packet was lost or corrupted");
    for (const auto& c : clients)
        if (c->left) throw std::runtime_error("a client did not finish");
    fmt::print(
        "{{\"value\": {:.0f}, \"with_gpus\": {:.0f}, \"unit\": \"packet-hops/s\", \"hops\": {}, \"hops_with_gpus\": "
        "{}, "
        "\"events_per_hop\": {:.3f}, \"events_per_hop_with_gpus\": {:.3f}}}\n",
        generators.hops_per_s, with_gpus.hops_per_s, generators.hops, with_gpus.hops, generators.events_per_hop,
        with_gpus.events_per_hop);
    return 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    try {
        return run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 150'000,
                   argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 300);
    } catch (const std::exception& e) {
        fmt::print(stderr, "fabric_bench: {}\n", e.what());
        return 2;
    }
}
