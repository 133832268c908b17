// SPDX-License-Identifier: Apache-2.0
#include "platform/profile/hart_profile.h"

#include <algorithm>

#include "riscv/block.h"

namespace fabricvp {
namespace {

using riscv::hart_rest;

constexpr std::size_t max_frames = 64;

const char* note_of(hart_rest why) {
    switch (why) {
        case hart_rest::access: return "[waits for the bus]";
        case hart_rest::polls: return "[polls]";
        case hart_rest::interrupt: return "[waits for an interrupt]";
        case hart_rest::stopped: return "[stopped]";
        default: return "";
    }
}

/// Operations in front of a block's first instruction begin where it does.
const riscv::block_op_position* first_instruction(const riscv::block& code) {
    const auto* p = code.positions();
    const auto* const last = p + code.op_count - 1;
    while (p != last && p[1].instructions == 0) ++p;
    return p;
}

}  // namespace

hart_profile::hart_profile(riscv::hart& h, code_files& files, stack_counts& stacks)
    : m_hart(h),
      m_files(files),
      m_stacks(stacks),
      m_read([this](std::uint64_t address, void* to, std::size_t size) { return m_hart.peek(address, to, size); }) {
    m_hart.attach_probe(this);
}

hart_profile::~hart_profile() { m_hart.attach_probe(nullptr); }

void hart_profile::sample(const sampling& when) {
    m_when = when;
    m_next = when.next(when.from);
    m_frame = m_hart.frame();
    m_last = m_frame.pc;
}

std::uint32_t hart_profile::decoded(std::uint64_t physical, const riscv::block& code) {
    auto& numbers = m_numbers[physical];
    const auto* const first = first_instruction(code);
    std::vector<std::uint16_t> offsets(code.instructions);
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = first[i].offset;
    for (const auto n : numbers)
        if (m_blocks[n].offsets == offsets) return n;
    const auto number = static_cast<std::uint32_t>(m_blocks.size());
    numbers.push_back(number);
    m_blocks.push_back({physical, 0, std::move(offsets), {}});
    return number;
}

void hart_profile::entered(const riscv::hart& h, std::uint32_t number, const riscv::block& code, std::uint64_t pc,
                           ticks begin, ticks end) {
    ++m_blocks[number].entered;
    if (m_next == never) return;
    if (m_next < begin) account_until(begin);
    m_frame = h.frame();
    m_frame.pc = pc;
    m_rest = hart_rest::none;
    const auto* const first = first_instruction(code);
    const auto count = code.instructions;
    m_last = pc + first[count - 1].offset;
    while (m_next < end) {
        const auto cost =
            static_cast<std::uint64_t>(static_cast<unsigned __int128>(m_next - begin) * code.cost / (end - begin));
        const auto* const behind = std::upper_bound(
            first, first + count, cost, [](std::uint64_t c, const riscv::block_op_position& p) { return c < p.cost; });
        take(pc + (behind == first ? first : behind - 1)->offset, 1);
        m_next = m_when.next(m_next + 1);
    }
}

void hart_profile::left(std::uint32_t number, unsigned executed) {
    auto& b = m_blocks[number];
    if (executed >= b.offsets.size()) return;
    b.cut.resize(b.offsets.size());
    ++b.cut[executed];
}

void hart_profile::rests(const riscv::hart& h, hart_rest why, ticks at) {
    if (m_next < at) account_until(at);
    m_frame = h.frame();
    m_last = m_frame.pc;
    m_rest = why;
}

/// Samples that no block had: the hart rested, or its last instructions took longer than they take by themselves.
void hart_profile::account_until(ticks at) {
    take(m_last, m_when.between(m_next, at));
    m_next = m_when.next(at);
}

void hart_profile::settle(ticks now) {
    if (m_next < now) account_until(now);
}

void hart_profile::take(std::uint64_t leaf, std::uint64_t samples) { m_stacks.add(stack_at(leaf), samples); }

stack_counts::stack hart_profile::stack_at(std::uint64_t leaf) {
    stack_counts::stack s;
    s.root = m_hart.name();
    s.note = note_of(m_rest);
    if (m_rest == hart_rest::stopped) return s;
    auto* const file = m_frame.mode == 0 ? nullptr : m_files.at(leaf, m_read);
    if (!file) {
        s.root += m_frame.mode == 0 ? ";[user mode]" : m_frame.mode == 1 ? ";[supervisor mode]" : ";[machine mode]";
        return s;
    }
    s.frames.push_back({file, leaf});
    auto frame = m_frame;
    auto* in = m_files.at(frame.pc, m_read);
    for (bool call = false; in && s.frames.size() < max_frames; call = true) {
        const auto up = in->caller(frame, m_read, call);
        if (!up || up->pc == 0 || (up->sp == frame.sp && up->pc == frame.pc)) break;
        frame = *up;
        in = m_files.at(frame.pc - 2, m_read);
        if (in) s.frames.push_back({in, frame.pc});
    }
    return s;
}

void hart_profile::report(execution_counts& to,
                          const std::function<debug_file*(std::uint64_t physical)>& of_physical) const {
    for (const auto& b : m_blocks) {
        if (!b.entered) continue;
        auto* const file = of_physical(b.physical);
        const auto address = file ? file->virtual_address(b.physical) : std::nullopt;
        if (!address) continue;
        auto times = b.entered;
        for (std::size_t i = 0; i < b.offsets.size(); ++i) {
            if (!b.cut.empty()) times -= b.cut[i];
            to.add(*file, *address + b.offsets[i], times);
        }
    }
}

}  // namespace fabricvp
