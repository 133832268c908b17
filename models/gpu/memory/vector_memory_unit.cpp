// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/vector_memory_unit.h"

#include <algorithm>
#include <utility>

#include "base/trace_flow.h"
#include "gpu/memory/observer.h"

namespace fabricvp::gpu {

void vector_memory_unit_params::describe(parameter_visitor& v) {
    v.field("queue", queue, between{1, 4096}, "memory instructions of a compute unit under way at a time");
    v.field("outstanding_bypasses", outstanding_bypasses, between{1, 4096},
            "stores, atomics and scoped loads of a compute unit under way at a time, in lines");
    v.field("latency", latency, between{0, 1000}, "of the coalescer, in GPU cycles");
    v.field(
        "address_lanes", address_lanes, between{1, 64},
        "lanes whose addresses the coalescer takes a cycle: below 64, an access to however few lines occupies it for "
        "several cycles. The latency of one access stays");
    v.field("reorder_buffer", reorder_buffer, between{0, 4096},
            "lines that return to the registers in the order of their accesses, from translation on; 0: they return as "
            "they come");
    v.field("coalesced_atomics", coalesced_atomics,
            "lanes' atomics on different words of a line go as one request, as stores do; otherwise each goes alone. "
            "Over PCIe they always go alone, as its AtomicOps do");
    v.group("tlb", tlb, "TLB of a compute unit");
    v.group("l1", l1, "L1 vector cache of a compute unit");
}

vector_memory_unit::vector_memory_unit(const sc_core::sc_module_name& name, const vector_memory_unit_params& p,
                                       unsigned index, const vector_memory_unit_wiring& to)
    : model(name),
      params(p),
      tlb("tlb", p.tlb, to.clock, to.shared_tlb, *this),
      l1("l1", p.l1, to.clock, to.router, to.pools.requests),
      m_index(index),
      m_latency(to.clock.span(p.latency)),
      m_cycle(to.clock.span(1)),
      m_router(to.router),
      m_constants(to.constants),
      m_pools(to.pools),
      m_reorder(p.reorder_buffer) {
    l1.add_user(*this);
    m_constants.add_user(*this);
}

access_state& vector_memory_unit::allocate_state() {
    if (!m_free) {
        m_states.push_back(std::make_unique<access_state>());
        m_free = m_states.back().get();
        m_free->unit = this;
    }
    access_state& s = *m_free;
    m_free = s.next_free;
    return s;
}

unsigned vector_memory_unit::permissions_for(const vector_access& a) {
    switch (a.kind) {
        case access_kind::read:
        case access_kind::load_reserved: return GPU_PTE_READ;
        case access_kind::write: return GPU_PTE_WRITE;
        default: return GPU_PTE_READ | GPU_PTE_WRITE;
    }
}

std::uint64_t vector_memory_unit::owner_of(const vector_access& a, lane_mask lane) const {
    const std::uint64_t unit = std::uint64_t{m_router.where()} << 16 | m_index;
    return (unit << 32 | a.wavefront) << 6 | static_cast<unsigned>(__builtin_ctzll(lane));
}

void vector_memory_unit::issue(const vector_access_ptr& access) {
    vector_access& a = *access;
    access_state& s = allocate_state();
    ++m_in_flight;
    ++accesses;
    a.issued = now();
    s.access = access;
    s.translated = 0;
    s.reordered = m_reorder.in_use() ? 0 : ~0u;
    s.serial = ++m_serial;
    s.bypass = s.ordered = s.exact = 0;
    s.count = split(a, s.transactions);
    if ((a.kind != access_kind::read && a.kind != access_kind::write) || a.scope != memory_scope::plain)
        s.bypass = ~std::uint64_t{0};
    s.total = s.count;
    lines_per_access.add(s.count);
    const ticks at = std::max(now(), m_coalescer_free);
    m_coalescer_free = at + address_time(a);
    s.lookup_at = at + m_latency + tlb.latency();
    s.ready = now();
    if (at > now()) a.spans.add(m_coalesce_span, span_kind::queueing, now(), at);
    a.spans.add(m_coalesce_span, span_kind::service, at, at + m_latency);
    a.spans.add(tlb.lookup_span, span_kind::service, at + m_latency, s.lookup_at);
    s.pending = s.count + 1;
    s.spanned = span_recorder::on();
    if (!m_blocked.empty() || m_translating || !translate(s)) return m_blocked.push_back(&s);
    release(s);
    resume_translation();
}

/// For which the coalescer takes the addresses of an access, in the order of lanes, up to the last one that has any;
/// 0 if it takes all at once: then lines occupy L1 for as long.
ticks vector_memory_unit::address_time(const vector_access& a) const {
    if (params.address_lanes == wavefront_lanes || !a.mask) return 0;
    const auto lanes = wavefront_lanes - static_cast<unsigned>(__builtin_clzll(a.mask));
    return m_cycle * ((lanes + params.address_lanes - 1) / params.address_lanes);
}

unsigned vector_memory_unit::split(vector_access& a, coalescer::transactions& to) {
    if (a.kind == access_kind::read || a.kind == access_kind::write) return m_coalescer.split(a, to);
    const bool together = a.kind == access_kind::atomic && params.coalesced_atomics && a.mask &&
                          a.operation != atomic_extension::operation::compare_swap;
    return together ? m_coalescer.split_atomics(a, to) : coalescer::split_lanes(a, to);
}

/// \returns false if the rest of the access waits, for an MSHR of the TLB or for the reorder buffer
bool vector_memory_unit::translate(access_state& s) {
    // What ends inside may issue more, or make room for others: they come behind this one.
    const auto done = [this](bool whole) {
        m_translating = false;
        return whole;
    };
    m_translating = true;
    const std::uint32_t space = s.access->address_space;
    std::uint64_t known = ~std::uint64_t{0};
    unsigned shift = 0;  // pages of 4 KiB in the page that is known
    translation t;
    while (s.translated < s.count) {
        const unsigned i = s.translated;
        const std::uint64_t page = page_of(s.transactions[i].line);
        if (s.spanned) s.since[i] = std::max(s.lookup_at, now());
        if (s.reordered == i) {
            if (m_reorder.full()) {
                ++reorder_stalls;
                return done(false);
            }
            m_reorder.enter(s, i);
            ++s.reordered;
        }
        if (page >> shift != known) {
            known = ~std::uint64_t{0};
            shift = 0;
            if (!is_mappable(page)) {
                ++s.translated;
                transaction_failed(s, i, memory_fault::unmapped);
                continue;
            }
            const auto outcome = tlb.look_up(space, page, s.ref(i), std::max(s.lookup_at, now()), t);
            if (outcome == l1_tlb::outcome::full) return done(false);
            if (s.records_spans() && s.since[i] > s.lookup_at)
                s.access->spans.add(tlb.queue_span, span_kind::queueing, s.lookup_at, s.since[i]);
            if (outcome == l1_tlb::outcome::wait) {
                ++s.translated;
                continue;
            }
            shift = t.page_bits - small_page_bits;
            known = page >> shift;
        }
        ++s.translated;
        if (auto* o = memory_observer::attached())
            o->translated(m_router.where() - GPU_PA_GPU0, *s.access, i, page, now());
        enter(s, i, t);
    }
    return done(true);
}

void vector_memory_unit::resume_translation() {
    while (!m_blocked.empty() && !m_translating) {
        access_state& s = *m_blocked.front();
        if (!translate(s)) return;
        m_blocked.pop_front();
        release(s);
    }
}

void vector_memory_unit::enter(access_state& s, unsigned transaction, const translation& t) {
    const memory_fault fault = t.check(permissions_for(*s.access));
    if (fault != memory_fault::none) return transaction_failed(s, transaction, fault);
    s.transactions[transaction].line = t.at(s.transactions[transaction].line);
    const bool idle = m_port.empty() && !m_pumping;
    if (t.type == GPU_PTE_TYPE_CACHED && !goes_by_lane(s, transaction, t)) {
        if (!idle || !look_up(s, transaction)) m_port.push(s.ref(transaction));
        return;
    }
    enqueue_uncached(s, transaction, t);
    if (idle) drain_port();
}

/// Whether lanes of a line go on as pieces of their own: those of a device, and atomics across PCIe.
bool vector_memory_unit::goes_by_lane(const access_state& s, unsigned transaction, const translation& t) const {
    const std::uint64_t line = s.transactions[transaction].line;
    return t.type == GPU_PTE_TYPE_DEVICE ||
           (s.access->kind == access_kind::atomic && gpu::where(line) == GPU_PA_SYSTEM && !m_router.keeps_order(line));
}

void vector_memory_unit::enqueue_uncached(access_state& s, unsigned transaction, const translation& t) {
    s.bypass |= std::uint64_t{1} << transaction;
    m_port.push(s.ref(transaction));
    if (!goes_by_lane(s, transaction, t)) return;
    const bool device = t.type == GPU_PTE_TYPE_DEVICE;
    s.exact |= std::uint64_t{device} << transaction;
    const unsigned first = s.total;
    s.total = coalescer::split_by_lane(*s.access, s.transactions, transaction, first);
    s.pending += s.total - first;
    for (unsigned i = first; i < s.total; ++i) {
        s.bypass |= std::uint64_t{1} << i;
        s.exact |= std::uint64_t{device} << i;
        if (s.spanned) s.since[i] = s.since[transaction];
        m_port.push(s.ref(i));
    }
}

void vector_memory_unit::transactions_translated(transaction_queue waiting, const translation& t) {
    // All get in line before the first goes on: a callback at an end may issue something that must come behind.
    transaction_queue failed;
    while (!waiting.empty()) {
        const transaction_ref r = waiting.pop();
        access_state& s = access_state::of(r);
        const unsigned i = access_state::transaction_of(r);
        if (t.check(permissions_for(*s.access)) != memory_fault::none) {
            failed.push(r);
            continue;
        }
        if (s.records_spans()) tlb.explain(s.access->spans, s.since[i], t);
        if (s.spanned) s.since[i] = std::max(s.since[i], now());
        if (auto* o = memory_observer::attached())
            o->translated(m_router.where() - GPU_PA_GPU0, *s.access, i, page_of(s.transactions[i].line), now());
        s.transactions[i].line = t.at(s.transactions[i].line);
        if (t.type == GPU_PTE_TYPE_CACHED && !goes_by_lane(s, i, t))
            m_port.push(r);
        else
            enqueue_uncached(s, i, t);
    }
    while (!failed.empty()) {
        const transaction_ref r = failed.pop();
        access_state& s = access_state::of(r);
        transaction_failed(s, access_state::transaction_of(r), t.check(permissions_for(*s.access)));
    }
    drain_port();
}

void vector_memory_unit::drain_port() {
    if (m_pumping) return;
    m_pumping = true;
    while (!m_port.empty()) {
        const transaction_ref r = m_port.pop();
        if (look_up(access_state::of(r), access_state::transaction_of(r))) continue;
        m_port.push_front(r);
        break;
    }
    m_pumping = false;
}

bool vector_memory_unit::look_up(access_state& s, unsigned transaction) {
    const vector_access& a = *s.access;
    const std::uint64_t line = s.transactions[transaction].line;
    const bool is_remote = !m_router.keeps_order(line);
    const bool is_posted = a.kind == access_kind::write && m_router.posts_writes(line);
    if (is_remote && !(s.ordered >> transaction & 1) &&
        !(is_posted ? m_order.enter_posted(s, transaction) : m_order.enter(s, transaction, is_write(a)))) {
        ++ordering_stalls;
        return true;  // comes back later
    }
    const bool through = a.kind == access_kind::read && !(s.bypass >> transaction & 1);
    auto& cache = through && a.constant ? m_constants : l1;
    if (cache.full()) return false;
    ticks at = std::max({s.lookup_at, now(), m_port_free});
    if (m_refused_at != never) {  // its tag is known: the request leaves when there is an MSHR for it
        at = std::max(m_refused_at, at - std::min(at, cache.tag_latency()));
    }
    const bool in_scratch = a.scratch;
    if (s.records_spans() && at > s.since[transaction]) {
        s.access->spans.add(m_port_span, span_kind::queueing, s.since[transaction], at);
        s.since[transaction] = at;
    }
    if (!(through ? cache.load(s, transaction, at) : bypass_l1(s, transaction, at))) {
        m_refused_at = std::min(m_refused_at, at);
        return false;
    }
    m_refused_at = never;
    m_port_free = at + m_cycle;
    ++transactions;
    loads += through;
    remote += is_remote;
    scratch += in_scratch;
    return true;
}

bool vector_memory_unit::bypass_l1(access_state& s, unsigned transaction, ticks at) {
    if (m_bypasses >= params.outstanding_bypasses) {
        ++queue_stalls;
        return false;
    }
    ++m_bypasses;
    l1.take_place();
    const vector_access& a = *s.access;
    const access_transaction& p = s.transactions[transaction];
    auto request = m_pools.requests.make();
    line_request& r = *request;
    r.set_operation(a);
    r.line = p.line;
    r.client = this;
    r.context = &s;
    r.cookie = m_epoch << 8 | transaction;
    if (a.kind == access_kind::write) {
        ++stores;
        r.byte_mask = p.bytes;
        coalescer::gather(a, p, r.data.data());
        l1.store(p.line, r.data.data(), p.bytes);
    } else if (a.kind == access_kind::read) {
        ++scoped_loads;
        r.needed_sectors = sectors_of(p.bytes);
        r.exact = s.exact >> transaction & 1;
        if (r.exact) r.byte_mask = p.bytes;
        l1.bypass(p.line);
    } else {
        const auto operands = static_cast<unsigned>(__builtin_popcountll(p.lanes));
        atomics += operands;
        ++atomic_requests;
        if (operands == 1) {
            const auto lane = static_cast<unsigned>(__builtin_ctzll(p.lanes));
            r.offset = static_cast<std::uint8_t>(a.address[lane] % line_bytes);
            r.operand = a.data[lane];
        } else {
            r.operands = static_cast<std::uint8_t>(operands);
            r.byte_mask = p.bytes;
            r.needed_sectors = sectors_of(p.bytes);
            coalescer::gather(a, p, r.data.data());
        }
        r.owner = owner_of(a, p.lanes);
        l1.bypass(p.line);
    }
    r.issued = at + l1.tag_latency();
    if (span_recorder::on()) s.access->spans.add(m_bypass_span, span_kind::service, at, r.issued);
    if (auto* o = memory_observer::attached()) {
        o->requested(m_router.where() - GPU_PA_GPU0, memory_observer::no_cache, a, r);
        o->waits(a, transaction, r.observer_id);
    }
    if (trace::on() && r.kind == access_kind::write && s.exact >> transaction & 1 && a.size == sizeof(std::uint64_t) &&
        where(p.line) == GPU_PA_SYSTEM) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(p.lanes));
        trace::note_store(*this, offset_of(p.line) + a.address[lane] % line_bytes, a.data[lane], at, r.issued);
    }
    m_router.send_at(request, r.issued);
    return true;
}

