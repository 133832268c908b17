// SPDX-License-Identifier: Apache-2.0
// A RISC-V hart: an interpreter over decoded blocks that a calendar callback runs for a slice (a quantum of simulated
// time). It owns no process and no stack. Direct memory is read and written in place; everything else (MMIO, pages that
// a device has touched) makes the hart *pending*: the access is sent on `bus` when the calendar reaches the hart's
// local time, and the completion resumes it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/address_map.h"
#include "base/bus.h"
#include "base/clock_domain.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "base/wire.h"
#include "riscv/hart_debug.h"
#include "riscv/hart_probe.h"
#include "riscv/instruction_cache.h"
#include "riscv/linear_loop.h"
#include "riscv/memory_timing.h"
#include "riscv/timebase.h"

namespace fabricvp::riscv {

/// Cycles an instruction takes, by class (the default timing; caches off).
struct cpi_params {
    double alu = 1, multiply = 3, divide = 20, load = 2, store = 1, branch = 1, jump = 1, atomic = 6, floating = 4,
           float_divide = 20, csr = 4, fence = 4;
    void describe(parameter_visitor& v);
};

struct hart_params {
    frequency clock{1'000'000'000};
    bool floating_point = true;    ///< F and D
    bool supervisor = true;        ///< S and U mode, Sv39 and Sv48
    bool bit_manipulation = true;  ///< Zba, Zbb, Zbs
    bool sstc = true;
    std::uint64_t pmp_entries = 16;
    double instructions_per_cycle = 1;
    cpi_params cpi;
    instruction_cache_params instruction_cache;
    void describe(parameter_visitor& v);
};

enum class privilege : std::uint8_t { user = 0, supervisor = 1, machine = 3 };

/// Bits of mip that come from outside.
enum class interrupt_line : unsigned {
    supervisor_software = 1,
    machine_software = 3,
    supervisor_timer = 5,
    machine_timer = 7,
    supervisor_external = 9,
    machine_external = 11
};

/// The interrupt files of a hart's IMSIC, as its CSRs reach them (RISC-V Advanced Interrupt Architecture 1.0, chapter
/// 3). The external interrupt lines are driven apart, by set_interrupt().
class aia_interface {
public:
    virtual ~aia_interface() = default;
    /// mtopei or stopei: identity << 16 | priority number, 0 if nothing is pending, enabled and above the threshold.
    virtual std::uint64_t top_external(privilege level) const = 0;
    virtual void claim_top_external(privilege level) = 0;
    /// Registers 0x70 … 0xff of mireg and sireg. \returns false where an access is illegal (odd numbers of eip and eie)
    virtual bool read_indirect(privilege level, unsigned select, std::uint64_t& value) const = 0;
    virtual bool write_indirect(privilege level, unsigned select, std::uint64_t value) = 0;
};

class hart final : public model,
                   public debug_target,
                   private memory_observer,
                   private memory_timing::line_watcher,
                   private tlm::tlm_bw_transport_if<> {
public:
    const hart_params params;

    bus_initiator_socket bus{"bus"};

    counter instructions{*this, "instructions", "1", "instructions retired"};
    counter active_cycles{*this, "active_cycles", "cycles", "cycles not spent in wfi"};
    counter traps{*this, "traps", "1", "exceptions taken"};
    counter interrupts{*this, "interrupts", "1", "interrupts taken"};
    counter bus_accesses{*this, "bus_accesses", "1", "accesses that went through the calendar"};
    counter late_interrupts{*this, "late_interrupts", "1", "interrupts that became pending inside an executed slice"};

    /// Slices that end with `pause`: skipped (hart_polls.cpp), or executed, by reason. Of the simulation, not of the
    /// hart.
    struct poll_counts {
        std::uint64_t skipped_slices = 0, skipped_instructions = 0;
        std::uint64_t first_rounds = 0;  ///< executed since the one before was another
        std::array<std::uint64_t, static_cast<unsigned>(loop_refusal::count)> executed{};
    };
    poll_counts polls;
    std::uint64_t counted_exceptions = 0;  ///< that came without end, not executed (hart_traps.cpp); the same
    std::uint64_t translated_blocks = 0;  ///< of its code, into code of the host (translator.h); of the simulation, too

    /// \param memory what the hart may reach directly, shared by a cluster; must outlive the hart
    /// \param quantum longest slice, in ticks
    hart(const sc_core::sc_module_name& name, const hart_params& params, std::uint64_t hart_id,
         const direct_memory_map& memory, const timebase& time, ticks quantum);
    ~hart() override;

    /// Where and with which a0, a1, a2 the hart starts at reset() (a boot ROM normally sets the latter itself).
    void set_reset_vector(std::uint64_t pc);
    /// Starts execution at the present time; a hart is created stopped.
    void start();
    /// Ends execution and resets the hart; it goes on from the reset vector with start().
    void stop();
    void reset() override;

    /// Drives an external interrupt line; ends the hart's slice if it is now to be taken.
    void set_interrupt(interrupt_line line, bool level);
    /// The counter behind `time` has been set: what is compared with it is compared anew.
    void time_changed();
    /// Gives the hart Smaia and Ssaia, with an IMSIC; null: it has neither, nor their CSRs. Before start().
    void attach_aia(aia_interface* aia);
    /// Adds what `timing` says to the time of each access to direct memory; null: no more. It must outlive its use.
    void attach_memory_timing(memory_timing* timing);
    /// Tells `probe` what code is executed when, and changes nothing else; null: no more. It must outlive its use.
    void attach_probe(hart_probe* probe);
    /// Whether a warning tells of exceptions that come without end. On at first; off where no software is loaded, so
    /// that they are no mistake.
    void warn_of_endless_exceptions(bool on);
    /// Where the hart stands, without any effect. Inside a slice: where the block began that it executes, if it is
    /// asked by a probe.
    hart_frame frame() const;
    /// Bytes of memory that the hart reaches directly, as its loads would see them, without any effect. \returns false
    /// where they are not all there
    bool peek(std::uint64_t address, void* to, std::size_t size) const;
    /// Tells the bus of the order that fences and atomics ask for (order_extension), for caches that firmware keeps
    /// coherent; a fence then takes as long as the bus says. Off at first. Before start().
    void order_on_bus(bool on);

    std::uint64_t id() const;
    /// Canonical ISA string for the device tree ("rv64imafdc_zicsr_…").
    std::string isa_string() const;
    std::uint64_t pc() const;
    std::uint64_t x(unsigned n) const;
    void set_x(unsigned n, std::uint64_t value);
    privilege mode() const;
    bool waiting() const;  ///< in wfi

    /// debug_target
    std::string debug_name() const override { return name(); }
    std::string debug_state() const override;
    void set_debug_listener(debug_listener* listener) override;
    bool read_register(unsigned number, std::uint64_t& value) override;
    bool write_register(unsigned number, std::uint64_t value) override;
    bool has_csr(unsigned number) const override;
    std::size_t read_memory(std::uint64_t address, void* to, std::size_t size) override;
    std::size_t write_memory(std::uint64_t address, const void* from, std::size_t size) override;
    void insert_breakpoint(std::uint64_t address, bool hardware) override;
    void remove_breakpoint(std::uint64_t address, bool hardware) override;
    void insert_watchpoint(std::uint64_t address, std::uint64_t size, watch_kind kind) override;
    void remove_watchpoint(std::uint64_t address, std::uint64_t size, watch_kind kind) override;
    void halt() override;
    void resume() override;
    void step() override;
    bool halted() const override;
    void set_lockstep(bool on) override;

private:
    void page_marked(sparse_memory& memory, std::uint64_t page, unsigned mark) override;
    void marked_page_written(sparse_memory& memory, std::uint64_t offset, std::uint64_t size,
                             const memory_observer* writer) override;
    bool watched_page_reached(sparse_memory& memory, std::uint64_t offset, std::uint64_t size, bool writes) override;
    void line_changes(std::uint64_t physical, std::uint64_t size) override;
    tlm::tlm_sync_enum nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void wake();
    void timer();

    struct implementation;
    std::unique_ptr<implementation> m;
};

}  // namespace fabricvp::riscv
