// SPDX-License-Identifier: Apache-2.0
#include "riscv/hart.h"

#include "riscv/hart_core.h"

namespace fabricvp::riscv {

void cpi_params::describe(parameter_visitor& v) {
    constexpr between limits{0.01, 1000};
    v.field("alu", alu, limits, "cycles of integer arithmetic, logic and shifts");
    v.field("multiply", multiply, limits, "cycles of an integer multiplication");
    v.field("divide", divide, limits, "cycles of an integer division or remainder");
    v.field("load", load, limits, "cycles of a load from direct memory, and of each page-table entry read");
    v.field("store", store, limits, "cycles of a store to direct memory");
    v.field("branch", branch, limits, "cycles of a conditional branch");
    v.field("jump", jump, limits, "cycles of a jump, call or return");
    v.field("atomic", atomic, limits, "cycles of an AMO, LR or SC on direct memory");
    v.field("floating", floating, limits, "cycles of floating-point arithmetic other than division and square root");
    v.field("float_divide", float_divide, limits, "cycles of a floating-point division or square root");
    v.field("csr", csr, limits, "cycles of a CSR or privileged instruction, and of entering a trap");
    v.field("fence", fence, limits, "cycles of a fence or pause");
}

void hart_params::describe(parameter_visitor& v) {
    v.field("clock", clock, between{1e3, 1e10}, "clock frequency of the hart");
    v.field("floating_point", floating_point, "implements F and D");
    v.field("supervisor", supervisor, "implements S and U mode with Sv39 and Sv48");
    v.field("bit_manipulation", bit_manipulation, "implements Zba, Zbb and Zbs");
    v.field("sstc", sstc, "implements Sstc (stimecmp)");
    v.field("pmp_entries", pmp_entries, between{0, 16}, "number of physical memory protection entries");
    v.field("instructions_per_cycle", instructions_per_cycle, between{0.1, 8},
            "of a core that issues several, while caches hit: all of cpi but divisions, atomics, csr and fence is "
            "divided by it");
    v.group("cpi", cpi, "cycles per instruction by class");
    v.group("instruction_cache", instruction_cache, "what the hart holds of its code");
}

hart::hart(const sc_core::sc_module_name& name, const hart_params& params, std::uint64_t hart_id,
           const direct_memory_map& memory, const timebase& time, ticks quantum)
    : model(name), params(params), m(std::make_unique<implementation>(*this, hart_id, memory, time, quantum)) {
    bus.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

hart::~hart() = default;

void hart::set_reset_vector(std::uint64_t pc) {
    m->reset_pc = pc;
    if (m->m_phase == implementation::phase::stopped) m->state.pc = pc;
}

void hart::start() { m->start(); }

void hart::stop() { m->stop(); }

void hart::reset() {
    m->reset();
    model::reset();
}

void hart::set_interrupt(interrupt_line line, bool level) {
    m->wake_up();
    const auto bit = std::uint64_t{1} << static_cast<unsigned>(line);
    auto& s = m->state;
    // SSIP and STIP are memory that software may write too; the others follow their line.
    auto& word = bit & (interrupt_bit::ssi | interrupt_bit::sti) ? s.mip_software : s.mip_lines;
    word = level ? word | bit : word & ~bit;
    if (level) m->interrupt_changed();
}

void hart::time_changed() {
    m->wake_up();
    m->time_changed();
}

void hart::attach_aia(aia_interface* aia) {
    m->wake_up();
    m->state.aia = aia;
}

void hart::attach_memory_timing(memory_timing* timing) {
    m->wake_up();
    m->timing = timing;
    m->memory.data_in_tlb = !timing;  // so that every load and store comes by the slow path, which asks
    m->memory.flush();
}

void hart::warn_of_endless_exceptions(bool on) { m->m_endless.warns = on; }

void hart::order_on_bus(bool on) {
    m->wake_up();
    m->order_on_bus = on;
    m->clear_code();
}

std::uint64_t hart::id() const { return m->hart_id; }

std::string hart::isa_string() const {
    std::string isa = "rv64ima";
    if (params.floating_point) isa += "fd";
    isa += "c_zicntr_zicsr_zifencei_zihintpause";
    if (params.bit_manipulation) isa += "_zba_zbb_zbs";
    if (m->state.aia) isa += params.supervisor ? "_smaia_ssaia" : "_smaia";
    if (params.supervisor && params.sstc) isa += "_sstc";
    return isa;
}

std::uint64_t hart::pc() const {
    m->catch_up();
    return m->state.pc;
}
std::uint64_t hart::x(unsigned n) const {
    m->catch_up();
    return n < 32 ? m->state.x[n] : 0;
}
void hart::set_x(unsigned n, std::uint64_t value) {
    m->wake_up();
    if (n > 0 && n < 32) m->state.x[n] = value;
}
privilege hart::mode() const { return m->state.mode; }
bool hart::waiting() const { return m->m_phase == implementation::phase::waiting; }

void hart::page_marked(sparse_memory& memory, std::uint64_t page, unsigned mark) { m->page_marked(memory, page, mark); }

void hart::marked_page_written(sparse_memory& memory, std::uint64_t offset, std::uint64_t size,
                               const memory_observer* writer) {
    m->marked_page_written(memory, offset, size, writer);
}

bool hart::watched_page_reached(sparse_memory& memory, std::uint64_t offset, std::uint64_t size, bool writes) {
    return m->watched_page_reached(memory, offset, size, writes);
}

void hart::line_changes(std::uint64_t physical, std::uint64_t size) { m->line_changes(physical, size); }

tlm::tlm_sync_enum hart::nb_transport_bw(bus_payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return m->response(phase, delay);
}

void hart::wake() { m->wake(); }
void hart::timer() { m->timer(); }

}  // namespace fabricvp::riscv
