// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics that the dispatch loop could not do through the TLB.
#include <cstring>
#include <utility>

#include "riscv/hart_core.h"
#include "riscv/slicing.h"

namespace fabricvp::riscv {

namespace {
constexpr std::uint64_t page_size = sparse_memory::page_size;

std::uint64_t extend(opcode op, std::uint64_t raw) {
    switch (op) {
        case opcode::lb: return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(raw)));
        case opcode::lh: return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int16_t>(raw)));
        case opcode::lw: return semantics::sext32(raw);
        default: return raw;
    }
}

/// Of 1, 2, 4 or 8 bytes.
std::uint64_t load_bytes(const std::uint8_t* from, unsigned size) {
    const auto as = [from](auto value) {
        std::memcpy(&value, from, sizeof value);
        return std::uint64_t{value};
    };
    switch (size) {
        case 1: return as(std::uint8_t{});
        case 2: return as(std::uint16_t{});
        case 4: return as(std::uint32_t{});
        default: return as(std::uint64_t{});
    }
}

void store_bytes(std::uint8_t* to, std::uint64_t value, unsigned size) {
    const auto as = [=](auto part) { std::memcpy(to, &part, sizeof part); };
    switch (size) {
        case 1: return as(static_cast<std::uint8_t>(value));
        case 2: return as(static_cast<std::uint16_t>(value));
        case 4: return as(static_cast<std::uint32_t>(value));
        default: return as(value);
    }
}

std::uint64_t extend_atomic(unsigned size, std::uint64_t raw) { return size == 4 ? semantics::sext32(raw) : raw; }
}  // namespace

slow_result hart::implementation::fault(cause c, std::uint64_t value) {
    exit = exit_reason::fault;
    fault_cause = c;
    fault_value = value;
    return slow_result::stopped();
}

std::int64_t hart::implementation::walk_cost() {
    return std::int64_t{memory.take_walk_reads()} * costs[static_cast<unsigned>(timing_class::load)];
}

inline std::uint8_t* hart::implementation::timed_hit(std::uint64_t address, unsigned size, access_type kind) {
    if (!timing || !m_watchpoints.empty()) return nullptr;
    std::uint64_t physical = 0;
    auto* const host = memory.known(address, size, kind, physical);
    const auto use = kind == access_type::write ? memory_timing::use::store : memory_timing::use::load;
    return host && timing->hit(hart_id, physical, size, use) ? host : nullptr;
}

std::int64_t hart::implementation::memory_cost(const memory_target& to, unsigned size, memory_timing::use u) {
    if (!timing) return 0;
    const auto waited = timing->access(owner.id(), to.physical, size, u, local_time());
    return waited ? to_cost(waited) : 0;
}

/// With a memory timing attached, memory that devices touch costs what caches say, not what the bus takes: only the
/// order of accesses is the calendar's.
bool hart::implementation::is_shared_memory(const memory_target& to) const {
    return timing && to.place == memory_target::where::bus && to.host && !m_access.is_atomic;
}

/// Whether nothing can happen before the hart's local time, so that an access there need not wait for the calendar.
bool hart::implementation::is_first_in_time() const {
    return !accesses_are_separate() && owner.timeline().next_event_time() > local_time() &&
           !sc_core::sc_pending_activity();
}

void hart::implementation::access_shared_memory(const memory_target& to, std::uint8_t* data, unsigned size,
                                                access_type kind) {
    to.memory->reached_by_hart(to.offset);
    if (kind == access_type::read)
        std::memcpy(data, to.host, size);
    else
        write_marked(to, data, size);
}

slow_result hart::implementation::load_slow(std::uint64_t address, unsigned size, opcode op, unsigned rd) {
    if (const auto* host = timed_hit(address, size, access_type::read))
        return {extend(op, load_bytes(host, size)), walk_cost()};
    return load_resolved(address, size, op, rd);
}

