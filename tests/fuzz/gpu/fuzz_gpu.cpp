// SPDX-License-Identifier: Apache-2.0
// Fuzzes what guests give a GPU. A machine runs an application up to the middle of a kernel; each trial is a child of
// that process, changes something, and runs on. A trial fails if it ends by a signal, by an exception, or not at all.
//
//   tables     entries of the page tables
//   processor  random instructions as the firmware of the command processor, with registers that hold its addresses
//   control    words of the host's registers, of the command processor's registers and of its memory, while it runs
//
// usage: fuzz_gpu MODE [rounds] [seed]; a trial alone: fuzz_gpu MODE 1 SEED
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <systemc>

#include "abi/gpu.h"
#include "base/log.h"
#include "gpu/gpu_core.h"
#include "platform/apps.h"
#include "platform/machine.h"
#include "platform/platform.h"

namespace {

using namespace fabricvp;

constexpr std::uint64_t capacity = 64 << 20;
constexpr ticks microsecond = 1'000'000;

class source {
public:
    explicit source(std::uint64_t seed) : m_random(seed) {}
    std::uint64_t bits(unsigned n) { return m_random() >> (64 - n); }
    std::uint64_t below(std::uint64_t n) { return m_random() % n; }
    bool once_in(std::uint64_t n) { return below(n) == 0; }
    template <class T>
    const T& one_of(const std::vector<T>& from) {
        return from[below(from.size())];
    }

private:
    std::mt19937_64 m_random;
};

/// A machine whose GPUs are in the middle of a kernel.
class fuzzed_machine {
public:
    fuzzed_machine() {
        set_log_threshold(log_level::error);
        m_platform = platform::from_config(
            "netcrafter_quad", {{"node.gpus.*.memory.capacity", "64 MiB"}, {"node.gpus.*.compute_units", "4"}});
        load_app(*m_platform, 0, "vectoradd", {16384, 0, "", "", "", ""});
        for (auto& g : m_platform->hardware().nodes[0]->devices.gpus) m_gpus.push_back(&g->core);
        auto& launched = *m_gpus[0];
        while (launched.dispatcher.work_groups.total() < 8 && m_platform->now() < 100'000 * microsecond)
            run(microsecond);
        if (m_platform->now() >= 100'000 * microsecond) throw std::runtime_error("no kernel was launched");
        find_tables();
    }

    void run(ticks time) { m_platform->run_until(m_platform->now() + time); }
    gpu::gpu_core& any(source& random) { return *random.one_of(m_gpus); }

    std::uint64_t entry_address(source& random) {
        return random.one_of(m_tables) + 8 * (random.once_in(4) ? random.below(512) : random.one_of(m_used));
    }
    std::uint64_t table(source& random) { return random.one_of(m_tables); }

private:
    /// Pages of the first GPU's memory that hold nothing but entries of page tables.
    void find_tables() {
        auto& memory = m_gpus[0]->memory.memory.bytes;
        for (std::uint64_t at = 0; at < capacity; at += 4096) {
            std::uint64_t entries[512];
            memory.read(at, entries, sizeof entries);
            unsigned used = 0, wrong = 0;
            std::vector<std::uint64_t> indices;
            for (unsigned i = 0; i < 512; ++i) {
                if (!entries[i]) continue;
                ++used;
                indices.push_back(i);
                wrong += !(entries[i] & GPU_PTE_VALID) || entries[i] >> 46 > 4;
            }
            if (!used || wrong) continue;
            m_tables.push_back(at);
            m_used.insert(m_used.end(), indices.begin(), indices.end());
        }
        if (m_tables.empty()) throw std::runtime_error("no page tables were found");
    }

    std::unique_ptr<platform> m_platform;
    std::vector<gpu::gpu_core*> m_gpus;
    std::vector<std::uint64_t> m_tables, m_used;
};

std::uint64_t physical(source& random) {
    const std::uint64_t where = random.one_of(
        std::vector<std::uint64_t>{GPU_PA_SYSTEM, GPU_PA_GPU0, GPU_PA_GPU0, GPU_PA_GPU0 + 1, GPU_PA_GPU0 + 3,
                                   GPU_PA_GPU0 + 7, GPU_PA_VIRTUAL, GPU_PA_LOCAL, random.bits(8), random.bits(16)});
    const std::uint64_t offset = random.one_of(std::vector<std::uint64_t>{
        random.below(capacity), random.bits(20), random.bits(34), random.bits(48), capacity - random.below(256),
        0x80000000 + random.bits(26), 0x40000000 + random.bits(28)});
    return where << GPU_PA_APERTURE_SHIFT | offset;
}

std::uint64_t table_entry(source& random, fuzzed_machine& m) {
    const std::uint64_t flags = random.bits(10);
    switch (random.below(5)) {
        case 0: return random.bits(64);
        case 1: return (random.bits(44) << GPU_PTE_PPN_SHIFT | flags | GPU_PTE_VALID) & ((1ull << 54) - 1);
        case 2: return (physical(random) >> 12 & ((1ull << 44) - 1)) << GPU_PTE_PPN_SHIFT | flags | GPU_PTE_VALID;
        case 3: {
            const auto page = physical(random) >> 21 << 9 & ((1ull << 44) - 1);
            return page << GPU_PTE_PPN_SHIFT | 0xcf | random.bits(2) << GPU_PTE_TYPE_SHIFT;
        }
        default:
            return ((std::uint64_t{GPU_PA_GPU0} << 36) | m.table(random) >> 12) << GPU_PTE_PPN_SHIFT |
                   (random.once_in(2) ? GPU_PTE_VALID : flags);
    }
}

void fuzz_tables(source& random, fuzzed_machine& m) {
    for (auto n = 1 + random.below(40); n-- > 0;) {
        const auto entry = table_entry(random, m);
        auto& core = m.any(random);
        core.memory.memory.bytes.write(m.entry_address(random), &entry, 8);
        if (random.once_in(3)) core.processor.on_tlb_invalidate(static_cast<std::uint32_t>(random.below(4)));
        if (random.once_in(8)) core.memory.gmmu.set_root(1, random.once_in(2) ? random.bits(64) : physical(random));
        if (random.once_in(3)) m.run(microsecond / 4);
    }
    m.run(200 * microsecond);
}

std::uint64_t cp_register(source& random) {
    return GPU_LOCAL(GPU_CP_REGISTERS_BASE +
                     (random.once_in(3) ? 0x1000 + random.below(0x500) : random.below(0x700)) / 4 * 4);
}

std::uint32_t instruction(source& random) {
    const auto r = [&] { return static_cast<std::uint32_t>(random.below(32)); };
    const auto bits = [&](unsigned n) { return static_cast<std::uint32_t>(random.bits(n)); };
    const auto f3 = bits(3) << 12;
    switch (random.below(12)) {
        case 0: return bits(32);
        case 1: return bits(6) << 20 | r() << 15 | f3 | r() << 7 | 0x03;
        case 2: return r() << 20 | r() << 15 | f3 | bits(5) << 7 | 0x23;
        case 3: return bits(20) << 12 | r() << 7 | (random.once_in(2) ? 0x37 : 0x17);
        case 4:
        case 5: return bits(12) << 20 | r() << 15 | f3 | r() << 7 | (random.once_in(2) ? 0x13 : 0x1b);
        case 6: return bits(7) << 25 | r() << 20 | r() << 15 | f3 | r() << 7 | (random.once_in(2) ? 0x33 : 0x3b);
        case 7:
            return random.one_of(std::vector<std::uint32_t>{0, 1, 2, 3, 4, 8, 0xc, 0x10, 0x14, 0x18, 0x1c}) << 27 |
                   bits(2) << 25 | r() << 20 | r() << 15 | (2 + bits(1)) << 12 | r() << 7 | 0x2f;
        case 8:
            return random.one_of(std::vector<std::uint32_t>{0x300, 0x304, 0x305, 0x340, 0x341, 0x342, 0x344, bits(12)})
                       << 20 |
                   r() << 15 | f3 | r() << 7 | 0x73;
        case 9: return bits(16) | bits(16) << 16;
        case 10: return bits(25) << 7 | 0x63;
        default: return bits(25) << 7 | 0x0f;
    }
}

/// x31 points to values for all other registers, which the first instructions load; then comes anything.
void fuzz_processor(source& random, fuzzed_machine& m) {
    constexpr std::uint64_t entry = GPU_SRAM_FIRMWARE, table = 256;
    auto& core = m.any(random);
    std::vector<std::uint32_t> code{0x00000f97};  // auipc x31, 0
    for (std::uint32_t x = 1; x < 31; ++x) code.push_back((table + 8 * x) << 20 | 31u << 15 | 3u << 12 | x << 7 | 0x03);
    code.push_back(0x2000006f);  // j 512 further
    code.resize(table / 4, 0x13);
    for (std::uint32_t x = 0; x < 32; ++x) {
        const std::uint64_t value = random.one_of(std::vector<std::uint64_t>{
            cp_register(random), cp_register(random), GPU_LOCAL(random.below(1 << 17)), physical(random),
            GPU_VIRTUAL(0x80000000 + random.bits(24)), random.bits(64), random.below(64)});
        code.push_back(static_cast<std::uint32_t>(value));
        code.push_back(static_cast<std::uint32_t>(value >> 32));
    }
    while (code.size() < 31 + 128) code.push_back(0x13);
    while (code.size() < 1024) code.push_back(instruction(random));
    core.hold_processor();
    core.processor.host_write(entry, code.data(), code.size() * 4);
    core.processor.run(entry);
    m.run(200 * microsecond);
}

void fuzz_control(source& random, fuzzed_machine& m) {
    for (auto n = 1 + random.below(60); n-- > 0;) {
        auto& core = m.any(random);
        const auto value = random.one_of(std::vector<std::uint64_t>{
            0, 1, 2, ~std::uint64_t{0}, random.below(64), random.bits(32), random.bits(64), physical(random)});
        switch (random.below(8)) {
            case 0:
            case 1:
            case 2: {
                const auto at = cp_register(random) - GPU_LOCAL(GPU_CP_REGISTERS_BASE);
                const unsigned size = random.once_in(2) ? 8 : 4;
                core.processor.registers.write(at, &value, size);
                break;
            }
            case 3: {
                std::uint64_t read;
                core.processor.registers.read(cp_register(random) - GPU_LOCAL(GPU_CP_REGISTERS_BASE), &read, 8);
                break;
            }
            case 4:
            case 5: {
                const auto table = random.one_of(
                    std::vector<std::uint64_t>{GPU_SRAM_QUEUES, GPU_SRAM_SPACES, GPU_SRAM_FAULTS, GPU_SRAM_FIRMWARE});
                core.processor.host_write(table + random.below(0x800) / 4 * 4, &value, 4);
                break;
            }
            case 6: core.processor.ring(static_cast<unsigned>(random.below(70)), value); break;
            default:
                if (random.once_in(3))
                    core.hold_processor();
                else if (random.once_in(2))
                    core.processor.run(random.once_in(2) ? GPU_SRAM_FIRMWARE : value);
                else
                    core.processor.host_request();
        }
        if (random.once_in(3)) m.run(microsecond);
    }
    m.run(200 * microsecond);
}

const std::map<std::string, std::function<void(source&, fuzzed_machine&)>> modes = {
    {"tables", fuzz_tables}, {"processor", fuzz_processor}, {"control", fuzz_control}};

/// \returns how the trial ended; empty: as it should
std::string trial(const std::function<void(source&, fuzzed_machine&)>& mode, std::uint64_t seed, fuzzed_machine& m) {
    std::fflush(nullptr);
    const auto child = ::fork();
    if (child < 0) return "cannot fork";
    if (child == 0) {
        ::alarm(60);
        int status = 0;
        try {
            source random(seed);
            mode(random, m);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "fuzz_gpu: %s\n", e.what());
            status = 1;
        }
        std::_Exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) ? fmt::format("status {}", WEXITSTATUS(status)) : "";
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    const auto mode = argc > 1 ? modes.find(argv[1]) : modes.end();
    if (mode == modes.end()) {
        std::fprintf(stderr, "usage: fuzz_gpu tables|processor|control [rounds] [seed]\n");
        return 2;
    }
    const auto rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1000;
    const auto first = argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 1;
    unsigned failed = 0;
    try {
        fuzzed_machine machine;
        for (std::uint64_t seed = first; seed < first + rounds && failed < 10; ++seed) {
            const auto why = trial(mode->second, seed, machine);
            if (why.empty()) continue;
            ++failed;
            fmt::print(stderr, "fuzz_gpu {}: {}; again with: fuzz_gpu {} 1 {}\n", mode->first, why, mode->first, seed);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "fuzz_gpu: %s\n", e.what());
        return 2;
    }
    fmt::print("fuzz_gpu {}: {} trials from seed {}, {} failed\n", mode->first, rounds, first, failed);
    return failed ? 1 : 0;
}
