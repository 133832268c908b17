// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/lane_engine.h"

#include <algorithm>

#include "riscv/csr_numbers.h"
#include "riscv/fpu.h"

namespace fabricvp::gpu {

using riscv::opcode;

void issue_params::describe(parameter_visitor& v) {
    constexpr between range{1, 4096};
    v.field("alu", alu, range, "cycles an integer instruction occupies its SIMD unit");
    v.field("multiply", multiply, range, "cycles of an integer multiplication");
    v.field("divide", divide, range, "cycles of an integer division");
    v.field("load", load, range, "cycles to issue a load");
    v.field("store", store, range, "cycles to issue a store");
    v.field("branch", branch, range, "cycles of a branch");
    v.field("jump", jump, range, "cycles of a jump");
    v.field("atomic", atomic, range, "cycles to issue an atomic");
    v.field("floating", floating, range, "cycles of a floating-point instruction");
    v.field("float_divide", float_divide, range, "cycles of a floating-point division or square root");
    v.field("double_precision", double_precision, range,
            "cycles of a floating-point instruction on 64 bits; moves and sign changes are `floating`");
    v.field("double_divide", double_divide, range, "cycles of a division or square root on 64 bits");
    v.field("csr", csr, range, "cycles to read an identifier");
    v.field("fence", fence, range, "cycles to issue a fence");
}

void result_params::describe(parameter_visitor& v) {
    constexpr between range{0, 4096};
    v.field("alu", alu, range, "of an integer instruction");
    v.field("multiply", multiply, range, "of an integer multiplication");
    v.field("divide", divide, range, "of an integer division");
    v.field("load", load, range,
            "of a load: until the memory unit has it and the wavefront's next instruction can issue");
    v.field("store", store, range, "of a store, likewise");
    v.field("atomic", atomic, range, "of an atomic, likewise");
    v.field("branch", branch, range, "of a branch: until the wavefront's next instruction can issue");
    v.field("jump", jump, range, "of a jump, likewise");
    v.field("floating", floating, range, "of a floating-point instruction");
    v.field("float_divide", float_divide, range, "of a floating-point division or square root");
    v.field("double_precision", double_precision, range, "of a floating-point instruction on 64 bits");
    v.field("double_divide", double_divide, range, "of a division or square root on 64 bits");
    v.field("csr", csr, range, "of an identifier");
}

lane_engine::lane_engine(const issue_params& issue, const result_params& results, const lane_operations& operations,
                         std::uint64_t wavefront_interval)
    : m_operations(operations) {
    const auto set = [this, wavefront_interval](issue_class which, std::uint64_t interval, std::uint64_t result = 0) {
        for (auto* const size : {&m_whole, &m_half}) {
            if (size == &m_half) interval = (interval + 1) / 2;
            const auto later = static_cast<std::uint32_t>(std::max(interval, result));
            const bool holds_wavefront = which == issue_class::branch || which == issue_class::jump ||
                                         which == issue_class::load || which == issue_class::store ||
                                         which == issue_class::atomic;
            const auto occupied = static_cast<std::uint32_t>(interval);
            const auto next =
                std::max(holds_wavefront ? later : occupied, static_cast<std::uint32_t>(wavefront_interval));
            size->by_class[static_cast<unsigned>(which)] = {occupied, next, later};
            size->waits_for_results = size->waits_for_results || std::max(later, next) > occupied;
        }
    };
    set(issue_class::alu, issue.alu, results.alu);
    set(issue_class::multiply, issue.multiply, results.multiply);
    set(issue_class::divide, issue.divide, results.divide);
    set(issue_class::load, issue.load, results.load);
    set(issue_class::store, issue.store, results.store);
    set(issue_class::branch, issue.branch, results.branch);
    set(issue_class::jump, issue.jump, results.jump);
    set(issue_class::atomic, issue.atomic, results.atomic);
    set(issue_class::floating, issue.floating, results.floating);
    set(issue_class::float_divide, issue.float_divide, results.float_divide);
    set(issue_class::double_precision, issue.double_precision, results.double_precision);
    set(issue_class::double_divide, issue.double_divide, results.double_divide);
    set(issue_class::csr, issue.csr, results.csr);
    set(issue_class::fence, issue.fence);
}

/// Calls and returns as the calling convention hints them (unprivileged specification, table 2.1): x1 and x5 link.
static bool is_link(unsigned row) { return row == 1 || row == 5; }

static bool is_call_or_return(const lane_op& o) {
    return o.kind != lane_kind::branch && (is_link(o.rd) || (o.kind == lane_kind::jump_register && is_link(o.rs1)));
}

/// \returns false on a misaligned target; then op_lanes says whose.
bool lane_engine::jump_register(lane_context& c, const lane_op& o, std::uint64_t pc) const {
    auto& s = c.schedule;
    auto& r = c.storage->registers.r;
    lane_registers::row target;
    const auto range = m_operations.addresses(
        target, r[o.rs1], static_cast<std::uint64_t>(static_cast<std::int64_t>(o.immediate)), s.active);
    auto depth = s.depth;
    if (is_link(o.rd))
        ++depth;
    else if (is_link(o.rs1) && depth > 0)
        --depth;
    if (range.bits & 2) {
        for (lane_mask left = s.active; left; left &= left - 1)
            if (const auto lane = static_cast<unsigned>(__builtin_ctzll(left)); target[lane] & 2) {
                c.op_lanes = lane_mask{1} << lane;
                return false;
            }
    }
    if (o.rd != lane_registers::sink) {
        lane_registers::row link;
        m_operations.fill(link, pc + 4);
        m_operations.blend(r[o.rd], link, s.active);
    }
    // Each distinct target but the first lane's makes a group of its own.
    s.pc = target[static_cast<unsigned>(__builtin_ctzll(s.active))] & ~std::uint64_t{1};
    s.depth = depth;
    if (range.min != range.max) {
        const lane_mask all = s.active;
        for (lane_mask left = all; left; left &= left - 1) {
            const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
            const auto to = target[lane] & ~std::uint64_t{1};
            if (to != s.pc) s.split(lane_mask{1} << lane, pc, to, depth);
        }
    }
    return true;
}

bool lane_engine::read_csr(lane_context& c, const lane_op& o) const {
    namespace csr = riscv::csr;
    auto& s = c.schedule;
    auto& r = c.storage->registers.r;
    const auto number = static_cast<unsigned>(o.immediate);
    const auto& id = c.identity;
    const bool immediate = o.op == opcode::csrrwi || o.op == opcode::csrrsi || o.op == opcode::csrrci;
    const bool always_writes = o.op == opcode::csrrw || o.op == opcode::csrrwi;
    const bool writes = always_writes || o.rs1 != 0;
    lane_registers::row value;
    std::uint64_t uniform = 0;
    bool fills = true;
    if (number == csr::fflags || number == csr::frm || number == csr::fcsr) {
        // Lanes round to nearest and keep no flags: what may be written is dropped, any other rounding mode is refused.
        if (writes && number != csr::fflags && o.op != opcode::csrrc && o.op != opcode::csrrci) {
            const unsigned shift = number == csr::fcsr ? 5 : 0;
            for (lane_mask left = s.active; left; left &= left - 1) {
                const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
                const std::uint64_t written = immediate ? o.rs1 : r[o.rs1][lane];
                if (written >> shift & 7) return false;
            }
        }
    } else {
        if (writes) return false;
        switch (number) {
            case GPU_CSR_LOCAL_ID_X:
            case GPU_CSR_LOCAL_ID_X + 1:
            case GPU_CSR_LOCAL_ID_X + 2: {
                fills = false;
                const auto dimension = number - GPU_CSR_LOCAL_ID_X;
                for (unsigned lane = 0; lane < wavefront_lanes; ++lane) {
                    const std::uint32_t flat = id.wavefront * id.lanes + lane;
                    const std::uint32_t x = flat % id.local_size[0], rest = flat / id.local_size[0];
                    value[lane] = dimension == 0   ? x
                                  : dimension == 1 ? rest % id.local_size[1]
                                                   : rest / id.local_size[1];
                }
                break;
            }
            case GPU_CSR_GROUP_ID_X:
            case GPU_CSR_GROUP_ID_X + 1:
            case GPU_CSR_GROUP_ID_X + 2: uniform = id.group_id[number - GPU_CSR_GROUP_ID_X]; break;
            case GPU_CSR_GROUP_SIZE_X:
            case GPU_CSR_GROUP_SIZE_X + 1:
            case GPU_CSR_GROUP_SIZE_X + 2: uniform = id.group_size[number - GPU_CSR_GROUP_SIZE_X]; break;
            case GPU_CSR_GRID_SIZE_X:
            case GPU_CSR_GRID_SIZE_X + 1:
            case GPU_CSR_GRID_SIZE_X + 2: uniform = id.grid_size[number - GPU_CSR_GRID_SIZE_X]; break;
            case GPU_CSR_LANE:
                fills = false;
                for (unsigned lane = 0; lane < wavefront_lanes; ++lane) value[lane] = lane;
                break;
            case GPU_CSR_WAVEFRONT: uniform = id.wavefront; break;
            case GPU_CSR_GPU: uniform = id.gpu; break;
            case GPU_CSR_COMPUTE_UNIT: uniform = id.compute_unit; break;
            case GPU_CSR_DISPATCH: uniform = id.dispatch; break;
            case GPU_CSR_CYCLE: uniform = c.clock->cycle_at(c.clock_time) + c.cycles; break;
            case GPU_CSR_TIME: uniform = (c.clock_time + c.clock->span(c.cycles)) / 1000; break;
            default: return false;
        }
    }
    if (fills) m_operations.fill(value, uniform);
    m_operations.blend(r[o.rd], value, s.active);
    return true;
}

/// Whether the current lanes need not wait at a sync, because all have come.
bool lane_engine::all_have_come(const lane_context& c, const lane_op& o) {
    const auto& s = c.schedule;
    const auto& masks = c.storage->registers.r[o.rs1];
    const auto needed = masks[static_cast<unsigned>(__builtin_ctzll(s.active))];
    if (needed & s.live() & ~s.active) return false;
    for (lane_mask left = s.active; left; left &= left - 1)
        if (masks[static_cast<unsigned>(__builtin_ctzll(left))] != needed) return false;
    return true;
}

/// Lanes that are here, and those of a lane's last exchange that are elsewhere.
void lane_engine::ballot_of(const lane_context& c, const lane_op& o, lane_registers::row& to) const {
    const auto& s = c.schedule;
    const auto& r = c.storage->registers.r;
    const auto here = m_operations.compare[static_cast<unsigned>(opcode::bne)](r[o.rs1], r[0]) & s.active;
    for (lane_mask left = s.active; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
        to[lane] = here;
        const auto* const e = s.exchange_of(lane);
        for (lane_mask others = e ? e->lanes & ~s.active : 0; others; others &= others - 1)
            if (e->values[static_cast<unsigned>(__builtin_ctzll(others))]) to[lane] |= others & -others;
    }
}

/// What the registers of the current lanes hold, in short; rows that loads are to write do not count.
static std::uint64_t state_of(const lane_context& c) {
    std::uint64_t state = c.schedule.active;
    for (auto rows = c.touched & ~c.pending; rows; rows &= rows - 1) {
        const auto& row = c.storage->registers.r[static_cast<unsigned>(__builtin_ctzll(rows))];
        for (lane_mask left = c.schedule.active; left; left &= left - 1)
            state =
                ((state << 5 | state >> 59) ^ row[static_cast<unsigned>(__builtin_ctzll(left))]) * 0x9e3779b97f4a7c15;
    }
    return state;
}

/// The current group has jumped from `from`, or moved on from there to where others may be.
void lane_engine::regroup(lane_context& c, std::uint64_t from, bool backward) {
    auto& s = c.schedule;
    if (backward) {
        const auto action = s.looped(from);
        if (action == lane_schedule::loop_action::passed) return;
        if (action == lane_schedule::loop_action::compare && s.compare(from, state_of(c))) return;
    }
    s.reconsider(from);
}

lane_stop lane_engine::run_counted(lane_context& c, instruction_cache& code, unsigned max_instructions) {
    return waits_for_results(c) ? run_lanes<true, true>(c, code, max_instructions)
                                : run_lanes<false, true>(c, code, max_instructions);
}

template <bool waits, bool counts>
lane_stop lane_engine::run_lanes(lane_context& c, instruction_cache& code, unsigned max_instructions) {
    host_environment host;
    auto& s = c.schedule;
    auto& registers = c.storage->registers;
    auto& r = registers.r;
    const auto& operations = m_operations;
    const auto& costs = costs_of(c).by_class;
    const std::uint64_t pending = c.pending;
    // Where results are waited for, cycles count from the wavefront's start, as in result_at.
    const std::uint64_t first_cycle = waits ? c.first_cycle : 0;
    auto& result_at = c.storage->result_at;
    std::uint64_t cycles = first_cycle + c.cycles, busy = c.busy, instructions = 0;
    c.ahead = 0;

    const decoded_line* line = nullptr;
    const lane_op *o = nullptr, *end = nullptr;
    std::uint64_t line_pc = 0;  // of the line's first instruction
    [[maybe_unused]] std::uint64_t* line_counts = nullptr;
    lane_mask active = s.active;
    bool diverged = s.diverged();
    std::uint64_t counted = 0;  // instructions whose lanes are counted
    alignas(64) lane_registers::row temporary;

    const auto pc = [&] { return line_pc + static_cast<std::uint64_t>(o - line->ops.data()) * 4; };
    const auto count_lanes = [&] {
        c.lane_instructions += (instructions - counted) * static_cast<unsigned>(__builtin_popcountll(active));
        counted = instructions;
    };
    const auto leave = [&](lane_stop why) {
        count_lanes();
        c.cycles = cycles - first_cycle;
        c.busy = waits ? busy : c.cycles;
        c.instructions += instructions;
        return why;
    };
    // The instruction at o issues, once its operands are there.
    const auto issue = [&] {
        const auto which = static_cast<unsigned>(o->timing);
        const auto& cost = costs[which];
        if constexpr (waits) {
            // Identifiers wait for nothing: what instructions write into CSRs is dropped.
            if (o->kind != lane_kind::csr)
                cycles = std::max({cycles, result_at[o->rs1], result_at[o->rs2], result_at[o->rs3]});
            result_at[o->rd] = std::max(result_at[o->rd], cycles + cost.result);
            busy += cost.interval;
        }
        cycles += cost.next;
        ++m_executed[which];
        ++instructions;
        if constexpr (counts)
            if (line_counts) ++line_counts[o - line->ops.data()];
    };
    const auto expect = [&](const lane_op* next) {
        const auto* const last = line->ops.data() + line_instructions;
        c.ahead = (next < last ? next->touches : 0) | (next + 1 < last ? next[1].touches : 0);
    };
    // Stops behind (or, for faults, at) the instruction at o.
    const auto stop_at = [&](lane_stop why, std::uint64_t next_pc) {
        c.op = *o;
        c.op_pc = pc();
        if (why != lane_stop::fault) c.op_lanes = active;
        expect(o + 1);
        s.pc = next_pc;
        if (s.pc == s.limit()) {
            count_lanes();
            s.reconsider(next_pc - 4);
        }
        return leave(why);
    };
    const auto set_row = [&](std::uint64_t value) {
        if (!diverged) return operations.fill(r[o->rd], value);
        operations.fill(temporary, value);
        operations.blend(r[o->rd], temporary, active);
    };
    const auto fault = [&](lane_fault what, std::uint64_t value) {
        c.fault = what;
        c.fault_value = value;
        return stop_at(lane_stop::fault, pc());
    };

// The current group moved without a jump to where others wait, or jumped.
enter:
    if (active == 0) {
        if (!s.synced()) return leave(s.live() == 0 ? lane_stop::ended : lane_stop::barrier);
        // Others that could come wait themselves, for these lanes too.
        c.op = {};
        c.op_lanes = s.synced();
        c.op_pc = s.pc_of(static_cast<unsigned>(__builtin_ctzll(c.op_lanes))) - 4;
        c.fault = lane_fault::barrier;
        c.fault_value = c.op_pc;
        return leave(lane_stop::fault);
    }
    if (instructions >= max_instructions) {
        if (line && s.pc - line_pc < line_bytes)
            expect(line->ops.data() + (s.pc - line_pc) / 4);
        else if (line)
            c.ahead = line->touches;  // it will be much the same
        return leave(lane_stop::budget);
    }
    if (s.pc - GPU_CODE_BASE >= GPU_CODE_SIZE) {
        c.op = {};
        c.op_pc = s.pc;
        c.op_lanes = active;
        c.fault = lane_fault::bad_pc;
        c.fault_value = s.pc;
        return leave(lane_stop::fault);
    }
    line = code.find(c.address_space, code_line(c, s.pc));
    if (!line) return leave(lane_stop::fetch);
    c.touched |= line->touches;
    line_pc = s.pc & ~std::uint64_t{line_bytes - 1};
    if constexpr (counts) line_counts = m_counts->counters(c, s.pc);
    o = line->ops.data() + (s.pc - line_pc) / 4;
    end = s.limit() - line_pc < line_bytes ? line->ops.data() + (s.limit() - line_pc) / 4
                                           : line->ops.data() + line_instructions;
    if (max_instructions == 1) end = o + 1;

    for (;;) {
        if (o == end) {
            s.pc = pc();
            if (s.pc != s.limit()) goto enter;
            count_lanes();
            s.reconsider(s.pc - 4);
            goto changed;
        }
        if (pending & o->touches) {
            c.op = *o;
            s.pc = c.op_pc = pc();
            expect(o);
            return leave(lane_stop::scoreboard);
        }
        if (o->kind == lane_kind::row) {
            issue();
            const auto operation = operations.rows[static_cast<unsigned>(o->op)];
            if (!diverged) {
                operation(*o, registers, r[o->rd]);
            } else {
                operation(*o, registers, temporary);
                operations.blend(r[o->rd], temporary, active);
            }
            ++o;
            continue;
        }
        if (o->kind == lane_kind::illegal) {
            c.op_lanes = active;
            return fault(lane_fault::illegal_instruction, pc());
        }
        issue();
        const auto immediate = static_cast<std::uint64_t>(static_cast<std::int64_t>(o->immediate));
        switch (o->kind) {
            case lane_kind::branch: {
                const lane_mask taken = operations.compare[static_cast<unsigned>(o->op)](r[o->rs1], r[o->rs2]) & active;
                if (taken == 0) break;
                s.pc = pc() + immediate;
                if (s.pc & 2) {
                    c.op_lanes = taken;
                    return fault(lane_fault::misaligned_pc, s.pc);
                }
                if (taken != active) s.split(active & ~taken, pc(), pc() + 4, s.depth);
                goto jumped;
            }
            case lane_kind::jump:
                s.pc = pc() + immediate;
                if (s.pc & 2) {
                    c.op_lanes = active;
                    return fault(lane_fault::misaligned_pc, s.pc);
                }
                if (o->rd != lane_registers::sink) {
                    set_row(pc() + 4);
                    if (is_link(o->rd)) ++s.depth;
                }
                goto jumped;
            case lane_kind::jump_register:
                count_lanes();
                if (!jump_register(c, *o, pc())) return fault(lane_fault::misaligned_pc, pc());
                goto jumped;
            case lane_kind::constant: set_row(immediate); break;
            case lane_kind::relative: set_row(pc() + immediate); break;
            case lane_kind::csr:
                c.cycles = cycles - first_cycle - costs[static_cast<unsigned>(issue_class::csr)].next;
                if (!read_csr(c, *o)) {
                    c.op_lanes = active;
                    return fault(lane_fault::illegal_instruction, pc());
                }
                break;
            case lane_kind::nothing: break;
            case lane_kind::memory:
                s.accesses(o->memory.scope != memory_scope::plain && o->rd != lane_registers::sink,
                           o->memory.kind == access_kind::write);
                return stop_at(lane_stop::memory, pc() + 4);
            case lane_kind::fence: return stop_at(lane_stop::fence, pc() + 4);
            case lane_kind::pause:
                s.pc = pc() + 4;
                count_lanes();
                s.rotate(pc());
                if (!s.others_wait()) s.reconsider(pc());
                goto changed;
            case lane_kind::vote:
                if (o->op == opcode::lane_ballot_of && s.has_exchanges()) {
                    ballot_of(c, *o, temporary);
                    operations.blend(r[o->rd], temporary, active);
                    break;
                }
                set_row(o->op == opcode::lane_active
                            ? active
                            : operations.compare[static_cast<unsigned>(opcode::bne)](r[o->rs1], r[0]) & active);
                break;
            case lane_kind::shuffle: return stop_at(lane_stop::memory, pc() + 4);
            case lane_kind::sync:
                if (all_have_come(c, *o)) {
                    if (o->op == opcode::lane_exchange) s.exchanged_here();
                    break;
                }
                count_lanes();
                s.pc = pc() + 4;
                if (o->op == opcode::lane_exchange)
                    s.sync(r[o->rs1], lane_wait::lanes_exchange, static_cast<std::uint8_t>(immediate), &r[o->rs2]);
                else
                    s.sync(r[o->rs1], o->op == opcode::lane_sync_any ? lane_wait::lanes_anywhere : lane_wait::lanes);
                goto changed;
            case lane_kind::barrier:
                c.op_pc = pc();
                c.op_lanes = active;
                count_lanes();
                s.pc = pc() + 4;
                s.park();
                goto changed;
            case lane_kind::end:
                count_lanes();
                c.op_pc = pc();
                s.end();
                goto changed;
            case lane_kind::row:
            case lane_kind::illegal: break;
        }
        ++o;
        continue;

    jumped:
        if (!s.others_wait() && s.active == active) {
            if (s.pc - line_pc < line_bytes && instructions < max_instructions) {
                o = line->ops.data() + (s.pc - line_pc) / 4;
                continue;
            }
            goto enter;
        }
        count_lanes();
        regroup(c, pc(), s.pc <= pc() && !is_call_or_return(*o));
        goto changed;
    }

changed:
    active = s.active;
    diverged = s.diverged();
    goto enter;
}

template lane_stop lane_engine::run_lanes<false, false>(lane_context&, instruction_cache&, unsigned);
template lane_stop lane_engine::run_lanes<true, false>(lane_context&, instruction_cache&, unsigned);
template lane_stop lane_engine::run_lanes<false, true>(lane_context&, instruction_cache&, unsigned);
template lane_stop lane_engine::run_lanes<true, true>(lane_context&, instruction_cache&, unsigned);

}  // namespace fabricvp::gpu