void vector_memory_unit::line_done(line_request& r) {
    if (r.cookie >> 8 != m_epoch) return;
    --m_bypasses;
    l1.give_place();
    access_state& s = *static_cast<access_state*>(r.context);
    const auto transaction = static_cast<unsigned>(r.cookie & 0xff);
    vector_access& a = *s.access;
    if (span_recorder::on()) a.spans.append(r.spans);
    if (r.kind != access_kind::read && !m_router.keeps_order(r.line)) l1.bypass(r.line);  // see remote_order
    if (r.fault != memory_fault::none) {
        transaction_failed(s, transaction, r.fault);
    } else if (r.kind == access_kind::write) {
        transaction_done(s, transaction, now());
    } else {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(s.transactions[transaction].lanes));
        if (r.kind == access_kind::read) {
            coalescer::scatter(a, s.transactions[transaction], r.data.data());
            if (trace::on() && trace::has_pending_results())
                trace::note_load(*this, m_router.is_local(r.line) ? &m_router : nullptr, offset_of(r.line),
                                 r.data.data(), bytes_of_sectors(r.valid_sectors), r.issued, now() + l1.fill_latency());
        } else if (r.operands) {
            coalescer::scatter(a, s.transactions[transaction], r.data.data());
        } else {
            a.data[lane] = r.kind == access_kind::store_conditional ? !r.succeeded : r.operand;
        }
        if (span_recorder::on()) a.spans.add(m_bypass_span, span_kind::service, now(), now() + l1.fill_latency());
        transaction_done(s, transaction, now() + l1.fill_latency());
    }
    drain_port();
}

