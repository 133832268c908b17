// SPDX-License-Identifier: Apache-2.0
#include "pcie/requester.h"

#include <algorithm>
#include <cstring>

#include "base/counted_warning.h"

namespace fabricvp::pcie {

namespace {

constexpr std::uint64_t boundary = 4096;  // no request crosses it

/// First and last byte enables of `bytes` bytes at `address`.
void set_byte_enables(tlp& t) {
    const auto first = static_cast<unsigned>(t.address & 3);
    const auto end = first + t.bytes;
    if (end <= 4) {
        t.first_be = static_cast<std::uint8_t>(((1u << t.bytes) - 1) << first);
        t.last_be = 0;
    } else {
        t.first_be = static_cast<std::uint8_t>(0xf << first & 0xf);
        t.last_be = static_cast<std::uint8_t>(0xf >> ((4 - end % 4) % 4));
    }
}

const char* name_of(tlp_kind kind) {
    switch (kind) {
        case tlp_kind::memory_read: return "read";
        case tlp_kind::configuration_read: return "configuration read";
        case tlp_kind::configuration_write: return "configuration write";
        default: return "PCIe atomic";
    }
}

}  // namespace

void requester_params::describe(parameter_visitor& v) {
    v.field("tags", tags, between{1, 1024}, "reads and atomics that may be under way at once");
    v.field("completion_timeout", completion_timeout, between{5e7, 6.4e13},
            "time after which a missing completion is an error");
}

requester::requester(const sc_core::sc_module_name& name, const requester_params& p, transmit send)
    : model(name), params(p), m_send(std::move(send)), m_tags(p.tags) {
    for (std::size_t t = p.tags; t-- > 0;) m_free_tags.push_back(static_cast<std::uint16_t>(t));
}

std::uint32_t requester::open_operation(done finished) {
    return m_operations.insert({std::move(finished), 0, request_status::ok, now()});
}

bool requester::may_request(std::uint64_t address) {
    if (!allowed || allowed()) return true;
    count_warning(refused, *this, "no bus master: a memory request to {:#x} is not made", address);
    return false;
}

/// Its caller is told later, as of other requests.
void requester::refuse(done finished) {
    m_refused.push_back(std::move(finished));
    if (!m_end_refused.scheduled()) schedule(m_end_refused, now());
}

void requester::end_refused() {
    for (auto count = m_refused.size(); count && !m_refused.empty(); --count) {
        const auto finished = std::move(m_refused.front());
        m_refused.pop_front();
        if (finished) finished(request_status::unsupported_request);
    }
    if (!m_refused.empty() && !m_end_refused.scheduled()) schedule(m_end_refused, now());
}

void requester::read(std::uint64_t address, const buffer_slice& into, done finished) {
    if (!may_request(address)) return refuse(std::move(finished));
    const auto o = open_operation(std::move(finished));
    // Count first: with a deaf link a TLP could otherwise end the operation before the next one is made.
    std::vector<std::pair<tlp_ptr, buffer_slice>> parts;
    for (std::size_t at = 0; at < into.length;) {
        const auto here = address + at;
        const auto bytes = std::min<std::uint64_t>(
            {into.length - at, max_read_request - here % max_read_request, boundary - here % boundary});
        auto t = make_tlp();
        t->kind = tlp_kind::memory_read;
        t->address = here;
        t->bytes = static_cast<std::uint32_t>(bytes);
        parts.emplace_back(std::move(t), into.part(at, bytes));
        at += bytes;
    }
    m_operations[o].tlps_left = static_cast<std::uint32_t>(parts.size());
    for (auto& [t, slice] : parts) submit(t, o, slice);
}

void requester::atomic(tlp_kind kind, std::uint64_t address, unsigned bytes, std::uint64_t operand,
                       std::uint64_t compare, const buffer_slice& result, done finished) {
    if (!may_request(address)) return refuse(std::move(finished));
    const auto o = open_operation(std::move(finished));
    m_operations[o].tlps_left = 1;
    auto t = make_tlp();
    t->kind = kind;
    t->address = address;
    const bool two = kind == tlp_kind::compare_swap;
    t->bytes = two ? 2 * bytes : bytes;
    t->data = allocate_slice(t->bytes);
    std::memcpy(t->data.data(), two ? &compare : &operand, bytes);
    if (two) std::memcpy(t->data.data() + bytes, &operand, bytes);
    submit(t, o, result);
}

void requester::configuration(std::uint64_t ecam_offset, bool write, const buffer_slice& data, done finished) {
    auto t = make_tlp();
    t->kind = write ? tlp_kind::configuration_write : tlp_kind::configuration_read;
    t->type_1 = true;  // the root port in front of the target's bus makes it a type 0
    t->address = (ecam_offset >> 12) << 16 | (ecam_offset & 0xffc);
    t->bytes = 4;
    const auto lane = static_cast<unsigned>(ecam_offset & 3);
    const auto word = allocate_slice(4);
    std::memset(word.data(), 0xff, 4);
    if (write) {
        std::memcpy(word.data() + lane, data.data(), data.length);
        t->data = word;
    } else {
        finished = [word, data, lane, finished = std::move(finished)](request_status s) {
            std::memcpy(data.data(), word.data() + lane, data.length);
            finished(s);
        };
    }
    const auto o = open_operation(std::move(finished));
    m_operations[o].tlps_left = 1;
    const auto enabled = static_cast<std::uint8_t>(((1u << data.length) - 1) << lane);
    submit(t, o, write ? buffer_slice{} : word, enabled);
}

void requester::submit(const tlp_ptr& t, std::uint32_t operation, const buffer_slice& into, std::uint8_t enabled) {
    t->requester = id;
    t->relaxed_ordering = relaxed_ordering;
    t->begin_access(now());
    set_byte_enables(*t);
    if (enabled) {
        t->first_be = enabled;
        t->last_be = 0;
    }
    m_waiting.push_back({t, operation, into});
    if (m_waiting.size() == 1 && !m_free_tags.empty()) issue_next();
}

void requester::issue_next() {
    auto w = std::move(m_waiting.front());
    m_waiting.pop_front();
    while (!is_configuration(w.packet->kind) && !may_request(w.packet->address)) {
        end_part(w.operation, request_status::unsupported_request);
        if (m_waiting.empty() || m_free_tags.empty()) return;
        w = std::move(m_waiting.front());
        m_waiting.pop_front();
    }
    const auto tag = m_free_tags.back();
    m_free_tags.pop_back();
    auto& slot = m_tags[tag];
    slot.used = true;
    slot.operation = w.operation;
    slot.into = w.into;
    slot.received = 0;
    slot.address = w.packet->address;
    slot.deadline = now() + params.completion_timeout;
    ++m_busy;
    ++reads;
    if (!m_deadline.scheduled()) schedule(m_deadline, slot.deadline);
    slot.kind = w.packet->kind;
    w.packet->tag = tag;
    w.packet->pass(tag_span, span_kind::queueing, now());
    m_send(w.packet);
}

void requester::write(std::uint64_t address, const buffer_slice& from, bool poisoned) {
    for (std::size_t at = 0; at < from.length;) {
        const auto here = address + at;
        const auto bytes =
            std::min<std::uint64_t>({from.length - at, payload_room(here, max_payload), boundary - here % boundary});
        const auto t = make_tlp();
        t->poisoned = poisoned;
        post(here, from.part(at, bytes), t);
        at += bytes;
    }
}

void requester::write_last(std::uint64_t address, const buffer_slice& from, const parent_access& of,
                           const span_trail& before) {
    const auto t = make_tlp();
    t->parent_write = of;
    t->spans.follow(before);
    post(address, from, t);
}

void requester::post(std::uint64_t address, const buffer_slice& from, const tlp_ptr& t) {
    if (!may_request(address)) return;
    t->kind = tlp_kind::memory_write;
    t->requester = id;
    t->relaxed_ordering = relaxed_ordering;
    t->address = address;
    t->bytes = static_cast<std::uint32_t>(from.length);
    t->data = from;
    t->begin_access(now());
    set_byte_enables(*t);
    ++writes;
    m_send(t);
}

bool requester::complete(tlp& c) {
    if (c.requester != id || c.tag >= m_tags.size() || !m_tags[c.tag].used) {
        ++unexpected;
        return false;
    }
    auto& slot = m_tags[c.tag];
    const std::uint32_t remaining = c.byte_count ? c.byte_count : boundary;  // with this one
    const bool last = c.status != completion_status::successful || remaining <= c.bytes || c.bytes == 0;
    if (slot.quarantined) {
        ++late;
        if (last) free_tag(c.tag);
        return true;
    }
    if (c.status != completion_status::successful) {
        finish_tag(c.tag, c.status == completion_status::completer_abort       ? request_status::completer_abort
                          : c.status == completion_status::configuration_retry ? request_status::configuration_retry
                                                                               : request_status::unsupported_request);
        return true;
    }
    if (slot.into.length && remaining != slot.into.length - slot.received) {  // one before it was lost
        ++unexpected;
        return false;
    }
    if (c.poisoned) {
        finish_tag(c.tag, request_status::poisoned, !last);
        return true;
    }
    const auto bytes = std::min<std::size_t>(c.bytes, slot.into.length - slot.received);
    if (bytes) std::memcpy(slot.into.data() + slot.received, c.data.data(), bytes);
    slot.received += static_cast<std::uint32_t>(bytes);
    if (slot.received < slot.into.length) return true;
    if (span_recorder::on())
        span_recorder::current().finish(c.spans, c.injected_at, now(), this, name_of(slot.kind), slot.address);
    finish_tag(c.tag, request_status::ok);
    return true;
}

/// \param more completions of it may still come
void requester::finish_tag(std::size_t tag, request_status status, bool more) {
    auto& slot = m_tags[tag];
    const auto o = slot.operation;
    --m_busy;
    if (more)
        quarantine(tag);
    else
        free_tag(tag);
    end_part(o, status);
}

void requester::end_part(std::uint32_t operation, request_status status) {
    auto& op = m_operations[operation];
    if (op.status == request_status::ok) op.status = status;
    if (--op.tlps_left > 0) return;
    auto ended = m_operations.remove(operation);
    read_latency.add(now() - ended.begin);
    if (ended.finished) ended.finished(ended.status);
}

void requester::quarantine(std::size_t tag) {
    auto& slot = m_tags[tag];
    slot.into = {};
    slot.quarantined = true;
    slot.deadline = now() + params.completion_timeout;
    if (!m_deadline.scheduled()) schedule(m_deadline, slot.deadline);
}

void requester::free_tag(std::size_t tag) {
    auto& slot = m_tags[tag];
    slot.used = slot.quarantined = false;
    slot.into = {};
    m_free_tags.push_back(static_cast<std::uint16_t>(tag));
    if (!m_waiting.empty()) issue_next();
}

void requester::check_deadlines() {
    ticks next = never;
    for (std::size_t t = 0; t < m_tags.size(); ++t) {
        if (!m_tags[t].used) continue;
        if (m_tags[t].deadline <= now()) {
            if (m_tags[t].quarantined) {
                free_tag(t);
            } else {
                count_warning(timeouts, *this, "no completion for tag {}", t);
                if (on_timeout) on_timeout(m_tags[t].kind, m_tags[t].address);
                finish_tag(t, request_status::timeout, true);
            }
        }
        if (m_tags[t].used) next = std::min(next, m_tags[t].deadline);
    }
    if (next != never) schedule(m_deadline, next);
}

void requester::abandon() {
    m_operations.clear();
    m_waiting.clear();
    m_refused.clear();
    m_busy = 0;
    for (std::size_t t = 0; t < m_tags.size(); ++t)
        if (m_tags[t].used && !m_tags[t].quarantined) quarantine(t);
}

void requester::reset() {
    abandon();
    m_free_tags.clear();
    for (std::size_t t = m_tags.size(); t-- > 0;) {
        m_tags[t] = tagged{};
        m_free_tags.push_back(static_cast<std::uint16_t>(t));
    }
    cancel(m_deadline);
    cancel(m_end_refused);
    model::reset();
}

}  // namespace fabricvp::pcie
