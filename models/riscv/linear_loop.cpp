// SPDX-License-Identifier: Apache-2.0
#include "riscv/linear_loop.h"

#include <utility>

#include "riscv/linear_walk.h"

namespace fabricvp::riscv {

namespace {
using u64 = std::uint64_t;

constexpr unsigned longest = 60;               // instructions of a round; blocks have no border in as many
constexpr unsigned longest_with_memory = 400;  // the same, where a border of a block costs nothing
constexpr unsigned max_parts = 17;

std::array<linear, 32> constants(const u64* x) {
    std::array<linear, 32> all;
    for (unsigned r = 1; r < 32; ++r) all[r] = {x[r], 0};
    return all;
}

/// Words at the beginning of a round, of which one has been followed. \returns false if a short one counts
bool begin_again(std::vector<linear_walk::cell>& cells) {
    for (auto& c : cells) {
        c.first.step = c.now.value - c.first.value;
        c.now = c.first;
        if (c.size != 8 && c.first.step) return false;
    }
    return true;
}

bool counts_on(linear now, linear before) { return now.value == before.value + before.step && now.step == before.step; }
}  // namespace

linear_loop prove_linear(const u64* x, u64 start, const loop_fetch& fetch,
                         const std::array<std::uint32_t, static_cast<unsigned>(timing_class::count)>& costs,
                         loop_memory* memory) {
    linear_loop found;
    const auto refuse = [&](loop_refusal why) {
        found.refusal = why;
        return found;
    };
    // What a round does from these registers tells the steps; that others do the same is then to be shown.
    linear_walk once(constants(x), {}, memory);
    const unsigned limit = memory ? longest_with_memory : longest;
    std::vector<linear_walk::followed> path;
    path.reserve(longest);
    u64 pc = start;
    for (bool starts = true;;) {
        if (path.size() == limit) return refuse(loop_refusal::too_long);
        auto& f = path.emplace_back();
        f.pc = pc;
        if (!fetch(pc, starts, f.i)) return refuse(loop_refusal::code);
        if (const auto why = refusal_of(f.i, memory); why != loop_refusal::none) return refuse(why);
        if (const auto why = once.perform(f, pc); why != loop_refusal::none) return refuse(why);
        starts = ends_block(f.i.op) || f.on_calendar;
        if (f.i.op == opcode::pause) break;
    }
    if (pc != start) return refuse(loop_refusal::counters);
    auto first = constants(x);
    for (unsigned r = 1; r < 32; ++r) first[r].step = once.x()[r].value - x[r];
    auto cells = once.cells();
    if (!begin_again(cells)) return refuse(loop_refusal::counters);

    linear_walk each(first, std::move(cells), nullptr);
    const auto add_part = [&](u64 at) {
        found.parts.push_back({at, found.cost, found.instructions, found.accesses.size(), each.x(), {}, 0, 0});
    };
    add_part(start);
    for (std::size_t n = 0; n < path.size(); ++n) {
        auto& f = path[n];
        if (f.on_calendar) {
            add_part(f.pc);
            found.parts.back().access = f.i;
            found.parts.back().address = f.address;
            found.parts.back().size = f.size;
        }
        u64 next = 0;
        if (each.perform(f, next) != loop_refusal::none || next != (n + 1 < path.size() ? path[n + 1].pc : start))
            return refuse(loop_refusal::counters);
        found.cost += costs[static_cast<unsigned>(info(f.i.op).timing)];
        ++found.instructions;
        if (f.size)
            found.accesses.push_back(
                {found.parts.size() - 1, f.address, f.size, f.writes, f.on_calendar, f.host, f.stored});
        if (f.on_calendar) add_part(next);
    }
    if (found.parts.size() > max_parts) return refuse(loop_refusal::too_long);
    for (unsigned r = 1; r < 32; ++r)
        if (!counts_on(each.x()[r], first[r])) return refuse(loop_refusal::counters);
    for (const auto& c : each.cells())
        if (!counts_on(c.now, c.first)) return refuse(loop_refusal::counters);
    found.rounds = each.rounds();
    return found;
}

}  // namespace fabricvp::riscv
