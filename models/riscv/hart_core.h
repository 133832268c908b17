// SPDX-License-Identifier: Apache-2.0
// Private parts of a hart, put together. The code is split by concern:
//   interpreter.cpp   the dispatch loop          block_builder.cpp  decoding into blocks, finding them
//   translator.cpp    blocks as code of the host (translator_emitter.cpp)
//   hart_memory.cpp   loads and stores that miss the TLB          hart_bus.cpp  accesses through the calendar
//   hart_traps.cpp    traps, returns, CSR and system instructions
//   hart_slice.cpp    slices, local time, waiting                hart_debug.cpp  breakpoints, stepping, registers
//   hart_probe.cpp    what a probe is told
//   hart_polls.cpp    where a hart falls asleep instead of polling                hart_sleep.cpp   how it sleeps
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "base/calendar.h"
#include "riscv/block_cache.h"
#include "riscv/csr_file.h"
#include "riscv/decoder.h"
#include "riscv/hart.h"
#include "riscv/hart_state.h"
#include "riscv/linear_loop.h"
#include "riscv/memory_order.h"
#include "riscv/mmu.h"
#include "riscv/pmp.h"
#include "riscv/semantics.h"
#include "riscv/translator.h"

namespace fabricvp::riscv {

/// Result of an access that missed the TLB: the cycles it cost beyond its class, or negative if the instruction cannot
/// complete now (m.exit says why).
struct slow_result {
    std::uint64_t value = 0;
    std::int64_t cost = 0;
    static slow_result stopped() { return {0, -1}; }
    bool complete() const { return cost >= 0; }
};

/// Why the dispatch loop was left, or an instruction could not complete.
enum class exit_reason : std::uint8_t {
    budget,   ///< the slice is used up
    fault,    ///< an exception is to be taken (fault_cause, fault_value)
    pending,  ///< an access must go through the calendar
    resync,   ///< code was overwritten: blocks must be looked up anew after this instruction
    waiting,  ///< wfi
    stopped   ///< for the debugger
};

struct hart::implementation final : csr_environment, private lagging, private loop_memory {
    static constexpr unsigned cost_bits = 10;  ///< fixed-point cycles: 1/1024
    static constexpr unsigned jump_entries = 2048;
    static constexpr unsigned max_block_instructions = 64;

    struct jump_entry {
        std::uint64_t pc = 1;
        std::uint64_t context = ~std::uint64_t{0};
        std::uint64_t code_context = ~std::uint64_t{0};
        block* target = nullptr;
    };

    implementation(hart& owner, std::uint64_t hart_id, const direct_memory_map& map, const timebase& time,
                   ticks quantum);
    ~implementation();

    // --- dispatch (interpreter.cpp)
    /// Runs until the budget is used up or `exit` says otherwise. With `labels` it only exports its handlers.
    static void interpret(implementation* m, const void* const** labels);

    // --- finding blocks (block_builder.cpp)
    /// The block at state.pc = `pc`, or null with `exit` set. `link` is cleared if it must not be remembered.
    block* find_block(std::uint64_t pc, block_link*& link);
    block* build(std::uint64_t pc, const memory_target& at, unsigned max_instructions);
    void append(const instruction& i, unsigned offset);
    block* finish_block(block* to, const std::uint8_t* host, unsigned length);
    std::int64_t fetch_lines(block& b);  ///< what the cache lacks of a block \returns the cost
    void clear_code();                   ///< drops all blocks and links
    void translation_epoch();  ///< translation changed: links between pages and the jump cache are to be checked anew
    void code_epoch();         ///< code changed: all links and the jump cache are invalid
    void cache_target(std::uint64_t pc, block* b);
    void update_context();

    // --- memory (hart_memory.cpp)
    slow_result load_slow(std::uint64_t address, unsigned size, opcode op, unsigned rd);
    slow_result store_slow(std::uint64_t address, unsigned size, std::uint64_t value, opcode op);
    slow_result atomic_slow(std::uint64_t address, unsigned size, std::uint64_t operand,
                            semantics::atomic_operation operation, opcode op, unsigned rd);
    slow_result load_reserved_slow(std::uint64_t address, unsigned size, opcode op, unsigned rd);
    slow_result store_conditional_slow(std::uint64_t address, unsigned size, std::uint64_t value, opcode op,
                                       unsigned rd);
    slow_result fence_slow(opcode op);
    slow_result load_resolved(std::uint64_t address, unsigned size, opcode op, unsigned rd);
    slow_result store_resolved(std::uint64_t address, unsigned size, std::uint64_t value, opcode op);
    /// Where an access lies that the attached memory timing has made as a hit; null: nothing has been done.
    std::uint8_t* timed_hit(std::uint64_t address, unsigned size, access_type kind);
    std::int64_t walk_cost();
    /// What the attached memory timing adds, in the units of costs.
    std::int64_t memory_cost(const memory_target& to, unsigned size, memory_timing::use u);
    bool is_shared_memory(const memory_target& to) const;
    bool is_first_in_time() const;
    void access_shared_memory(const memory_target& to, std::uint8_t* data, unsigned size, access_type kind);
    slow_result fault(cause c, std::uint64_t value);
    void write_marked(const memory_target& to, const void* from, unsigned size);
    void after_marked_write(sparse_memory& memory, std::uint64_t offset, std::uint64_t size);
    void protect_reservation();
    void page_marked(sparse_memory& memory, std::uint64_t page, unsigned mark);
    void marked_page_written(sparse_memory& memory, std::uint64_t offset, std::uint64_t size,
                             const memory_observer* writer);

