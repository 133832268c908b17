// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/command_processor.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "abi/gpu_queue_lines.h"
#include "base/clock_domain.h"
#include "base/counted_warning.h"
#include "base/trace.h"
#include "gpu/control/fault_number.h"
#include "gpu/control/queue_log.h"
#include "riscv/timebase.h"

namespace fabricvp::gpu {

/// The `time` CSR counts nanoseconds of simulated time.
class command_processor::clock final : public riscv::timebase {
public:
    std::uint64_t time_at(ticks at) const override { return at / ticks_per_nanosecond; }
    ticks when(std::uint64_t value) const override {
        return value > never / ticks_per_nanosecond ? never : value * ticks_per_nanosecond;
    }

private:
    static constexpr ticks ticks_per_nanosecond = 1000;
};

command_processor_params::command_processor_params() {
    hart.clock = frequency{2'000'000'000};
    hart.floating_point = false;
    hart.supervisor = false;
    hart.bit_manipulation = false;
}

void command_processor_params::describe(parameter_visitor& v) {
    v.field("harts", harts, between{1, 16}, "number of harts");
    v.field("memory", memory, between{32768, 524288},
            "memory of the harts' own: code, stacks and the tables shared with the host");
    v.field(
        "ecc", ecc,
        "words of 64 bits of it have a code that corrects one wrong bit and detects two (SECDED); a hart that reads "
        "the latter takes an access fault");
    v.field("ecc_latency", ecc_latency, between{0, 100},
            "more for a load where there is ECC, in cycles of a hart; two in an SRAM of this size, the L2 of Arm's "
            "Cortex-A8 (Arm DDI 0344H, 8.7)");
    v.group("hart", hart, "every hart");
    v.group("bus", bus, "what the harts reach beyond their memory");
    v.field("quantum", quantum, between{1000, 1e9}, "longest time a hart runs ahead of the others");
    origin.note(v, {"firmware"});
    v.field("firmware", firmware,
            "ELF file that the harts run instead of what the host's driver loads; relative to this file");
}

command_processor::command_processor(const sc_core::sc_module_name& name, const command_processor_params& p,
                                     unsigned gpu, memory_router& router, l2_tlb& translations, debug_memory debug)
    : model(name),
      params(p),
      memory(p.memory),
      event_pending(registers, "event_pending", CP_EVENT_PENDING, 4, 0,
                    {{"events", 0, 32, field_access::read_only, "enum gpu_event"}}, {p.harts}),
      event_enable(registers, "event_enable", CP_EVENT_ENABLE, 4, 0, {}, {p.harts}),
      doorbell_pending(registers, "doorbell_pending", CP_DOORBELL_PENDING, 8, 0,
                       {{"queues", 0, 64, field_access::write_one_to_clear, "rung since it was cleared"}}),
      host_pending(registers, "host_pending", CP_HOST_PENDING, 4, 0,
                   {{"request", 0, 1, field_access::write_one_to_clear, "the host wrote HOST_REQUEST"}}, {p.harts}),
      firmware_state(registers, "firmware_state", CP_FIRMWARE_STATE, 4, GPU_FIRMWARE_HELD),
      interrupt(registers, "interrupt", CP_INTERRUPT, 4, 0),
      hart_count(registers, "harts", CP_HARTS, 4, p.harts,
                 {{"count", 0, 32, field_access::read_only, "number of harts"}}),
      time_ns(registers, "time_ns", CP_TIME_NS, 8, 0, {{"ns", 0, 64, field_access::read_only, "simulated time"}}),
      access_fault(registers, "access_fault", CP_ACCESS_FAULT, 4, 0,
                   {{"fault", 0, 32, field_access::read_only, "enum gpu_fault"}}, {p.harts}),
      address_space(registers, "address_space", CP_ADDRESS_SPACE, 4, 0, {}, {p.harts}),
      doorbell_value(registers, "doorbell_value", CP_DOORBELL_VALUE, 8, 0,
                     {{"value", 0, 64, field_access::read_only, "last written"}}, {GPU_QUEUES}),
      page_table(registers, "page_table", CP_PAGE_TABLE, 8, 0, {}, {GPU_ADDRESS_SPACES}),
      tlb_invalidate(registers, "tlb_invalidate", CP_TLB_INVALIDATE, 4, 0),
      tlb_busy(registers, "tlb_busy", CP_TLB_BUSY, 4, 0,
               {{"busy", 0, 1, field_access::read_only, "an invalidation is under way"}}),
      acquire(registers, "acquire", CP_ACQUIRE, 4, 0),
      queue_hart(registers, "queue_hart", CP_QUEUE_HART, 4, 0, {}, {GPU_QUEUES}),
      hart_queues(registers, "hart_queues", CP_HART_QUEUES, 8, 0,
                  {{"queues", 0, 64, field_access::read_only, "whose doorbells it hears"}}, {p.harts}),
      lines_begin(registers, "lines_begin", CP_LINES_BEGIN, 8, 0),
      lines_bytes(registers, "lines_bytes", CP_LINES_BYTES, 8, 0),
      lines_lock(registers, "lines_lock", CP_LINES_LOCK, 4, 0,
                 {{"lock", 0, 1, field_access::read_write, "stores of others lock lines"}}),
      crash(*this, "crash", "the firmware stops: its harts execute nothing until the driver starts them anew",
            [this](const auto&) {
                for (auto& hart : harts) hart->stop();
            }),
      m_time(std::make_unique<clock>()),
      m_events(p.harts),
      m_event_since(p.harts) {
    m_direct.add(GPU_LOCAL(0), params.memory, {&memory, 0, true});
    const clock_domain hart_clock(params.hart.clock);
    auto of_hart = params.hart;
    if (params.ecc) of_hart.cpi.load += params.ecc_latency;
    for (std::uint64_t i = 0; i < params.harts; ++i) {
        const auto owner = (std::uint64_t{gpu} + 1) << 32 | (first_hart_owner + i);
        const cp_bus_wiring to{hart_clock, memory, registers, router, translations, owner, debug};
        bus.push_back(std::make_unique<cp_bus>(fmt::format("bus{}", i).c_str(), params.bus, to));
        harts.push_back(std::make_unique<riscv::hart>(fmt::format("hart{}", i).c_str(), of_hart, i, m_direct, *m_time,
                                                      params.quantum));
        harts.back()->order_on_bus(true);
        harts.back()->bus.bind(bus.back()->bus);
    }
    event_enable.on_write([this](std::size_t hart, std::uint64_t) { update(hart); });
    doorbell_pending.on_write([this](std::size_t, std::uint64_t) {
        for (auto taken = m_rung & ~doorbell_pending(); taken; taken &= taken - 1)
            doorbell_service.add(now() - m_rung_at[static_cast<unsigned>(__builtin_ctzll(taken))]);
        m_rung = doorbell_pending();
        update_doorbells();
    });
    host_pending.on_write([this](std::size_t hart, std::uint64_t) {
        set_event(static_cast<unsigned>(hart), GPU_EVENT_HOST, host_pending.get(hart) != 0);
    });
    interrupt.on_write([this](std::size_t, std::uint64_t vector) {
        if (log && log->on()) log->interrupt(static_cast<unsigned>(vector));
        if (on_interrupt) on_interrupt(static_cast<unsigned>(vector));
    });
    time_ns.on_read([this](std::size_t) { return m_time->time_at(now()); });
    access_fault.on_read([this](std::size_t hart) { return fault_number(bus[hart]->last_fault); });
    address_space.on_write([this](std::size_t hart, std::uint64_t space) {
        bus[hart]->address_space = static_cast<std::uint32_t>(space % GPU_ADDRESS_SPACES);
    });
    page_table.on_write([this](std::size_t space, std::uint64_t root) {
        if (on_page_table) on_page_table(static_cast<std::uint32_t>(space), root);
    });
    tlb_invalidate.on_write([this](std::size_t, std::uint64_t space) {
        if (on_tlb_invalidate) on_tlb_invalidate(static_cast<std::uint32_t>(space % GPU_ADDRESS_SPACES));
    });
    acquire.on_write([this](std::size_t, std::uint64_t) {
        if (on_acquire) on_acquire();
    });
    lines_lock.on_write([this](std::size_t, std::uint64_t) {
        if (on_queue_lines) on_queue_lines(lines_begin(), lines_bytes(), lines_lock() != 0);
    });
    queue_hart.on_write([this](std::size_t queue, std::uint64_t hart) { assign(static_cast<unsigned>(queue), hart); });
    assign_round_robin();
}

command_processor::~command_processor() = default;

std::uint64_t processor_firmware::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& s : segments) sum += s.size;
    return sum;
}