slow_result hart::implementation::load_resolved(std::uint64_t address, unsigned size, opcode op, unsigned rd) {
    const auto in_page = static_cast<unsigned>(page_size - (address & (page_size - 1)));
    if (size <= in_page) {  // misaligned
        if (const auto* host = memory.cached(address, access_type::read)) {
            std::uint64_t raw = 0;
            std::memcpy(&raw, host, size);
            return {extend(op, raw), 0};
        }
    }
    const unsigned first_size = size < in_page ? size : in_page;
    auto& segments = m_access.segments;
    segments[0] = {memory.resolve_cached(address, first_size, access_type::read), first_size};
    if (segments[0].to.place == memory_target::where::fault) return fault(segments[0].to.fault, address);
    bool direct = segments[0].to.place == memory_target::where::direct;
    m_access.segment_count = 1;
    if (first_size != size) {
        segments[1] = {memory.resolve(address + first_size, size - first_size, access_type::read), size - first_size};
        if (segments[1].to.place == memory_target::where::fault)
            return fault(segments[1].to.fault, address + first_size);
        direct = direct && segments[1].to.place == memory_target::where::direct;
        m_access.segment_count = 2;
    }
    if (!m_watchpoints.empty()) note_watch(address, size, access_type::read);
    if (!direct) {
        if (!segments[0].to.host && address % size != 0)
            return fault(cause::load_access, address);  // devices want aligned accesses
        m_access.is_atomic = false;
        const auto format = info(op).format;
        if (m_access.segment_count == 1 && format == operand_format::load && is_shared_memory(segments[0].to) &&
            is_first_in_time()) {
            std::uint64_t raw = 0;
            access_shared_memory(segments[0].to, reinterpret_cast<std::uint8_t*>(&raw), size, access_type::read);
            return {extend(op, raw), walk_cost() + memory_cost(segments[0].to, size, memory_timing::use::load)};
        }
        begin_access(op, access_type::read, rd, address, 0);
        return slow_result::stopped();
    }
    auto cost = walk_cost();
    for (unsigned i = 0; i < m_access.segment_count; ++i)  // who sleeps and has the line stores what it owes first
        cost += memory_cost(segments[i].to, segments[i].size, memory_timing::use::load);
    std::uint64_t raw = 0;
    std::memcpy(&raw, segments[0].to.host, first_size);
    if (first_size != size) {
        std::uint64_t high = 0;
        std::memcpy(&high, segments[1].to.host, size - first_size);
        raw |= high << (8 * first_size);
    }
    return {extend(op, raw), cost};
}

slow_result hart::implementation::store_slow(std::uint64_t address, unsigned size, std::uint64_t value, opcode op) {
    auto* const host = timed_hit(address, size, access_type::write);
    if (!host) return store_resolved(address, size, value, op);
    store_bytes(host, value, size);
    return {0, walk_cost()};
}

slow_result hart::implementation::store_resolved(std::uint64_t address, unsigned size, std::uint64_t value, opcode op) {
    const auto in_page = static_cast<unsigned>(page_size - (address & (page_size - 1)));
    if (size <= in_page) {
        if (auto* host = memory.cached(address, access_type::write)) {
            std::memcpy(host, &value, size);
            return {0, 0};
        }
    }
    const unsigned first_size = size < in_page ? size : in_page;
    auto& segments = m_access.segments;
    segments[0] = {memory.resolve_cached(address, first_size, access_type::write), first_size};
    if (segments[0].to.place == memory_target::where::fault) return fault(segments[0].to.fault, address);
    bool direct = segments[0].to.place == memory_target::where::direct;
    m_access.segment_count = 1;
    if (first_size != size) {
        segments[1] = {memory.resolve(address + first_size, size - first_size, access_type::write), size - first_size};
        if (segments[1].to.place == memory_target::where::fault)
            return fault(segments[1].to.fault, address + first_size);
        direct = direct && segments[1].to.place == memory_target::where::direct;
        m_access.segment_count = 2;
    }
    if (!m_watchpoints.empty()) note_watch(address, size, access_type::write);
    if (!direct) {
        if (!segments[0].to.host && address % size != 0) return fault(cause::store_access, address);
        m_access.is_atomic = false;
        if (m_access.segment_count == 1 && info(op).format == operand_format::store &&
            is_shared_memory(segments[0].to) && is_first_in_time()) {
            access_shared_memory(segments[0].to, reinterpret_cast<std::uint8_t*>(&value), size, access_type::write);
            if (!std::exchange(m_code_overwritten, false))
                return {0, walk_cost() + memory_cost(segments[0].to, size, memory_timing::use::store)};
            exit = exit_reason::resync;
            return slow_result::stopped();
        }
        begin_access(op, access_type::write, 0, address, value);
        return slow_result::stopped();
    }
    auto cost = walk_cost();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    for (unsigned i = 0; i < m_access.segment_count; ++i) {
        cost += memory_cost(segments[i].to, segments[i].size, memory_timing::use::store);
        if (segments[i].to.plain)
            std::memcpy(segments[i].to.host, bytes, segments[i].size);
        else
            write_marked(segments[i].to, bytes, segments[i].size);
        bytes += segments[i].size;
    }
    if (m_code_overwritten) {
        m_code_overwritten = false;
        exit = exit_reason::resync;
        return slow_result::stopped();
    }
    return {0, cost};
}