    // --- bus (hart_bus.cpp)
    struct access_segment {
        memory_target to;
        unsigned size = 0;
    };
    struct pending_access {
        opcode op = opcode::illegal;
        access_type kind = access_type::read;
        unsigned rd = 0;
        std::uint64_t address = 0;  ///< virtual
        std::array<access_segment, 2> segments;
        unsigned segment_count = 0, current = 0, done = 0;
        alignas(8) std::array<std::uint8_t, 16> data{};
        bool is_atomic = false;
        std::uint32_t bits = 0;  ///< the instruction
        unsigned length = 0;     ///< of it
        std::int64_t cost = 0;
    };
    void begin_access(opcode op, access_type kind, unsigned rd, std::uint64_t address, std::uint64_t value);
    void send_segment();
    void segment_done();
    void finish_access();
    tlm::tlm_sync_enum response(tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void drop_payload();
    void finish_reset();
    void fail_access();

    // --- probe (hart_probe.cpp)
    void number_block(block& b, std::uint64_t physical);
    void tell_entered(const block& b, std::uint32_t number, std::uint64_t pc);
    void tell_left(block& b, unsigned executed);
    void tell_rest(hart_rest why) {
        if (probe) probe->rests(owner, why, m_local);
    }

    // --- traps (hart_traps.cpp)
    void take_trap(cause c, std::uint64_t value, std::uint64_t pc);
    void comes_again(cause c);
    void take_interrupt(unsigned code);
    void enter_handler(std::uint64_t code, bool interrupt, std::uint64_t value, std::uint64_t pc);
    bool execute_csr(opcode op, unsigned number, unsigned rs1, unsigned rd);
    bool execute_system(opcode op, const block_op& o, std::uint64_t pc, std::uint64_t next_pc);
    bool return_from_trap(privilege from);
    bool illegal(std::uint32_t bits);

    // --- csr_environment
    std::uint64_t cycle_count() override;
    std::uint64_t retired_count() override;
    std::uint64_t time_count() override;
    void stimecmp_changed() override;
    void time_changed();
    void translation_changed() override;
    void protection_changed() override;
    void context_changed() override;

    // --- slices (hart_slice.cpp)
    void wake();
    void timer();
    void make_request();
    void take_response();
    void run_slice();
    exit_reason run_one_slice();
    void account();
    void continue_at(ticks when);
    void interrupt_changed();
    void arm_timer();
    ticks to_ticks(std::int64_t cost);
    ticks span_of(std::int64_t cost) const;
    std::int64_t to_cost(ticks span) const;
    ticks local_time() const;
    void reset();
    void start();
    void stop();

    // --- polls (hart_polls.cpp)
    void consider_sleep();
    loop_refusal fall_asleep();
    bool peek_code(std::uint64_t pc, bool starts, instruction& i);
    loop_memory::seen look(std::uint64_t address, unsigned size, bool writes) override;

    // --- sleep (hart_sleep.cpp)
    void begin_sleep(ticks until);
    std::int64_t cost_before(calendar::position to) const;
    void pass_to(std::uint64_t round, std::size_t part);
    void perform_stores(std::uint64_t round, std::size_t from_part, std::size_t to_part);
    void end_sleep();
    void catch_up() override;
    bool watched_page_reached(const sparse_memory& memory, std::uint64_t offset, std::uint64_t size, bool writes);
    void line_changes(std::uint64_t physical, std::uint64_t size);
    /// Something happens that it might notice; no more than a comparison while it is awake.
    void wake_up();

    // --- debug (hart_debug.cpp)
    static unsigned split_index(std::uint64_t pc) { return pc >> 1 & (splits - 1); }
    void update_debugging();
    void insert_breakpoint(std::set<std::uint64_t>& into, std::uint64_t address);
    bool breaks_at(std::uint64_t pc) const { return m_breakpoints.count(pc) || m_hardware_breakpoints.count(pc); }
    void leave_debug_halt();
    bool debug_stop_before(std::uint64_t pc);
    void settle_debug();
    void stop(stop_reason reason, std::uint64_t address);
    void note_watch(std::uint64_t address, unsigned size, access_type kind);
    std::size_t debug_copy(std::uint64_t address, void* to, const void* from, std::size_t size);

    hart& owner;
    const timebase& time;
    memory_timing* timing = nullptr;
    hart_probe* probe = nullptr;
    std::unique_ptr<instruction_cache> code_cache;  ///< null: none
    bool order_on_bus = false;
    const ticks quantum;
    const std::uint64_t hart_id;
    hart_state state;
    pmp protection;
    mmu memory;
    csr_file csrs;
    block_cache blocks;
    decoder_options decoding;
    std::uint64_t reset_pc = 0x1000;

    // Exchanged with the dispatch loop.
    std::uint64_t context = 0;       ///< epochs, mode and FS: what a link was valid for
    std::uint64_t code_context = 0;  ///< the same without translation
    std::int64_t budget = 0;         ///< fixed-point cycles left in the slice
    std::uint64_t retired = 0;       ///< instructions since the slice began
    exit_reason exit = exit_reason::budget;
    cause fault_cause = cause::illegal_instruction;
    std::uint64_t fault_value = 0;
    std::uint32_t current_bits = 0;
    std::uint8_t* reservation = nullptr;  ///< host address that LR reserved
    static constexpr std::uint64_t no_reservation = ~std::uint64_t{0};
    std::uint64_t bus_reservation = no_reservation;  ///< physical address reserved through the bus
    std::array<jump_entry, jump_entries> jump_cache{};
    std::array<std::uint32_t, static_cast<unsigned>(timing_class::count)> costs{};

    // Builder.
    std::vector<block_op> m_ops;
    std::vector<block_op_position> m_positions;
    std::uint32_t m_cost = 0, m_instructions = 0;
    alignas(16) std::array<std::byte, 512> m_scratch{};
    const void* const* m_labels = nullptr;
    std::unique_ptr<translator> code_translator;  ///< null: all is interpreted
    std::uint64_t m_epoch = 1, m_code_epoch = 1;

    // Slices.
    enum class phase : std::uint8_t { stopped, running, request, response, waiting };
    phase m_phase = phase::stopped;
    bool m_end_slice = false;
    bool m_in_slice = false;
    bool m_code_overwritten = false;
    unsigned m_reservation_age = 0;     ///< slices that ended since LR
    bool m_reservation_marked = false;  ///< the page carries `reserved` for us
    ticks m_slice_start = 0;
    ticks m_local = 0;     ///< local time when not in a slice
    ticks m_next = never;  ///< when the hart goes on, while it decides that
    std::int64_t m_slice_budget = 0;
    std::int64_t m_quantum_cost = 0;
    std::int64_t m_miss_cost = 0;   ///< of code
    std::uint64_t m_remainder = 0;  ///< fraction of a tick carried from slice to slice
    std::int64_t m_cycle_remainder = 0;
    std::uint64_t m_retired_total = 0;
    calendar_event m_wake;
    calendar_event m_timer;
    clock_domain m_clock;

    // Exceptions that come without end.
    struct {
        std::uint64_t retired = 0;  ///< instructions before the last one
        std::int64_t budget = 0;    ///< behind it
        std::int64_t cost = 0;      ///< of it, if nothing was executed since the one before
        bool warns = true, told = false;
    } m_endless;

    // Polls.
    bool m_paused = false;            ///< `pause` ended the slice
    std::uint64_t m_since_pause = 0;  ///< cost of what was executed
    struct {
        std::uint64_t pc = 1;  ///< behind the last pause
        std::uint64_t cost = 0;
        loop_refusal refusal = loop_refusal::none;
    } m_poll;
    struct {
        std::uint64_t rounds = 0;  ///< in all; 0: awake
        std::uint64_t round = 0;   ///< that is reached,
        std::size_t part = 0;      ///< and the part of it that comes next, at m_local
        linear_loop loop;
    } m_sleep;

    // Bus.
    pending_access m_access;
    bus_payload* m_payload = nullptr;
    bool m_payload_stale = false;   ///< reset came while it was under way
    bool m_restart_due = false;     ///< start again once that is over
    bool m_response_ready = false;  ///< the response is known and takes effect at the next wake
    atomic_extension m_atomic;
    order_extension m_order;
    initiator_extension m_initiator;

    // Debug.
    debug_listener* m_listener = nullptr;
    std::set<std::uint64_t> m_breakpoints, m_hardware_breakpoints;
    struct watchpoint {
        std::uint64_t address, size;
        watch_kind kind;
    };
    std::vector<watchpoint> m_watchpoints;
    static constexpr unsigned splits = sparse_memory::page_size / 2;
    static constexpr std::uint64_t no_breakpoint = 1;  // odd: no program counter
    std::bitset<splits> m_splits;  ///< page offsets where blocks begin, because a breakpoint is or was there
    bool m_debugging = false;      ///< find_block() has to look
    bool m_single = false;         ///< instruction by instruction
    bool m_lockstep = false, m_halted = false, m_stepping = false, m_executed = false;
    std::uint64_t m_skip_breakpoint = no_breakpoint;  ///< where the hart was let go on a breakpoint
    stop_reason m_watch_hit = stop_reason::none;
    std::uint64_t m_watch_address = 0;
};

}  // namespace fabricvp::riscv
