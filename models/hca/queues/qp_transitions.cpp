// SPDX-License-Identifier: Apache-2.0
// Which fields of a context a transition takes follows from what Linux's driver fills in: all others are zero in its
// mailbox, so that copying more would lose what an earlier transition gave.
#include "hca/queues/qp_transitions.h"

#include <cstring>

#include "abi/hca.h"
#include "abi/hca_context.h"

namespace fabricvp::hca {

namespace {

constexpr unsigned path(unsigned field) { return field + (HCA_QPC_PATH << 16); }
constexpr unsigned alternate(unsigned field) { return field + (HCA_QPC_ALTERNATE_PATH << 16); }

/// Fields of each attribute that a mask can give; whole paths are copied besides.
struct attribute {
    std::uint32_t bit;
    std::vector<unsigned> fields;
};

const std::vector<attribute>& attributes() {
    static const std::vector<attribute> all = {
        {HCA_OPTPAR_REMOTE_READ, {HCA_QPC_REMOTE_READ}},
        {HCA_OPTPAR_REMOTE_ATOMIC, {HCA_QPC_REMOTE_ATOMIC}},
        {HCA_OPTPAR_REMOTE_WRITE, {HCA_QPC_REMOTE_WRITE}},
        {HCA_OPTPAR_PKEY_INDEX, {path(HCA_PATH_PKEY_INDEX)}},
        {HCA_OPTPAR_QKEY, {HCA_QPC_QKEY}},
        {HCA_OPTPAR_RNR_TIMER, {HCA_QPC_RNR_TIMER}},
        {HCA_OPTPAR_SEND_READS, {HCA_QPC_LOG_SEND_READS, HCA_QPC_SEND_READ, HCA_QPC_SEND_ATOMIC}},
        {HCA_OPTPAR_RECEIVE_READS, {HCA_QPC_LOG_RECEIVE_READS}},
        {HCA_OPTPAR_MIGRATION, {HCA_QPC_MIGRATION}},
        {HCA_OPTPAR_PORT, {path(HCA_PATH_PORT)}},
        {HCA_OPTPAR_RETRIES, {HCA_QPC_RETRIES}},
        {HCA_OPTPAR_ALTERNATE_RNR_RETRIES, {alternate(HCA_PATH_RNR_RETRIES)}},
        {HCA_OPTPAR_ACK_TIMEOUT, {path(HCA_PATH_ACK_TIMEOUT)}},
        {HCA_OPTPAR_RNR_RETRIES, {path(HCA_PATH_RNR_RETRIES)}},
        {HCA_OPTPAR_SCHEDULE, {HCA_QPC_SCHEDULE}},
    };
    return all;
}

const std::vector<qp_transition>& transitions() {
    const std::vector<unsigned> queues = {HCA_QPC_TYPE,
                                          HCA_QPC_MIGRATION,
                                          HCA_QPC_LOG_RQ_SIZE,
                                          HCA_QPC_LOG_RQ_STRIDE,
                                          HCA_QPC_LOG_SQ_SIZE,
                                          HCA_QPC_LOG_SQ_STRIDE,
                                          HCA_QPC_SCHEDULE,
                                          HCA_QPC_UAR,
                                          path(HCA_PATH_PORT),
                                          path(HCA_PATH_PKEY_INDEX),
                                          HCA_QPC_PD,
                                          HCA_QPC_BUFFER_HIGH,
                                          HCA_QPC_LKEY,
                                          HCA_QPC_SIGNAL_ALL,
                                          HCA_QPC_SEND_CQN,
                                          HCA_QPC_RECEIVE_CQN,
                                          HCA_QPC_SQ_START,
                                          HCA_QPC_SQ_RECORD,
                                          HCA_QPC_RQ_START,
                                          HCA_QPC_RQ_RECORD,
                                          HCA_QPC_SIGNAL_RECEIVES,
                                          HCA_QPC_NO_CREDITS,
                                          HCA_QPC_HAS_SRQ,
                                          HCA_QPC_SRQN,
                                          HCA_QPC_QKEY,
                                          HCA_QPC_MTU,
                                          HCA_QPC_LOG_MESSAGE};
    const std::vector<unsigned> receiving = {HCA_QPC_MTU,
                                             HCA_QPC_LOG_MESSAGE,
                                             HCA_QPC_REMOTE,
                                             HCA_QPC_RECEIVE_PSN,
                                             HCA_QPC_RNR_TIMER,
                                             HCA_QPC_LOG_RECEIVE_READS,
                                             HCA_QPC_RDB,
                                             HCA_QPC_SCHEDULE,
                                             path(HCA_PATH_GRH),
                                             path(HCA_PATH_SOURCE_BITS),
                                             path(HCA_PATH_LID),
                                             path(HCA_PATH_GID_INDEX),
                                             path(HCA_PATH_RATE),
                                             path(HCA_PATH_HOP_LIMIT),
                                             path(HCA_PATH_SERVICE_LEVEL),
                                             path(HCA_PATH_TRAFFIC_CLASS),
                                             path(HCA_PATH_FLOW_LABEL),
                                             path(HCA_WORD(HCA_PATH_GID)),
                                             path(HCA_WORD(HCA_PATH_GID + 4)),
                                             path(HCA_WORD(HCA_PATH_GID + 8)),
                                             path(HCA_WORD(HCA_PATH_GID + 12))};
    const std::vector<unsigned> sending = {path(HCA_PATH_ACK_TIMEOUT), HCA_QPC_RETRIES,   path(HCA_PATH_RNR_RETRIES),
                                           HCA_QPC_LOG_SEND_READS,     HCA_QPC_SEND_READ, HCA_QPC_SEND_WRITE,
                                           HCA_QPC_SEND_ATOMIC,        HCA_QPC_SEND_PSN,  HCA_QPC_ACK_FREQUENCY,
                                           HCA_QPC_FLIGHT_LIMIT};
    constexpr std::uint32_t rights = HCA_OPTPAR_REMOTE_READ | HCA_OPTPAR_REMOTE_WRITE | HCA_OPTPAR_REMOTE_ATOMIC;
    constexpr std::uint32_t early = rights | HCA_OPTPAR_PKEY_INDEX | HCA_OPTPAR_QKEY | HCA_OPTPAR_PORT;
    constexpr std::uint32_t late = rights | HCA_OPTPAR_ALTERNATE_PATH | HCA_OPTPAR_PKEY_INDEX | HCA_OPTPAR_QKEY |
                                   HCA_OPTPAR_RNR_TIMER | HCA_OPTPAR_MIGRATION | HCA_OPTPAR_SCHEDULE;
    constexpr std::uint32_t drained =
        late | HCA_OPTPAR_PATH | HCA_OPTPAR_PORT | HCA_OPTPAR_RETRIES | HCA_OPTPAR_ACK_TIMEOUT |
        HCA_OPTPAR_RNR_RETRIES | HCA_OPTPAR_ALTERNATE_RNR_RETRIES | HCA_OPTPAR_SEND_READS | HCA_OPTPAR_RECEIVE_READS;
    static const std::vector<qp_transition> all = {
        {HCA_RST2INIT_QP, {HCA_QP_RESET}, HCA_QP_INIT, queues, early},
        {HCA_INIT2INIT_QP, {HCA_QP_INIT}, HCA_QP_INIT, {}, early},
        {HCA_INIT2RTR_QP, {HCA_QP_INIT}, HCA_QP_RTR, receiving, late | HCA_OPTPAR_PATH},
        {HCA_RTR2RTS_QP, {HCA_QP_RTR}, HCA_QP_RTS, sending, late},
        {HCA_RTS2RTS_QP, {HCA_QP_RTS}, HCA_QP_RTS, {}, late},
        {HCA_SQE2RTS_QP, {HCA_QP_SQE}, HCA_QP_RTS, {}, late},
        {HCA_RTS2SQD_QP, {HCA_QP_RTS}, HCA_QP_SQD, {}, 0},
        {HCA_SQD2SQD_QP, {HCA_QP_SQD}, HCA_QP_SQD, {}, drained},
        {HCA_SQD2RTS_QP, {HCA_QP_SQD}, HCA_QP_RTS, {}, drained},
    };
    return all;
}

void copy_field(std::uint8_t* to, const std::uint8_t* from, unsigned field) {
    hca_set(to, field, hca_get(from, field));
}

/// A path but for what has attributes of its own: those are given by their bits alone.
void copy_path(std::uint8_t* context, const std::uint8_t* from, std::size_t at) {
    std::uint8_t kept[HCA_PATH_SIZE];
    std::memcpy(kept, context + at, sizeof kept);
    std::memcpy(context + at, from + at, HCA_PATH_SIZE);
    for (const unsigned field : {HCA_PATH_PORT, HCA_PATH_PKEY_INDEX, HCA_PATH_RNR_RETRIES, HCA_PATH_ACK_TIMEOUT})
        hca_set(context + at, field, hca_get(kept, field));
}

}  // namespace

const qp_transition* find_transition(unsigned opcode) {
    for (const auto& t : transitions())
        if (t.opcode == opcode) return &t;
    return nullptr;
}

void apply_transition(const qp_transition& t, std::uint8_t* context, const std::uint8_t* mailbox) {
    const auto* from = mailbox + HCA_QP_CONTEXT;
    const auto given = hca_get(mailbox, HCA_QP_MASK) & t.optional;
    for (const auto f : t.fields) copy_field(context, from, f);
    for (const auto& a : attributes())
        if (given & a.bit)
            for (const auto f : a.fields) copy_field(context, from, f);
    if (given & HCA_OPTPAR_PATH) copy_path(context, from, HCA_QPC_PATH);
    if (given & HCA_OPTPAR_ALTERNATE_PATH)
        std::memcpy(context + HCA_QPC_ALTERNATE_PATH, from + HCA_QPC_ALTERNATE_PATH, HCA_PATH_SIZE);
    hca_set(context, HCA_QPC_STATE, t.to);
}

}  // namespace fabricvp::hca