void vector_memory_unit::transaction_loaded(access_state& s, unsigned transaction, const std::uint8_t* line,
                                            memory_fault fault, ticks ready) {
    if (fault != memory_fault::none) return transaction_failed(s, transaction, fault);
    coalescer::scatter(*s.access, s.transactions[transaction], line);
    transaction_done(s, transaction, ready);
}

void vector_memory_unit::transaction_failed(access_state& s, unsigned transaction, memory_fault fault) {
    vector_access& a = *s.access;
    if (a.fault == memory_fault::none) a.fault = fault;
    a.faulted |= s.transactions[transaction].lanes;
    transaction_done(s, transaction, now());
}

void vector_memory_unit::transaction_done(access_state& s, unsigned transaction, ticks ready) {
    s.ready = std::max(s.ready, ready);
    // What was parked came before all that waits for L1.
    if (s.ordered >> transaction & 1) {
        const transaction_queue parked = m_order.leave(s, transaction, is_write(*s.access));
        if (!parked.empty()) m_refused_at = never;
        m_port.prepend(parked);
    }
    if (!m_reorder.in_use() || transaction >= s.count) return release(s);
    m_reorder.complete(s, transaction, ready);
    return_in_order();
}

void vector_memory_unit::return_in_order() {
    ticks ready;
    while (auto* const s = m_reorder.pop(ready)) {
        s->ready = std::max(s->ready, ready);
        release(*s);
    }
    resume_translation();
}