void command_processor::install(processor_firmware firmware) {
    for (const auto& s : firmware.segments)
        if (!memory.contains(s.offset, s.size) || s.bytes.size() > s.size)
            throw std::invalid_argument(fmt::format("{:#x} … {:#x} lies outside of the command processor's {} bytes",
                                                    GPU_LOCAL(s.offset), GPU_LOCAL(s.offset) + s.size - 1,
                                                    memory.size()));
    m_firmware = std::move(firmware);
}

void command_processor::set_log(queue_log& l) {
    log = &l;
    for (std::size_t hart = 0; hart < bus.size(); ++hart) {
        bus[hart]->log = &l;
        bus[hart]->hart = static_cast<unsigned>(hart);
    }
}

void command_processor::ring(unsigned queue, std::uint64_t value) {
    if (log && log->on()) log->doorbell(queue, value);
    if (queue >= GPU_QUEUES) return;
    ++doorbells;
    if (trace::on()) trace::instant(*this, fmt::format("doorbell of queue {}", queue), now());
    doorbell_value.set(value, queue);
    doorbell_pending.set(doorbell_pending() | std::uint64_t{1} << queue);
    if (!(m_rung >> queue & 1)) m_rung_at[queue] = now();
    m_rung = doorbell_pending();
    if (on_doorbell) on_doorbell();
    update_doorbells();
}

