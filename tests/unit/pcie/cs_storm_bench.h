// SPDX-License-Identifier: Apache-2.0
// Eight copy engines in pairs on four boards, two boards a switch, two switches below a root complex, with host memory;
// set up as enumeration software would leave it.
#pragma once

#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/bus.h"
#include "pcie/copy_engine.h"
#include "pcie/root_complex.h"
#include "pcie/switch.h"

namespace fabricvp::pcie::test {

/// Host memory at address 0.
class host_memory final : public bus_target {
public:
    sparse_memory bytes{std::uint64_t{64} << 20};
    using bus_target::bus_target;

private:
    outcome access(bus_payload& p, ticks& latency) override {
        latency += 60'000;
        if (!bytes.contains(p.get_address(), p.get_data_length())) {
            p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return outcome::done;
        }
        if (p.is_read())
            bytes.read(p.get_address(), p.get_data_ptr(), p.get_data_length());
        else if (p.is_write())
            bytes.write(p.get_address(), p.get_data_ptr(), p.get_data_length());
        else if (auto* a = p.get_extension<atomic_extension>()) {
            const auto size = p.get_data_length();
            std::uint64_t operand = 0, compare = 0;
            std::memcpy(&operand, p.get_data_ptr(), size);
            if (a->op == atomic_extension::operation::compare_swap)
                std::memcpy(&compare, p.get_data_ptr() + size, size);
            const auto old = perform_atomic(a->op, bytes.data() + p.get_address(), size, operand, compare);
            std::memcpy(p.get_data_ptr(), &old, size);
            a->performed = true;
        }
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        return outcome::done;
    }
    unsigned debug_access(bus_payload&) override { return 0; }
};

class cs_storm_bench : public model {
public:
    static constexpr std::uint64_t window = 0x1'0000'0000, engine_memory = 16 << 20;

    host_memory memory{"memory"};
    root_complex root;
    std::vector<std::unique_ptr<pcie_switch>> sockets, boards;
    std::vector<std::unique_ptr<copy_engine>> engines;

    cs_storm_bench(const sc_core::sc_module_name& name, const port_params& port, std::uint64_t peer_to_peer_payload,
                   const requester_params& requester = {})
        : model(name), root("root", root_parameters(port, peer_to_peer_payload, requester)) {
        root.memory.bind(memory.bus);
        switch_params s;
        s.upstream_port = s.downstream_port = port;
        copy_engine_params e;
        e.link = port;
        e.dma = requester;
        e.memory = {engine_memory};
        for (unsigned i = 0; i < 2; ++i) {
            sockets.push_back(std::make_unique<pcie_switch>(fmt::format("socket{}", i).c_str(), s));
            connect(root.root_port(i), sockets[i]->upstream_port());
            for (unsigned b = 0; b < 2; ++b) {
                boards.push_back(std::make_unique<pcie_switch>(fmt::format("board{}", 2 * i + b).c_str(), s));
                connect(sockets[i]->downstream_port(b), boards.back()->upstream_port());
                for (unsigned g = 0; g < 2; ++g) {
                    engines.push_back(
                        std::make_unique<copy_engine>(fmt::format("engine{}", 4 * i + 2 * b + g).c_str(), e));
                    connect(boards.back()->downstream_port(g), engines.back()->link);
                }
            }
        }
        enumerate();
    }

    /// Numbers buses and assigns addresses, as enumeration software would; again after resets.
    void enumerate() {
        unsigned bus = 1;
        for (unsigned i = 0; i < 2; ++i) {
            const auto first_bus = bus++, first = 4 * i;
            const auto internal = bus++;
            for (unsigned b = 0; b < 2; ++b) {
                auto& board = *boards[2 * i + b];
                const auto board_bus = bus++, board_internal = bus++;
                for (unsigned g = 0; g < 2; ++g) {
                    const auto n = 4 * i + 2 * b + g;
                    auto& engine = *engines[n];
                    const auto engine_bus = bus++;
                    program(*board.downstream[g], board_internal, engine_bus, engine_bus, n, 1);
                    engine.dma.id = static_cast<std::uint16_t>(engine_bus << 8);
                    engine.dma.max_payload = static_cast<std::uint32_t>(engine.link.params.max_payload);
                    engine.config.space.set(0x18, 8, engine_base(n) | 0xc);
                    engine.config.space.set(0x04, 2, 0x6);
                }
                program(board.upstream, board_bus, board_internal, bus - 1, 4 * i + 2 * b, 2);
                program(*sockets[i]->downstream[b], internal, board_bus, bus - 1, 4 * i + 2 * b, 2);
            }
            program(sockets[i]->upstream, first_bus, internal, bus - 1, first, 4);
            program(*root.bridges[i], 0, first_bus, bus - 1, first, 4);
            set_payload(*root.bridges[i], root.root_port(i).params.max_payload);
        }
    }

    static std::uint64_t engine_base(unsigned n) { return window + n * engine_memory; }

private:
    static root_complex_params root_parameters(const port_params& port, std::uint64_t payload,
                                               const requester_params& requester) {
        root_complex_params r;
        r.root_ports = 2;
        r.root_port = port;
        r.host_requests = requester;
        r.peer_to_peer_payload = {payload};
        return r;
    }
    static void set_payload(bridge& b, std::uint64_t bytes) {
        const auto code = payload_code(static_cast<unsigned>(bytes));
        const auto at = b.space.find_capability(express_id) + express::device_control;
        b.space.set(at, 2, (b.space.get(at, 2) & ~0xe0u) | code << 5);
    }
    static void program(bridge& b, unsigned primary, unsigned secondary, unsigned subordinate, unsigned first,
                        unsigned count) {
        b.space.set(0x18, 3, primary | secondary << 8 | subordinate << 16);
        const auto base = engine_base(first), limit = base + count * engine_memory - 1;
        b.space.set(0x24, 4, (base >> 16 & 0xfff0) | ((limit >> 16 & 0xfff0) << 16));
        b.space.set(0x28, 4, base >> 32);
        b.space.set(0x2c, 4, limit >> 32);
        b.space.set(0x04, 2, 0x6);
    }
};

}  // namespace fabricvp::pcie::test
