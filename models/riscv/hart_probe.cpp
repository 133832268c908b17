// SPDX-License-Identifier: Apache-2.0
#include "riscv/hart_probe.h"

#include <algorithm>
#include <cstring>

#include "riscv/hart_core.h"

namespace fabricvp::riscv {

namespace {
/// The operation that tells is the first one of a block, or behind the one that fetches its lines.
block_op& telling_op(block& b, bool fetches_lines) { return b.ops()[fetches_lines ? 1 : 0]; }
}  // namespace

void hart::implementation::number_block(block& b, std::uint64_t physical) {
    telling_op(b, code_cache != nullptr).immediate = static_cast<std::int32_t>(probe->decoded(physical, b));
}

void hart::implementation::tell_entered(const block& b, std::uint32_t number, std::uint64_t pc) {
    const auto end = m_slice_budget - budget;
    probe->entered(owner, number, b, pc, m_slice_start + span_of(end - b.cost), m_slice_start + span_of(end));
}

void hart::implementation::tell_left(block& b, unsigned executed) {
    probe->left(static_cast<std::uint32_t>(telling_op(b, code_cache != nullptr).immediate), executed);
}

void hart::attach_probe(hart_probe* probe) {
    m->wake_up();
    m->probe = probe;
    m->clear_code();
    if (!probe) return;
    using phase = implementation::phase;
    if (m->m_phase == phase::stopped || m->m_phase == phase::waiting)
        probe->rests(*this, m->m_phase == phase::stopped ? hart_rest::stopped : hart_rest::interrupt, now());
}

hart_frame hart::frame() const {
    const auto& s = m->state;
    return {s.pc, s.x[1], s.x[2], s.x[8], static_cast<unsigned>(s.mode), s.mode != privilege::machine && s.satp >> 60};
}

bool hart::peek(std::uint64_t address, void* to, std::size_t size) const {
    auto* out = static_cast<std::uint8_t*>(to);
    while (size) {
        const auto part = std::min<std::uint64_t>(size, sparse_memory::page_size - address % sparse_memory::page_size);
        const auto target = m->memory.resolve_for_debugger(address);
        if (target.place != memory_target::where::direct) return false;
        std::memcpy(out, target.memory->data() + target.offset, part);
        address += part;
        out += part;
        size -= part;
    }
    return true;
}

}  // namespace fabricvp::riscv
