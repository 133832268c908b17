// SPDX-License-Identifier: Apache-2.0
#include "hart_bench.h"

#include <cstdlib>
#include <string>

#include "riscv/slicing.h"

namespace fabricvp::riscv {

constexpr unsigned csr_register = 65, privilege_register = csr_register + 4096;

void test_bus::transfer(bus_payload& payload) {
    const auto address = payload.get_address();
    const auto size = payload.get_data_length();
    auto* data = payload.get_data_ptr();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (auto* atomic = payload.get_extension<atomic_extension>()) {
        if (!performs_atomics || address < memory_base) {
            payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
            return;
        }
        std::uint64_t operand = 0;
        std::memcpy(&operand, data, size);
        m_memory.announce_write(address - memory_base, size);
        const auto old = perform_atomic(atomic->op, m_memory.data() + (address - memory_base), size, operand);
        m_memory.written(address - memory_base, size);
        std::memcpy(data, &old, size);
        atomic->performed = atomic->succeeded = true;
    } else if (address >= memory_base && address - memory_base < memory_size) {
        if (payload.is_read())
            m_memory.read(address - memory_base, data, size);
        else
            m_memory.write(address - memory_base, data, size);
    } else if (address >= device_base && address < device_base + 0x1000) {
        if (payload.is_read())
            std::memcpy(data, &registers[address], size);
        else
            std::memcpy(&registers[address], data, size);
    } else {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
}

bus_target::outcome test_bus::access(bus_payload& payload, ticks& delay) {
    std::uint64_t value = 0;
    std::memcpy(&value, payload.get_data_ptr(), payload.get_data_length());
    transfer(payload);
    if (payload.is_read()) std::memcpy(&value, payload.get_data_ptr(), payload.get_data_length());
    log.push_back({now(), payload.get_address(), value, payload.get_data_length(), payload.is_write()});
    if (responds_after) {
        m_waiting = &payload;
        schedule_in(m_response, responds_after);
        return outcome::pending;
    }
    delay += latency;
    return outcome::done;
}

unsigned test_bus::debug_access(bus_payload& payload) {
    transfer(payload);
    return payload.get_response_status() == tlm::TLM_OK_RESPONSE ? payload.get_data_length() : 0;
}

void test_listener::stopped(debug_target& t, stop_reason r, std::uint64_t a) {
    target = &t;
    reason = r;
    address = a;
    ++stops;
    calendar::current().stop();
}

hart_bench::hart_bench()
    : hart0("hart0", params, 0, map, time, microsecond), hart1("hart1", params, 1, map, time, microsecond) {
    map.add(memory_base, memory_size, {&memory, 0, true});
    map.add(rom_base, 4096, {&rom, 0, false});
    hart0.bus.bind(device0.bus);
    hart1.bus.bind(device1.bus);
}

hart_bench& hart_bench::instance() {
    static auto* bench = new hart_bench;  // outlives SystemC's own globals
    return *bench;
}

hart_bench& hart_bench::restart() {
    auto& b = instance();
    if (const auto* after = std::getenv("FABRICVP_TEST_TRANSLATE_AFTER"))
        translate_after(static_cast<unsigned>(std::stoul(after)));
    for (auto* h : {&b.hart0, &b.hart1}) {
        h->set_debug_listener(nullptr);
        h->set_lockstep(false);
        for (unsigned line : {1, 3, 5, 7, 9, 11}) h->set_interrupt(static_cast<interrupt_line>(line), false);
        h->halt();
        h->reset();
        h->attach_memory_timing(std::getenv("FABRICVP_TEST_TIMED_MEMORY") ? &b.timing : nullptr);
    }
    b.listener = {};
    b.run(10 * microsecond);
    b.memory.clear();
    b.device0.restart();
    b.device1.restart();
    return b;
}

void hart_bench::run(ticks span) {
    const auto end = timeline.now() + span;
    timeline.schedule(m_end, end);
    timeline.run_until(end);
}

void hart_bench::load(const assembler::program& p) {
    memory.write(p.base() - memory_base, p.words().data(), 4 * p.words().size());
}

void hart_bench::write(std::uint64_t address, std::uint64_t value, unsigned size) {
    memory.write(address - memory_base, &value, size);
}

std::uint64_t hart_bench::read(std::uint64_t address, unsigned size) const {
    std::uint64_t value = 0;
    memory.read(address - memory_base, &value, size);
    return value;
}

void hart_bench::start(hart& h, std::uint64_t pc) {
    REQUIRE(h.write_register(32, pc));
    h.start();
    h.resume();
}

void hart_bench::run_program(const assembler::program& p) {
    load(p);
    start(hart0, p.base());
    const auto end = p.here() - 4;
    for (int i = 0; i < 1000 && hart0.pc() != end; ++i) run(microsecond);
    REQUIRE(hart0.pc() == end);
}

std::uint64_t hart_bench::csr(unsigned number, hart* h) {
    std::uint64_t value = 0;
    REQUIRE((h ? h : &hart0)->read_register(csr_register + number, value));
    return value;
}

void hart_bench::set_csr(unsigned number, std::uint64_t value, hart* h) {
    REQUIRE((h ? h : &hart0)->write_register(csr_register + number, value));
}

void hart_bench::set_privilege(unsigned level, hart* h) {
    REQUIRE((h ? h : &hart0)->write_register(privilege_register, level));
}

}  // namespace fabricvp::riscv
