// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "abi/gpu.h"
#include "gpu/gpu_core.h"
#include "platform/platform.h"

namespace fabricvp::fuzz {

inline constexpr std::uint64_t capacity = 64 << 20;
inline constexpr ticks microsecond = 1'000'000;

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
    fuzzed_machine();

    void run(ticks time) { m_platform->run_until(m_platform->now() + time); }
    gpu::gpu_core& any(source& random) { return *random.one_of(m_gpus); }

    std::uint64_t entry_address(source& random) {
        return random.one_of(m_tables) + 8 * (random.once_in(4) ? random.below(512) : random.one_of(m_used));
    }
    std::uint64_t table(source& random) { return random.one_of(m_tables); }

    /// Bytes at a virtual address, wherever they lie. \returns false if nothing is mapped there
    bool access(gpu::gpu_core& by, std::uint32_t space, std::uint64_t address, void* data, std::size_t size,
                bool write);

private:
    void find_tables();

    std::unique_ptr<platform> m_platform;
    std::vector<gpu::gpu_core*> m_gpus;
    std::vector<std::uint64_t> m_tables, m_used;
};

/// An address of system memory, of a GPU's, or of nothing.
std::uint64_t physical(source& random);
/// An instruction of RV64GC, or bits that are none.
std::uint32_t instruction(source& random);

// What a trial changes.
void fuzz_tables(source& random, fuzzed_machine& m);
void fuzz_processor(source& random, fuzzed_machine& m);
void fuzz_control(source& random, fuzzed_machine& m);
void fuzz_kernels(source& random, fuzzed_machine& m);
void fuzz_packets(source& random, fuzzed_machine& m);

}  // namespace fabricvp::fuzz
