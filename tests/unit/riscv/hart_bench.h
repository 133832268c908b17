// SPDX-License-Identifier: Apache-2.0
// Two harts with a memory and a device, for unit tests. One bench a process; each test case restarts it.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "assembler.h"
#include "riscv/csr_numbers.h"
#include "riscv/hart.h"

namespace fabricvp::riscv {

constexpr std::uint64_t memory_base = 0x80000000, memory_size = 16u << 20, rom_base = 0x10000, device_base = 0x10000000;
constexpr ticks nanosecond = 1000, microsecond = 1'000'000;

/// mtime at 10 MHz.
class test_timebase final : public timebase {
public:
    static constexpr ticks period = 100 * nanosecond;
    std::uint64_t time_at(ticks at) const override { return at / period; }
    ticks when(std::uint64_t value) const override { return value > never / period ? never : value * period; }
};

/// What a hart's bus reaches: the memory (for pages that a device has touched) and 4 KiB of device registers.
class test_bus final : public bus_target {
public:
    struct entry {
        ticks when;
        std::uint64_t address, value;
        unsigned size;
        bool write;
    };
    std::vector<entry> log;
    ticks latency = 0;         ///< told with the response
    ticks responds_after = 0;  ///< if not zero: the response comes later, on the backward path
    bool performs_atomics = true;
    std::map<std::uint64_t, std::uint64_t> registers;

    test_bus(const sc_core::sc_module_name& name, sparse_memory& memory) : bus_target(name), m_memory(memory) {}
    void restart() {
        log.clear();
        registers.clear();
        latency = responds_after = 0;
        performs_atomics = true;
    }

private:
    outcome access(bus_payload& payload, ticks& delay) override;
    unsigned debug_access(bus_payload& payload) override;
    void transfer(bus_payload& payload);
    void answer() { complete(*m_waiting); }

    sparse_memory& m_memory;
    bus_payload* m_waiting = nullptr;
    calendar_event m_response{method<&test_bus::answer>, this};
};

/// Stops the simulation when a hart stops.
class test_listener final : public debug_listener {
public:
    debug_target* target = nullptr;
    stop_reason reason = stop_reason::none;
    std::uint64_t address = 0;
    unsigned stops = 0;
    void stopped(debug_target& t, stop_reason r, std::uint64_t a) override;
};

/// Caches that have every line: an access costs nothing, and harts need not ask for where its bytes lie.
struct hitting_timing final : memory_timing {
    std::uint64_t hits = 0, accesses = 0;
    ticks access(std::uint64_t, std::uint64_t, unsigned, use, ticks) override {
        ++accesses;
        return 0;
    }
    bool hit(std::uint64_t, std::uint64_t, unsigned, use) override {
        ++hits;
        return true;
    }
};

/// With FABRICVP_TEST_TIMED_MEMORY in the environment, harts have a hitting_timing: what holds for direct memory holds
/// for timed memory.
class hart_bench {
public:
    static hart_bench& instance();

    calendar timeline;
    sparse_memory memory{memory_size}, rom{4096};
    direct_memory_map map;
    test_timebase time;
    hart_params params;
    test_bus device0{"device0", memory}, device1{"device1", memory};
    hart hart0, hart1;
    test_listener listener;
    hitting_timing timing;

    /// Everything as at power-on, both harts stopped.
    static hart_bench& restart();

    void load(const assembler::program& p);
    void write(std::uint64_t address, std::uint64_t value, unsigned size = 8);
    std::uint64_t read(std::uint64_t address, unsigned size = 8) const;
    /// Starts a hart at `pc` now.
    void start(hart& h, std::uint64_t pc);
    /// Runs for a time, even if nothing happens.
    void run(ticks span);
    /// Runs a program on hart 0 until it loops at its last instruction (which must be `j(0)`), 1 ms at most.
    void run_program(const assembler::program& p);
    std::uint64_t csr(unsigned number, hart* h = nullptr);
    void set_csr(unsigned number, std::uint64_t value, hart* h = nullptr);
    void set_privilege(unsigned level, hart* h = nullptr);

private:
    hart_bench();
    void nothing() {}
    calendar_event m_end{method<&hart_bench::nothing>, this};
};

}  // namespace fabricvp::riscv