void hart::implementation::write_marked(const memory_target& to, const void* from, unsigned size) {
    to.memory->announce_write(to.offset, size);
    std::memcpy(to.host, from, size);
    after_marked_write(*to.memory, to.offset, size);
}

void hart::implementation::after_marked_write(sparse_memory& m, std::uint64_t offset, std::uint64_t size) {
    m.written(offset, size, &owner);
    const auto page = offset >> sparse_memory::page_bits;
    // Every suspended reservation in the page has been broken by this write (all but our own, which is not suspended).
    m.clear_mark(page, sparse_memory::reserved);
    // A page whose code is gone shall become fast again. Who still holds code in it marks it anew when called on; the
    // roll is called once in a while, by a passing `reserved` mark.
    if ((m.marks(page) & sparse_memory::decoded) && (offset & 511) < 8 && !blocks.holds_page(m, page)) {
        m.clear_mark(page, sparse_memory::decoded);
        m.set_mark(page, sparse_memory::reserved);
        m.clear_mark(page, sparse_memory::reserved);
    }
}

void hart::implementation::page_marked(sparse_memory& m, std::uint64_t page, unsigned mark) {
    wake_up();
    if ((mark & sparse_memory::reserved) && !(m.marks(page) & sparse_memory::decoded) && blocks.holds_page(m, page))
        m.set_mark(page, sparse_memory::decoded);
    memory.page_marked(m, page, mark);
}

void hart::implementation::marked_page_written(sparse_memory& m, std::uint64_t offset, std::uint64_t size,
                                               const memory_observer* writer) {
    wake_up();
    if (blocks.invalidate(m, offset, size)) {
        code_epoch();
        if (m_in_slice) m_code_overwritten = true;
    }
    if (writer == &owner || !reservation || !m_reservation_marked) return;
    // While suspended, the reservation set is the whole page.
    const auto from = m.data() + (offset & ~(page_size - 1));
    const auto to = m.data() + ((offset + size + page_size - 1) & ~(page_size - 1));
    if (reservation >= from && reservation < to) {
        reservation = nullptr;
        m_reservation_marked = false;
    }
}

void hart::implementation::protect_reservation() {
    constexpr unsigned oldest = 256;  // an LR that no SC follows shall not cost every slice something
    if (!reservation) return;
    auto* const m = memory.memory_of(reservation);
    if (!m || ++m_reservation_age > oldest) {
        reservation = nullptr;
        return;
    }
    m_reservation_marked = true;
    m->set_mark(static_cast<std::uint64_t>(reservation - m->data()) >> sparse_memory::page_bits,
                sparse_memory::reserved);
}

slow_result hart::implementation::fence_slow(opcode op) {
    m_access.segments[0] = {};
    m_access.segments[0].to.place = memory_target::where::bus;
    m_access.segments[0].size = 1;
    m_access.segment_count = 1;
    begin_access(op, access_type::write, 0, 0, 0);
    return slow_result::stopped();
}

