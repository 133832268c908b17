// SPDX-License-Identifier: Apache-2.0
#include "hca/queues/debug_text.h"

#include <array>

#include <fmt/format.h>

#include "abi/hca.h"

namespace fabricvp::hca {

namespace {

std::string text_of(const data_list& list) {
    std::string text;
    for (const auto& s : list)
        text += fmt::format("{}{} bytes at {:#x} key {:#x}", text.empty() ? "" : " + ", s.bytes, s.address, s.key);
    return text.empty() ? "no data" : text;
}

}  // namespace

std::string opcode_name(unsigned opcode) {
    switch (opcode) {
        case HCA_OP_NOP: return "no operation";
        case HCA_OP_WRITE: return "write";
        case HCA_OP_WRITE_IMMEDIATE: return "write with immediate";
        case HCA_OP_SEND: return "send";
        case HCA_OP_SEND_IMMEDIATE: return "send with immediate";
        case HCA_OP_READ: return "read";
        case HCA_OP_COMPARE_SWAP: return "compare and swap";
        case HCA_OP_FETCH_ADD: return "fetch and add";
        default: return fmt::format("opcode {:#x}", opcode);
    }
}

std::string state_name(unsigned state) {
    static constexpr std::array<const char*, 7> names{"reset", "INIT", "RTR", "RTS", "SQE", "SQD", "error"};
    return state < names.size() ? names[state] : fmt::format("state {}", state);
}

std::string type_name(unsigned type) {
    switch (type) {
        case HCA_QP_RC: return "reliable connection";
        case HCA_QP_UC: return "unreliable connection";
        case HCA_QP_UD: return "datagrams";
        case HCA_QP_MLX: return "management";
        default: return fmt::format("type {}", type);
    }
}

std::string syndrome_name(unsigned syndrome) {
    switch (syndrome) {
        case HCA_LOCAL_LENGTH: return "local length error";
        case HCA_LOCAL_QP_OPERATION: return "local queue pair operation error";
        case HCA_LOCAL_PROTECTION: return "local protection error";
        case HCA_FLUSHED: return "flushed";
        case HCA_BAD_RESPONSE: return "bad response";
        case HCA_LOCAL_ACCESS: return "local access error";
        case HCA_REMOTE_INVALID_REQUEST: return "remote invalid request";
        case HCA_REMOTE_ACCESS: return "remote access error";
        case HCA_REMOTE_OPERATION: return "remote operation error";
        case HCA_RETRIES_EXCEEDED: return "retries exceeded";
        case HCA_RNR_RETRIES_EXCEEDED: return "receiver not ready, retries exceeded";
        case HCA_ABORTED: return "aborted";
        default: return fmt::format("syndrome {:#x}", syndrome);
    }
}

std::string text_of(const send_wqe& e) {
    if (e.syndrome == HCA_LOCAL_QP_OPERATION) return fmt::format("{}, which makes no sense", opcode_name(e.opcode));
    if (e.syndrome) return fmt::format("{}: {}", opcode_name(e.opcode), syndrome_name(e.syndrome));
    std::string text = opcode_name(e.opcode);
    if (e.opcode != HCA_OP_NOP) text += e.inlined ? fmt::format(" {} bytes inline", e.length) : " " + text_of(e.list);
    if (e.rkey) text += fmt::format(" {} {:#x} rkey {:#x}", e.has_response() ? "from" : "to", e.remote, e.rkey);
    if (e.opcode == HCA_OP_FETCH_ADD) text += fmt::format(" add {:#x}", e.swap_add);
    if (e.opcode == HCA_OP_COMPARE_SWAP) text += fmt::format(" compare {:#x} swap {:#x}", e.compare, e.swap_add);
    if (e.opcode == HCA_OP_WRITE_IMMEDIATE || e.opcode == HCA_OP_SEND_IMMEDIATE)
        text += fmt::format(" immediate {:#x}", e.immediate);
    if (e.to.qpn) text += fmt::format(" to lid {:#x} qp {:#x}", e.to.lid, e.to.qpn);
    if (e.signalled) text += ", signalled";
    if (e.solicited) text += ", solicited";
    if (e.fence) text += ", fenced";
    return text;
}

std::string text_of(const receive_wqe& e) { return "receive into " + text_of(e.list); }

bool is_error(const std::uint8_t* cqe) {
    const auto opcode = hca_get(cqe, HCA_CQE_OPCODE);
    return opcode == HCA_CQE_ERROR_SEND || opcode == HCA_CQE_ERROR_RECEIVE;
}

std::string text_of_completion(const std::uint8_t* cqe) {
    const auto opcode = hca_get(cqe, HCA_CQE_OPCODE);
    const auto start = fmt::format("qp {:#x} ", hca_get(cqe, HCA_CQE_QPN));
    const auto entry = fmt::format(", WQE at {:#x} of its buffer", hca_get(cqe, HCA_CQE_WQE) & ~0x3fu);
    if (is_error(cqe))
        return start +
               fmt::format("{} failed: {}", opcode == HCA_CQE_ERROR_SEND ? "send queue" : "receive queue",
                           syndrome_name(hca_get(cqe, HCA_CQE_SYNDROME))) +
               entry;
    if (hca_get(cqe, HCA_CQE_IS_SEND)) return start + opcode_name(opcode & 0x1f) + " done" + entry;
    auto text = start + fmt::format("received {} bytes", hca_get(cqe, HCA_CQE_BYTES));
    if (hca_get(cqe, HCA_CQE_SOURCE_QPN))
        text +=
            fmt::format(" from lid {:#x} qp {:#x}", hca_get(cqe, HCA_CQE_SOURCE_LID), hca_get(cqe, HCA_CQE_SOURCE_QPN));
    return text + entry;
}

namespace {

std::string connection_of(const queue_pair_attributes& a) {
    auto text = fmt::format("{}, {}", type_name(a.type), state_name(a.state));
    if (a.remote) text += fmt::format(", with lid {:#x} qp {:#x}", a.remote_lid, a.remote);
    return text;
}

}  // namespace

std::string summary_of(const queue_pair& q) {
    return connection_of(q.attributes) +
           fmt::format("; {} sends and {} receives outstanding",
                       static_cast<std::uint16_t>(q.send.posted - q.send.completed),
                       static_cast<std::uint16_t>(q.receive_queue.posted - q.receive_queue.consumed));
}

std::string text_of(const queue_pair& q) {
    const auto& a = q.attributes;
    const auto& s = q.send;
    const auto& r = q.receive_queue;
    auto text = connection_of(a);
    text += fmt::format("; doorbells on page {}, completions to cq {:#x} (sends) and {:#x} (receives)\n", a.uar,
                        a.send_cqn, a.receive_cqn);
    text += fmt::format(
        "  send queue: {} posted, {} fetched, {} completed; ring of {} entries of {} bytes at {:#x} key {:#x}\n",
        s.posted, s.fetched, s.completed, a.sq.entries(), a.sq.stride(), a.sq.start, a.sq.lkey);
    for (const auto& e : s.wqes)
        text += fmt::format("    WQE {}: {}; {}\n", e.index, text_of(e),
                            e.acked     ? "acknowledged"
                            : e.started ? fmt::format("{} of {} packets sent", e.sent, e.requests())
                                        : "not begun");
    if (a.has_srq) return text + fmt::format("  receive queue: from shared queue {:#x}\n", a.srqn);
    text += fmt::format(
        "  receive queue: {} posted as far as is known, {} consumed; ring of {} entries of {} bytes at {:#x}\n",
        r.posted, r.consumed, a.rq.entries(), a.rq.stride(), a.rq.start);
    for (const auto& e : r.ready) text += fmt::format("    WQE at {:#x}: {}\n", e.offset, text_of(e));
    return text;
}

}  // namespace fabricvp::hca
