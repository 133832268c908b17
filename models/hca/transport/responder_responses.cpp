// SPDX-License-Identifier: Apache-2.0
// Requests that are answered with data: reads and atomics; duplicates of all; and the order of what goes back.
#include <algorithm>
#include <cstring>
#include <utility>

#include "hca/transport/packet_headers.h"
#include "hca/transport/responder.h"

namespace fabricvp::hca {

using network::operation;

void responder::add_resource(queue_pair& q, const responder_resource& r) {
    auto& all = q.responder.resources;
    all.push_back(r);
    while (all.size() > q.attributes.receive_reads) all.pop_front();
}

void responder::process_read(queue_pair& q, const packet_ptr& p) {
    auto& r = q.responder;
    const auto reads = static_cast<std::size_t>(std::count_if(
        r.jobs.begin(), r.jobs.end(), [](const response_job& j) { return j.what == response_job::kind::read; }));
    if (reads >= q.attributes.receive_reads || p->reth.length > 1u << 31) return reject(q, p, nak::invalid_request);
    if (!has_access(q, p->reth.rkey, p->reth.address, p->reth.length, remote_read))
        return reject(q, p, nak::remote_access);
    response_job j;
    j.what = response_job::kind::read;
    j.psn = p->bth.psn;
    j.packets = packets_of(p->reth.length, q.attributes.mtu);
    j.address = p->reth.address;
    j.rkey = p->reth.rkey;
    j.length = p->reth.length;
    j.spans.follow(p->spans);
    ++received;
    r.nak_sent = false;
    r.expected_psn = psn_after(p->bth.psn, j.packets);
    j.msn = r.msn = psn_after(r.msn, 1);
    add_resource(q, {j.psn, j.packets, false, true, 0});
    r.jobs.push_back(j);
    send_responses(q);
    finished(q, p);
}

void responder::process_atomic(queue_pair& q, const packet_ptr& p) {
    if (p->atomic.address % 8) return reject(q, p, nak::invalid_request);
    if (!has_access(q, p->atomic.rkey, p->atomic.address, 8, remote_atomic)) return reject(q, p, nak::remote_access);
    m_translation.translate({p->atomic.rkey, q.attributes.domain, p->atomic.address, 8, remote_atomic},
                            [this, qp = q.weak(), p](violation v, const bus_ranges& where) {
                                auto* current_qp = m_qps.find(qp);
                                if (!current_qp) return m_port.release(*p);
                                start_atomic(*current_qp, p, v, where);
                            });
}

void responder::start_atomic(queue_pair& q, const packet_ptr& p, violation v, const bus_ranges& where) {
    if (v != violation::none || where.size() != 1) return reject(q, p, nak::remote_access);
    m_atomics.push_back({q.weak(), p, where[0].address});
    if (m_atomics.size() == 1) schedule_in(m_perform, params.atomic_latency);
}

/// One after the other, all of the HCA: so none sees another half done.
void responder::run_atomic() {
    m_operand = allocate_slice(8);
    m_bus.read(m_atomics.front().address, m_operand, [this](bool ok) { atomic_read(ok); });
}

void responder::atomic_read(bool ok) {
    const auto job = std::move(m_atomics.front());
    m_atomics.pop_front();
    if (!m_atomics.empty()) schedule_in(m_perform, params.atomic_latency);
    auto* q = m_qps.find(job.qp);
    const auto& p = job.packet;
    if (!q) return m_port.release(*p);
    if (!q->attributes.can_receive()) return drop(*q, p);
    const auto& a = p->atomic;
    if (!ok) return reject(*q, p, nak::remote_operation);
    if (!has_access(*q, a.rkey, a.address, 8, remote_atomic))
        return reject(*q, p, nak::remote_access);  // taken away meanwhile
    std::uint64_t original = 0;
    std::memcpy(&original, m_operand.data(), 8);  // host-endian, little as INIT_HCA says
    const bool adds = network::operation_of(p->bth.opcode) == operation::fetch_add;
    if (adds || original == a.compare) {
        const std::uint64_t value = adds ? original + a.swap_or_add : a.swap_or_add;
        const auto bytes = allocate_slice(8);
        std::memcpy(bytes.data(), &value, 8);
        m_bus.write(job.address, bytes);
    }
    ++atomics;
    ++received;
    auto& r = q->responder;
    response_job j;
    p->pass(atomic_span, span_kind::service, now());
    j.spans.follow(p->spans);
    j.what = response_job::kind::atomic;
    j.psn = p->bth.psn;
    j.original = original;
    r.nak_sent = false;
    r.expected_psn = psn_after(p->bth.psn, 1);
    j.msn = r.msn = psn_after(r.msn, 1);
    add_resource(*q, {j.psn, 1, true, true, original});
    r.jobs.push_back(j);
    send_responses(*q);
    finished(*q, p);
}

/// The requester begins anew at `psn` and repeats all behind it: what is prepared of that is made again when it comes.
void responder::go_back(queue_pair& q, std::uint32_t psn) {
    auto& r = q.responder;
    r.jobs.erase(std::remove_if(r.jobs.begin(), r.jobs.end(),
                                [psn](const response_job& j) {
                                    return psn_difference(psn_after(j.psn, j.packets - 1), psn) >= 0;
                                }),
                 r.jobs.end());
    r.responses.drop_if([psn](const network::packet& p) { return psn_difference(p.bth.psn, psn) >= 0; });
    r.nak_sent = false;
}

/// Something that has been taken before comes again, since its response was lost or late: nothing is done twice.
void responder::process_duplicate(queue_pair& q, const packet_ptr& p) {
    auto& r = q.responder;
    const auto op = network::operation_of(p->bth.opcode);
    ++duplicates;
    if (op == operation::compare_swap || op == operation::fetch_add) {
        for (const auto& known : r.resources) {
            if (!known.atomic || known.first_psn != p->bth.psn) continue;
            go_back(q, p->bth.psn);
            response_job j;
            j.what = response_job::kind::atomic;
            j.psn = p->bth.psn;
            j.msn = r.msn;
            j.original = known.original;
            r.jobs.push_back(j);
            send_responses(q);
            break;
        }
    } else if (op == operation::read_request) {
        const auto packets = packets_of(p->reth.length, q.attributes.mtu);
        const bool within = psn_difference(psn_after(p->bth.psn, packets), r.expected_psn) <= 0;
        if (!within || p->reth.length > 1u << 31) return drop(q, p);
        if (!has_access(q, p->reth.rkey, p->reth.address, p->reth.length, remote_read))
            return reject(q, p, nak::remote_access);
        go_back(q, p->bth.psn);
        response_job j;
        j.what = response_job::kind::read;
        j.psn = p->bth.psn;
        j.packets = packets;
        j.address = p->reth.address;
        j.rkey = p->reth.rkey;
        j.length = p->reth.length;
        j.msn = r.msn;
        r.jobs.push_back(j);
        send_responses(q);
    } else {
        acknowledge(q, psn_after(r.expected_psn, network::psn_mask), aeth::ack);
    }
    finished(q, p);
}

void responder::acknowledge(queue_pair& q, std::uint32_t psn, std::uint8_t syndrome, const network::packet* cause) {
    auto& jobs = q.responder.jobs;
    response_job j;
    if (cause) j.spans.follow(cause->spans);
    j.psn = psn;
    j.msn = q.responder.msn;
    j.syndrome = syndrome;
    // One tells of all before it.
    if (!jobs.empty() && jobs.back().what == response_job::kind::acknowledgement && jobs.back().syndrome == aeth::ack &&
        syndrome == aeth::ack)
        jobs.back() = j;
    else
        jobs.push_back(j);
    send_responses(q);
}

/// Makes packets of what is to be answered, as far as may be prepared; they leave in this order.
void responder::send_responses(queue_pair& q) {
    auto& r = q.responder;
    if (r.responding) return;
    r.responding = true;
    while (!r.jobs.empty() && r.responses.size() < params.prepared) {
        make_response(q, r.jobs.front());
        if (!r.jobs.empty() && r.jobs.front().made >= r.jobs.front().packets) r.jobs.pop_front();
        m_port.send(q, network_port::direction::response);
    }
    r.responding = false;
}

void responder::make_response(queue_pair& q, response_job& j) {
    auto p = make_connected_packet(q.attributes, m_port.link, m_agent.port);
    p->spans.follow(j.spans);
    p->pass(response_span, span_kind::queueing, now());
    auto op = operation::acknowledge;
    p->aeth = {j.what == response_job::kind::acknowledgement ? j.syndrome : aeth::ack, j.msn};
    p->bth.psn = psn_after(j.psn, j.made);
    if (j.what == response_job::kind::read) {
        const bool first = j.made == 0, last = j.made + 1 == j.packets;
        op = first && last ? operation::read_response_only
             : first       ? operation::read_response_first
             : last        ? operation::read_response_last
                           : operation::read_response_middle;
    } else if (j.what == response_job::kind::atomic) {
        op = operation::atomic_acknowledge;
        p->atomic_original = j.original;
    }
    p->bth.opcode = network::opcode_of(network::transport::rc, op);
    const auto from = std::uint64_t{j.made} * q.attributes.mtu;
    const auto bytes = j.what == response_job::kind::read
                           ? static_cast<std::uint32_t>(std::min<std::uint64_t>(q.attributes.mtu, j.length - from))
                           : 0u;
    ++j.made;
    ++(j.what == response_job::kind::acknowledgement ? acknowledgements : responses);
    if (bytes == 0) {
        q.responder.responses.add(p, true);
        return;
    }
    fill_read(q, j, p, bytes);
}

void responder::fill_read(queue_pair& q, const response_job& j, const packet_ptr& p, std::uint32_t bytes) {
    p->payload = allocate_slice(bytes);
    const auto ticket = q.responder.responses.add(p, false);
    const auto from = std::uint64_t{j.made - 1} * q.attributes.mtu;
    m_data_mover.gather({{j.address + from, j.rkey, bytes}}, q.attributes.domain, 0, p->payload, remote_read,
                        [this, qp = q.weak(), ticket, p](transfer_result r) {
                            auto* current_qp = m_qps.find(qp);
                            if (!current_qp || !current_qp->responder.responses.holds(ticket)) return;
                            p->pass(memory_span, span_kind::service, now());
                            if (!r.ok()) {  // memory was taken away, or fails: the rest of the response is this refusal
                                p->bth.opcode = network::opcode_of(network::transport::rc, operation::acknowledge);
                                p->aeth.syndrome = aeth::negative(
                                    r.key_violation != violation::none ? nak::remote_access : nak::remote_operation);
                                p->payload = {};
                                ++naks;
                                current_qp->responder.responses.drop_behind(ticket);
                            }
                            current_qp->responder.responses.ready(ticket);
                            m_port.send(*current_qp, network_port::direction::response);
                            if (!r.ok()) m_qps.fail(*current_qp);
                        });
}

}  // namespace fabricvp::hca
