// SPDX-License-Identifier: Apache-2.0
// Runs an ELF or raw binary on one hart with plain memory and reports its speed as JSON. The program ends by writing
// 0x5555 (pass) or 0x3333 | code << 16 (fail) to the test finisher at 0x100000.
//
//     iss_bench [--quantum NS] [--clock HZ] [--memory MIB] [--max-time SECONDS] PROGRAM
#include <elf.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "riscv/hart.h"

namespace {

using namespace fabricvp;

constexpr std::uint64_t memory_base = 0x80000000, finisher_address = 0x100000;

/// mtime at 10 MHz.
class plain_timebase final : public riscv::timebase {
public:
    std::uint64_t time_at(ticks at) const override { return at / period; }
    ticks when(std::uint64_t value) const override { return value > never / period ? never : value * period; }

private:
    static constexpr ticks period = 100'000;
};

class finisher final : public bus_target {
public:
    int status = -1;
    explicit finisher(const sc_core::sc_module_name& name) : bus_target(name) {}

private:
    outcome access(bus_payload& payload, ticks&) override {
        const bool writes = payload.get_command() == tlm::TLM_WRITE_COMMAND;
        if (payload.get_address() != finisher_address || !writes || payload.get_data_length() > 8) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return outcome::done;
        }
        std::uint64_t value = 0;
        std::memcpy(&value, payload.get_data_ptr(), payload.get_data_length());
        if ((value & 0xffff) == 0x5555) status = 0;
        if ((value & 0xffff) == 0x3333) status = static_cast<int>(value >> 16 & 0xff);
        if (status >= 0) timeline().stop();
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return outcome::done;
    }
    unsigned debug_access(bus_payload&) override { return 0; }
};

std::uint64_t load(const std::string& path, sparse_memory& memory) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    const auto place = [&](std::uint64_t address, std::size_t from, std::size_t size) {
        if (from > bytes.size() || size > bytes.size() - from || address < memory_base ||
            !memory.contains(address - memory_base, size))
            throw std::runtime_error(path + " does not fit the memory at 0x80000000");
        memory.write(address - memory_base, bytes.data() + from, size);
    };
    Elf64_Ehdr header;
    if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
        place(memory_base, 0, bytes.size());
        return memory_base;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_RISCV)
        throw std::runtime_error(path + " is not a 64-bit RISC-V ELF file");
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        const auto at = header.e_phoff + std::uint64_t{i} * header.e_phentsize;
        Elf64_Phdr segment;
        if (at > bytes.size() || bytes.size() - at < sizeof segment) throw std::runtime_error(path + " is truncated");
        std::memcpy(&segment, bytes.data() + at, sizeof segment);
        if (segment.p_type == PT_LOAD) place(segment.p_paddr, segment.p_offset, segment.p_filesz);
    }
    return header.e_entry;
}

int run(const std::vector<std::string>& arguments) {
    std::string program;
    std::uint64_t quantum_ns = 1000, clock = 1'000'000'000, memory_mib = 256;
    double max_seconds = 3600;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& a = arguments[i];
        if (a.rfind("--", 0) == 0) {
            if (i + 1 == arguments.size()) throw std::runtime_error(a + " needs a value");
            const auto& value = arguments[++i];
            if (a == "--quantum")
                quantum_ns = std::stoull(value);
            else if (a == "--clock")
                clock = std::stoull(value);
            else if (a == "--memory")
                memory_mib = std::stoull(value);
            else if (a == "--max-time")
                max_seconds = std::stod(value);
            else
                throw std::runtime_error("unknown option " + a);
        } else {
            program = a;
        }
    }
    if (program.empty()) throw std::runtime_error("usage: iss_bench [options] PROGRAM");

    calendar timeline;
    sparse_memory memory(memory_mib << 20);
    direct_memory_map map;
    map.add(memory_base, memory.size(), {&memory, 0, true});
    plain_timebase time;
    riscv::hart_params params;
    params.clock.hertz = clock;
    riscv::hart hart("hart", params, 0, map, time, quantum_ns * 1000);
    finisher end("finisher");
    hart.bus.bind(end.bus);
    hart.set_reset_vector(load(program, memory));
    hart.start();

    const auto begin = std::chrono::steady_clock::now();
    const auto reached = timeline.run_until(static_cast<ticks>(max_seconds * 1e12));
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    const auto instructions = hart.instructions.total();
    fmt::print(
        "{{\"instructions\": {}, \"wall_s\": {:.6f}, \"mips\": {:.2f}, \"simulated_s\": {:.9f}, \"status\": {}}}\n",
        instructions, wall.count(), static_cast<double>(instructions) / wall.count() / 1e6,
        static_cast<double>(reached) / 1e12, end.status);
    return end.status == 0 ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& e) {
        fmt::print(stderr, "iss_bench: {}\n", e.what());
        return 2;
    }
}
