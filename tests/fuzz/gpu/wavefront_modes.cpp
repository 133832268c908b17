// SPDX-License-Identifier: Apache-2.0
// What kernels and queues give a GPU.
#include <algorithm>
#include <cstring>

#include "abi/aql.h"
#include "abi/gpu_isa.h"
#include "abi/kernel_descriptor.h"
#include "gpu/fuzzed_machine.h"

namespace fabricvp::fuzz {

namespace {

/// An address that a lane can have.
std::uint64_t lane_address(source& random) {
    return random.one_of(std::vector<std::uint64_t>{
        GPU_LDS_BASE + random.bits(17) - 0x100, GPU_SCRATCH_BASE + random.bits(21) - 0x100,
        GPU_KERNARG_BASE + random.bits(12), GPU_CODE_BASE + random.bits(14), GPU_GLOBAL_BASE + random.bits(26),
        GPU_GLOBAL_BASE + random.bits(26) / 64 * 64, random.bits(64), ~random.bits(12), 0x3fffffffff80 + random.bits(9),
        random.bits(32)});
}

/// What lanes execute: those of harts, and their own.
std::uint32_t lane_instruction(source& random) {
    const auto r = [&] { return static_cast<std::uint32_t>(random.below(32)); };
    const auto bits = [&](unsigned n) { return static_cast<std::uint32_t>(random.bits(n)); };
    switch (random.below(8)) {
        case 0: return bits(12) << 20 | r() << 15 | bits(3) << 12 | r() << 7 | GPU_OPCODE;
        case 1: return (GPU_CSR_TIME + bits(9)) << 20 | r() << 15 | bits(3) << 12 | r() << 7 | 0x73;
        // Branches over a few instructions: lanes part and meet again.
        case 2: return bits(1) << 31 | r() << 20 | r() << 15 | bits(3) << 12 | bits(4) << 8 | 0x63;
        case 3: return bits(12) << 20 | r() << 15 | bits(3) << 12 | r() << 7 | 0x07;
        case 4: return bits(7) << 25 | r() << 20 | r() << 15 | bits(3) << 12 | r() << 7 | (bits(1) ? 0x53 : 0x27);
        case 5: return bits(7) << 25 | r() << 20 | r() << 15 | bits(3) << 12 | r() << 7 | 0x43 | bits(2) << 2;
        default: return instruction(random);
    }
}

/// An instruction that most likely goes well, so that those behind it are reached: registers 8 to 15 hold addresses.
std::uint32_t tame_instruction(source& random) {
    const auto bits = [&](unsigned n) { return static_cast<std::uint32_t>(random.bits(n)); };
    const auto r = [&] { return 16 + bits(4); };
    const auto address = [&] { return 8 + bits(3); };
    const auto wide = 2 + bits(1);  // words and double words
    const auto offset = bits(5) << 3;
    switch (random.below(12)) {
        case 0: return offset << 20 | address() << 15 | wide << 12 | r() << 7 | (bits(1) ? 0x03 : 0x07);
        case 1: return offset >> 5 << 25 | r() << 20 | address() << 15 | wide << 12 | (offset & 31) << 7 | 0x23;
        case 2:
            return random.one_of(std::vector<std::uint32_t>{0, 1, 2, 3, 4, 8, 0xc, 0x10, 0x14, 0x18, 0x1c}) << 27 |
                   bits(2) << 25 | r() << 20 | address() << 15 | wide << 12 | r() << 7 | 0x2f;
        case 3: return offset << 20 | address() << 15 | (1 + wide) << 12 | r() << 7 | GPU_OPCODE;
        case 4:  // to 4 … 124 bytes ahead, seldom back
            return (random.once_in(6) ? 0xfe000080u : 0) | r() << 20 | r() << 15 |
                   random.one_of(std::vector<std::uint32_t>{0, 1, 4, 5, 6, 7}) << 12 | (1 + bits(3)) << 8 | 0x63;
        case 5: return (bits(2) | bits(2) << 4) << 20 | GPU_FUNCT_FENCE << 12 | GPU_OPCODE;
        case 6: return (random.once_in(4) ? GPU_FUNCT_BARRIER : GPU_FUNCT_FENCE) << 12 | GPU_OPCODE;
        case 7: return (GPU_CSR_LOCAL_ID_X + bits(4)) << 20 | 2u << 12 | r() << 7 | 0x73;
        case 8:
            return (bits(1) ? 0x01000000u : 0) << 1 | r() << 20 | r() << 15 | bits(3) << 12 | r() << 7 |
                   (bits(1) ? 0x33 : 0x3b);
        case 9: {  // between lanes; waiting for those of a mask is seldom for ever
            const auto operation = static_cast<std::uint32_t>(random.below(random.once_in(4) ? 6 : 4));
            const auto waits = operation >= GPU_LANES_SYNC;
            const auto shuffles = operation == GPU_LANES_SHUFFLE_W || operation == GPU_LANES_SHUFFLE_D;
            return operation << 25 | (shuffles ? r() << 20 : 0) | (operation == GPU_LANES_ACTIVE ? 0 : r() << 15) |
                   GPU_FUNCT_LANES << 12 | (waits ? 0 : r() << 7) | GPU_OPCODE;
        }
        default:
            return bits(12) << 20 | r() << 15 | random.one_of(std::vector<std::uint32_t>{0, 2, 3, 4, 6, 7}) << 12 |
                   r() << 7 | 0x13;
    }
}

struct live_wavefront {
    gpu::compute_unit* unit;
    unsigned slot;
};

std::vector<live_wavefront> live_wavefronts(gpu::gpu_core& core) {
    std::vector<live_wavefront> live;
    for (auto& unit : core.compute_units)
        for (unsigned slot = 0; slot < unit->slots(); ++slot) {
            const auto& w = unit->slot(slot);
            if (w.state != gpu::wavefront_state::free && w.state != gpu::wavefront_state::draining && w.group)
                live.push_back({unit.get(), slot});
        }
    return live;
}

/// Registers 8 to 15 of all lanes: local memory, scratch, or what a register of the wavefront already points to.
void give_addresses(source& random, gpu::compute_unit& unit, unsigned slot) {
    std::vector<std::uint64_t> known{GPU_LDS_BASE, GPU_SCRATCH_BASE};
    for (unsigned row = 1; row < 32; ++row)
        if (const auto value = unit.read_register(slot, 0, row); value >= GPU_GLOBAL_BASE && value < 1ull << 46)
            known.push_back(value / 8 * 8);
    for (unsigned row = 8; row < 16; ++row) {
        const auto base = random.one_of(known), step = 8 * random.below(random.once_in(2) ? 2 : 40);
        for (unsigned lane = 0; lane < 64; ++lane) unit.write_register(slot, lane, row, base + lane * step);
    }
}

}  // namespace

void fuzz_kernels(source& random, fuzzed_machine& m) {
    for (auto round = 1 + random.below(4); round-- > 0; m.run((1 + random.below(20)) * microsecond)) {
        auto& core = m.any(random);
        const auto live = live_wavefronts(core);
        if (live.empty()) continue;
        for (auto n = 1 + random.below(4); n-- > 0;) {
            const auto [unit, slot] = random.one_of(live);
            const auto& w = unit->slot(slot);
            const auto& what = w.group->run->what;
            // From where a lane stands on: what follows is executed soon.
            const auto pc = unit->pc(slot, static_cast<unsigned>(random.below(64))) - GPU_CODE_BASE;
            const auto from = random.once_in(3) ? what.entry - GPU_CODE_BASE : pc;
            const bool tame = random.once_in(2);
            std::vector<std::uint32_t> code(tame ? 256 : 1 + random.below(64));
            for (auto& word : code)
                word = tame && !random.once_in(200) ? tame_instruction(random) : lane_instruction(random);
            for (std::size_t i = 0; i < code.size(); ++i)
                m.access(core, what.address_space, what.image + from / 4 * 4 + 4 * i, &code[i], 4, true);
            if (tame) give_addresses(random, *unit, slot);
            for (auto rows = tame ? 0 : random.below(64); rows-- > 0;) {
                const auto row = 1 + static_cast<unsigned>(random.below(63));
                const auto base = lane_address(random), step = random.bits(random.once_in(2) ? 4 : 14);
                for (unsigned lane = 0; lane < 64; ++lane)
                    unit->write_register(slot, lane, row,
                                         random.once_in(16) ? lane_address(random) : base + lane * step);
            }
        }
        for (auto& cache : core.instruction_caches) cache->invalidate();
    }
    m.run(100 * microsecond);
}

void fuzz_packets(source& random, fuzzed_machine& m) {
    for (auto round = 1 + random.below(6); round-- > 0; m.run((1 + random.below(20)) * microsecond)) {
        auto& core = m.any(random);
        for (unsigned index = 0; index < GPU_QUEUES; ++index) {
            gpu_queue queue;
            core.processor.host_read(GPU_SRAM_QUEUES + index * sizeof queue, &queue, sizeof queue);
            if (queue.acknowledged != GPU_QUEUE_ACTIVE || !queue.packets) continue;
            std::uint64_t taken = 0;
            m.access(core, queue.address_space, queue.read_index, &taken, 8, false);
            const auto count = 1 + random.below(std::min<std::uint64_t>(queue.packets, 16));
            for (std::uint64_t n = 0; n < count; ++n) {
                const auto at = queue.ring + (taken + n) % queue.packets * 64;
                aql_kernel_dispatch packet{};
                m.access(core, queue.address_space, at, &packet, sizeof packet, false);
                if (!packet.kernel_object)  // the ring's first packet is the launch
                    m.access(core, queue.address_space, queue.ring, &packet, sizeof packet, false);
                packet.completion_signal = 0;
                packet.header = static_cast<std::uint16_t>(random.once_in(4) ? random.bits(16)
                                                                             : random.bits(5) << 8 | random.below(6));
                if (random.once_in(4)) {  // a descriptor of our own, where the kernel's stands
                    kernel_descriptor kernel{};
                    m.access(core, queue.address_space, packet.kernel_object, &kernel, sizeof kernel, false);
                    kernel.flags = static_cast<std::uint16_t>(random.bits(2));
                    auto* const words = reinterpret_cast<std::uint8_t*>(&kernel);
                    for (auto changes = random.below(6); changes-- > 0;) {
                        const std::uint64_t value = random.once_in(2) ? random.bits(64) : lane_address(random);
                        std::memcpy(words + random.below(sizeof kernel / 4 - 1) * 4, &value, random.once_in(2) ? 4 : 8);
                    }
                    m.access(core, queue.address_space, packet.kernel_object, &kernel, sizeof kernel, true);
                }
                auto* const bytes = reinterpret_cast<std::uint8_t*>(&packet);
                for (auto changes = random.below(8); changes-- > 0;) {
                    const std::uint64_t value = random.one_of(std::vector<std::uint64_t>{
                        0, 1, random.below(2048), random.bits(16), random.bits(32), random.bits(64), ~0ull,
                        queue.ring + random.below(4096), lane_address(random)});
                    const unsigned size = 2u << random.below(3);
                    std::memcpy(bytes + 2 + random.below((62 - size) / 2 + 1) * 2, &value, size);
                }
                m.access(core, queue.address_space, at, &packet, sizeof packet, true);
            }
            core.processor.ring(index, random.once_in(8) ? random.bits(64) : taken + count);
        }
    }
    m.run(100 * microsecond);
}

}  // namespace fabricvp::fuzz
