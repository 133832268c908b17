// SPDX-License-Identifier: Apache-2.0
// What page tables, the firmware of the command processor and the host give a GPU.
#include "gpu/fuzzed_machine.h"

namespace fabricvp::fuzz {

std::uint64_t physical(source& random) {
    const std::uint64_t where = random.one_of(
        std::vector<std::uint64_t>{GPU_PA_SYSTEM, GPU_PA_GPU0, GPU_PA_GPU0, GPU_PA_GPU0 + 1, GPU_PA_GPU0 + 3,
                                   GPU_PA_GPU0 + 7, GPU_PA_VIRTUAL, GPU_PA_LOCAL, random.bits(8), random.bits(16)});
    const std::uint64_t offset = random.one_of(std::vector<std::uint64_t>{
        random.below(capacity), random.bits(20), random.bits(34), random.bits(48), capacity - random.below(256),
        0x80000000 + random.bits(26), 0x40000000 + random.bits(28)});
    return where << GPU_PA_APERTURE_SHIFT | offset;
}

static std::uint64_t table_entry(source& random, fuzzed_machine& m) {
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

static std::uint64_t cp_register(source& random) {
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

}  // namespace fabricvp::fuzz