void vector_memory_unit::release(access_state& s) {
    if (--s.pending) return;
    vector_access& a = *s.access;
    const ticks ready = std::max(s.ready, now());
    const vector_access_ptr access = std::move(s.access);
    s.next_free = m_free;
    m_free = &s;
    (a.kind == access_kind::write ? store_latency : load_latency).add(ready - a.issued);
    faults += a.fault != memory_fault::none;
    if (span_recorder::on()) {
        static constexpr const char* names[] = {"load", "store", "atomic", "load reserved", "store conditional"};
        const auto lane = a.mask ? __builtin_ctzll(a.mask) : 0;
        span_recorder::current().finish(a.spans, a.issued, ready, this, names[static_cast<unsigned>(a.kind)],
                                        a.address[static_cast<unsigned>(lane)]);
    }
    if (auto* o = memory_observer::attached()) o->completed(a, ready);
    const bool was_full = !can_issue();
    --m_in_flight;
    access_client* const client = a.client;
    client->access_done(a, ready);
    if (was_full && can_issue()) client->space_available();
}

void vector_memory_unit::invalidate() {
    l1.invalidate();
    m_constants.invalidate();
}

void vector_memory_unit::reset() {
    m_order.clear();
    m_reorder.clear();
    m_translating = false;
    m_free = nullptr;
    for (auto& s : m_states) {
        s->access = nullptr;
        s->next_free = m_free;
        m_free = s.get();
    }
    m_blocked.clear();
    m_port.clear();
    m_port_free = m_coalescer_free = 0;
    m_refused_at = never;
    m_in_flight = m_bypasses = 0;
    ++m_epoch;
    model::reset();
}

}  // namespace fabricvp::gpu