slow_result hart::implementation::atomic_slow(std::uint64_t address, unsigned size, std::uint64_t operand,
                                              semantics::atomic_operation operation, opcode op, unsigned rd) {
    if (address % size != 0) return fault(cause::store_misaligned, address);
    const auto to = memory.resolve(address, size, access_type::write);
    if (to.place == memory_target::where::fault) return fault(to.fault, address);
    if (!m_watchpoints.empty()) note_watch(address, size, access_type::write);
    const auto kind = static_cast<atomic_extension::operation>(operation);
    if (to.place == memory_target::where::bus) {
        m_access.segments[0] = {to, size};
        m_access.segment_count = 1;
        m_atomic.op = kind;
        begin_access(op, access_type::write, rd, address, operand);
        m_access.is_atomic = true;
        return slow_result::stopped();
    }
    if (!to.plain && !to.memory->readable(to.offset, size)) return fault(cause::store_access, address);
    if (!to.plain) to.memory->announce_write(to.offset, size);
    const auto old = perform_atomic(kind, to.host, size, operand);
    if (!to.plain) after_marked_write(*to.memory, to.offset, size);
    if (m_code_overwritten) {
        m_code_overwritten = false;
        state.x[rd] = extend_atomic(size, old);
        exit = exit_reason::resync;
        return slow_result::stopped();
    }
    return {extend_atomic(size, old), walk_cost() + memory_cost(to, size, memory_timing::use::store)};
}

slow_result hart::implementation::load_reserved_slow(std::uint64_t address, unsigned size, opcode op, unsigned rd) {
    if (address % size != 0) return fault(cause::load_misaligned, address);
    const auto to = memory.resolve_cached(address, size, access_type::read);
    if (to.place == memory_target::where::fault) return fault(to.fault, address);
    if (!m_watchpoints.empty()) note_watch(address, size, access_type::read);
    reservation = nullptr;
    bus_reservation = no_reservation;
    if (to.place == memory_target::where::bus) {
        m_access.segments[0] = {to, size};
        m_access.segment_count = 1;
        m_atomic.op = atomic_extension::operation::load_reserved;
        begin_access(op, access_type::read, rd, address, 0);
        m_access.is_atomic = true;
        return slow_result::stopped();
    }
    const auto cost = walk_cost() + memory_cost(to, size, memory_timing::use::load);
    std::uint64_t raw = 0;
    std::memcpy(&raw, to.host, size);
    reservation = to.host;
    m_reservation_age = 0;
    m_reservation_marked = false;
    return {extend_atomic(size, raw), cost};
}

slow_result hart::implementation::store_conditional_slow(std::uint64_t address, unsigned size, std::uint64_t value,
                                                         opcode op, unsigned rd) {
    if (address % size != 0) return fault(cause::store_misaligned, address);
    auto* const held = reservation;
    const auto held_on_bus = bus_reservation;
    if (!held && held_on_bus == no_reservation) return {1, 0};
    const auto to = memory.resolve_cached(address, size, access_type::write);
    if (to.place == memory_target::where::fault) return fault(to.fault, address);
    reservation = nullptr;
    bus_reservation = no_reservation;
    if (to.place == memory_target::where::bus) {
        if (held_on_bus != to.physical) return {1, walk_cost()};
        m_access.segments[0] = {to, size};
        m_access.segment_count = 1;
        m_atomic.op = atomic_extension::operation::store_conditional;
        begin_access(op, access_type::write, rd, address, value);
        m_access.is_atomic = true;
        return slow_result::stopped();
    }
    if (held != to.host) return {1, walk_cost()};
    if (!m_watchpoints.empty()) note_watch(address, size, access_type::write);
    if (to.plain)
        std::memcpy(to.host, &value, size);
    else
        write_marked(to, &value, size);
    if (m_code_overwritten) {
        m_code_overwritten = false;
        state.x[rd] = 0;
        exit = exit_reason::resync;
        return slow_result::stopped();
    }
    return {0, walk_cost() + memory_cost(to, size, memory_timing::use::store)};
}

}  // namespace fabricvp::riscv