void command_processor::update_doorbells() {
    const auto pending = doorbell_pending();
    for (unsigned hart = 0; hart < harts.size(); ++hart)
        set_event(hart, GPU_EVENT_DOORBELL, (pending & hart_queues.get(hart)) != 0);
}

void command_processor::assign(unsigned queue, std::uint64_t hart) {
    if (hart >= harts.size()) {
        count_warning(rejected_assignments, *this, "queue {} keeps its hart: there is no hart {}", queue, hart);
        hart = m_hart_of[queue];
    }
    const auto bit = std::uint64_t{1} << queue;
    hart_queues.set(hart_queues.get(m_hart_of[queue]) & ~bit, m_hart_of[queue]);
    hart_queues.set(hart_queues.get(hart) | bit, hart);
    m_hart_of[queue] = static_cast<std::uint8_t>(hart);
    queue_hart.set(hart, queue);
    update_doorbells();
}

/// As after a reset: queue n belongs to hart n % harts.
void command_processor::assign_round_robin() {
    for (std::size_t hart = 0; hart < harts.size(); ++hart) hart_queues.set(0, hart);
    m_hart_of.fill(0);
    for (unsigned queue = 0; queue < GPU_QUEUES; ++queue) assign(queue, queue % harts.size());
}

void command_processor::host_request() {
    for (std::size_t hart = 0; hart < harts.size(); ++hart) host_pending.set(1, hart);
    set_event(GPU_EVENT_HOST, true);
}

void command_processor::invalidate_translations(std::uint32_t space) {
    for (auto& b : bus) b->invalidate_translations(space);
}

void command_processor::run(std::uint64_t entry) {
    if (m_running) return;
    m_running = true;
    for (const auto& s : m_firmware.segments) {
        const std::vector<std::uint8_t> zeros(s.size - s.bytes.size());
        if (!s.bytes.empty()) memory.write(s.offset, s.bytes.data(), s.bytes.size());
        if (!zeros.empty()) memory.write(s.offset + s.bytes.size(), zeros.data(), zeros.size());
    }
    if (!m_firmware.segments.empty()) entry = m_firmware.entry;
    for (auto& hart : harts) {
        hart->set_reset_vector(GPU_LOCAL(entry));
        hart->stop();
        hart->start();
    }
}

void command_processor::hold() { reset(); }

void command_processor::set_event(unsigned hart, unsigned event, bool level) {
    const auto before = m_events[hart];
    m_events[hart] = level ? before | event : before & ~event;
    if (trace::on() && m_events[hart] != before) show_events(hart, before);
    update(hart);
}

void command_processor::set_event(unsigned event, bool level) {
    for (unsigned hart = 0; hart < harts.size(); ++hart) set_event(hart, event, level);
}

/// A slice on the hart's track for the time that an event was pending.
void command_processor::show_events(std::size_t hart, std::uint32_t before) {
    static constexpr const char* names[] = {"doorbell", "dispatch ended", "host request", "fault"};
    const auto changed = before ^ m_events[hart];
    for (unsigned i = 0; i < std::size(names); ++i) {
        if (!(changed >> i & 1)) continue;
        if (before >> i & 1)
            trace::slice(*harts[hart], names[i], m_event_since[hart][i], now());
        else
            m_event_since[hart][i] = now();
    }
}

void command_processor::update(std::size_t hart) {
    event_pending.set(m_events[hart], hart);
    harts[hart]->set_interrupt(riscv::interrupt_line::machine_external, (m_events[hart] & event_enable.get(hart)) != 0);
}

void command_processor::host_read(std::uint64_t offset, void* to, std::size_t size) const {
    memory.read(offset, to, size);
}

void command_processor::host_write(std::uint64_t offset, const void* from, std::size_t size) {
    memory.write(offset, from, size);
    if (log && log->on()) log->table_written(offset, size);
}

void command_processor::reset() {
    m_running = false;
    registers.reset();
    assign_round_robin();
    m_rung = 0;
    for (auto& events : m_events) events = 0;
    if (on_queue_lines) on_queue_lines(0, 0, false);
    model::reset();
    for (auto& hart : harts) hart->stop();
}

}  // namespace fabricvp::gpu
