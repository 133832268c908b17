// SPDX-License-Identifier: Apache-2.0
// Lines of memory that the GPU shares with its host's harts. A bank keeps copies of them among its other lines; what
// changes them is performed behind it, so that they are never dirty here.
#include <algorithm>

#include "gpu/memory/coherent_port.h"
#include "gpu/memory/l2_bank.h"

namespace fabricvp::gpu {

void l2_bank::fill_copy(std::uint64_t index, ticks ready) {
    const std::size_t victim = m_tags.victim(index);
    evict(victim, ready);
    m_tags.fill(victim, index, ready, false);
}

/// \returns when the response is there
ticks l2_bank::reach_shared(const line_request& r, std::uint64_t index, std::size_t at, ticks looked_up) {
    const std::uint64_t line = offset_of(r.line);
    switch (r.kind) {
        case access_kind::read:
        case access_kind::load_reserved:
        case access_kind::lock: {
            if (at != l2_tags::absent) return std::max(looked_up, m_tags.ready(at));
            const ticks done = m_shared->fetch(line, looked_up);
            m_fetches.add(done);
            fill_copy(index, done);
            return done;
        }
        case access_kind::write: {
            const bool whole = r.byte_mask == ~std::uint64_t{0};
            if (at == l2_tags::absent && whole) fill_copy(index, looked_up);
            return m_shared->write(line, static_cast<unsigned>(__builtin_popcountll(r.byte_mask)), looked_up);
        }
        case access_kind::atomic:
        case access_kind::store_conditional:
            return m_shared->modify(line, r.size * std::max(1u, unsigned{r.operands}), looked_up) + m_atomic +
                   (rounds_of(r) - 1) * m_service;
        default: return looked_up;
    }
}

bool l2_bank::serve_shared(const line_request_ptr& request, const lookup& times) {
    line_request& r = *request;
    const std::uint64_t key = key_of(r.line), index = index_of(key);
    const bool fetches =
        r.kind == access_kind::read || r.kind == access_kind::load_reserved || r.kind == access_kind::lock;
    std::size_t at = m_tags.find(index);
    const bool hit = at != l2_tags::absent;
    if (!hit && fetches && !mshr_available(times.go)) return false;
    if (r.kind != access_kind::unlock) ++(hit ? hits : misses);
    const ticks done = reach_shared(r, index, at, times.go);
    at = m_tags.find(index);
    if (m_queue_lines.holds(key)) watch(r, at, hit);
    perform_shared(r, key, at);
    if (span_recorder::on() && done > times.go) r.spans.add(m_fetch_span, span_kind::service, times.go, done);
    account(r, times, done);
    m_scheduler.respond(request, done + m_response_latency);
    return true;
}

void l2_bank::perform_shared(line_request& r, std::uint64_t key, std::size_t at) {
    const std::uint64_t line = offset_of(r.line);
    switch (r.kind) {
        case access_kind::read:
            ++reads;
            m_shared->load(line, r.data.data(), line_bytes);
            r.valid_sectors = r.sectored ? r.needed_sectors : 0xf;
            break;
        case access_kind::write:
            ++writes;
            m_shared->store_line(line, r.data.data(), r.byte_mask);
            m_reservations.written(key, r.owner);
            r.committed = true;
            break;
        case access_kind::atomic:
            ++atomics;
            if (r.operands) {
                perform_operands(r, [&](unsigned at_byte, std::uint64_t operand) {
                    return m_shared->atomic(line + at_byte, r.size, r.operation, operand, 0);
                });
            } else {
                ++atomic_operations;
                r.operand = m_shared->atomic(line + r.offset, r.size, r.operation, r.operand, r.compare);
            }
            m_reservations.written(key, r.owner);
            break;
        case access_kind::load_reserved:
            ++atomics;
            r.operand = 0;
            m_shared->load(line + r.offset, &r.operand, r.size);
            m_reservations.reserve(r.owner, key);
            break;
        case access_kind::store_conditional:
            ++atomics;
            r.succeeded = m_reservations.test_and_clear(r.owner, key);
            if (!r.succeeded) break;
            m_shared->store(line + r.offset, &r.operand, r.size);
            m_reservations.written(key, r.owner);
            break;
        case access_kind::lock: r.succeeded = lock(at); break;
        case access_kind::unlock: unlock(r, index_of(key)); break;
    }
}

void l2_bank::drop_copy(std::uint64_t line) {
    const std::uint64_t key = key_of(line);
    m_tags.drop(index_of(key));
    m_reservations.written(key, 0);
}

}  // namespace fabricvp::gpu
