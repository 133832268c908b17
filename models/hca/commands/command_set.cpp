// SPDX-License-Identifier: Apache-2.0
#include "hca/commands/command_set.h"

#include <algorithm>
#include <cstring>

#include "abi/hca_context.h"
#include "abi/hca_mad.h"
#include "abi/hca_mailbox.h"
#include "hca/memory/icm.h"
#include "hca/memory/translation.h"
#include "hca/queues/completion_queues.h"
#include "hca/queues/doorbell_records.h"
#include "hca/queues/event_queues.h"
#include "hca/queues/queue_pairs.h"
#include "hca/queues/shared_receive_queues.h"
#include "hca/transport/management.h"
#include "hca/transport/network_port.h"

namespace fabricvp::hca {

namespace {
// Only versions before 1.2.0 make Linux complain.
constexpr unsigned firmware_major = 1, firmware_minor = 2, firmware_subminor = 940;
constexpr std::uint64_t auxiliary_pages = 16;
constexpr std::uint32_t max_multicast_bytes = HCA_MGM_SIZE;
constexpr unsigned log_multicast_groups = 13;
/// What Linux asks for by its module parameters, whatever the limits are.
constexpr std::uint64_t linux_log_qps = 16, linux_log_cqs = 16, linux_log_srqs = 16, linux_log_mpts = 17;
}  // namespace

const std::map<unsigned, command_set::command_descriptor>& command_set::commands() {
    using s = command_set;
    constexpr std::uint32_t mappings = HCA_MAP_SIZE;  // each; how many the modifier says
    static const std::map<unsigned, command_descriptor> all = {
        {HCA_QUERY_FW, {&s::query_fw, 0, HCA_FW_SIZE, false}},
        {HCA_ENABLE_LAM, {&s::enable_lam, 0, 0, false}},
        {HCA_MAP_FA, {&s::map_fa, mappings, 0, false}},
        {HCA_UNMAP_FA, {&s::unmap_fa, 0, 0, false}},
        {HCA_RUN_FW, {&s::run_fw, 0, 0, false}},
        {HCA_QUERY_DEV_LIM, {&s::query_dev_lim, 0, HCA_LIM_SIZE, false}},
        {HCA_SET_ICM_SIZE, {&s::set_icm_size, 0, 0, false}},
        {HCA_MAP_ICM_AUX, {&s::map_icm_aux, mappings, 0, false}},
        {HCA_UNMAP_ICM_AUX, {&s::unmap_icm_aux, 0, 0, false}},
        {HCA_MAP_ICM, {&s::map_icm, mappings, 0, false}},
        {HCA_UNMAP_ICM, {&s::unmap_icm, 0, 0, false}},
        {HCA_INIT_HCA, {&s::init_hca, HCA_INIT_SIZE, 0, false}},
        {HCA_CLOSE_HCA, {&s::close_hca, 0, 0, false}},
        {HCA_QUERY_ADAPTER, {&s::query_adapter, 0, HCA_ADAPTER_SIZE, false}},
        {HCA_INIT_IB, {&s::init_ib, HCA_IB_SIZE, 0}},
        {HCA_CLOSE_IB, {&s::close_ib, 0, 0}},
        {HCA_SET_IB, {&s::set_ib, HCA_SET_IB_SIZE, 0}},
        {HCA_NOP, {&s::nop, 0, 0, false}},
        {HCA_MAD_IFC, {&s::mad_ifc, HCA_MAD_SIZE, HCA_MAD_SIZE}},
        {HCA_SW2HW_MPT, {&s::sw2hw_mpt, HCA_MPT_SIZE, 0}},
        {HCA_HW2SW_MPT, {&s::hw2sw_mpt, 0, HCA_MPT_SIZE}},
        {HCA_SW2HW_EQ, {&s::sw2hw_eq, HCA_EQC_SIZE, 0}},
        {HCA_HW2SW_EQ, {&s::hw2sw_eq, 0, HCA_EQC_SIZE}},
        {HCA_MAP_EQ, {&s::map_eq, 0, 0}},
        {HCA_SW2HW_CQ, {&s::sw2hw_cq, HCA_CQC_SIZE, 0}},
        {HCA_HW2SW_CQ, {&s::hw2sw_cq, 0, HCA_CQC_SIZE}},
        {HCA_RESIZE_CQ, {nullptr, HCA_RESIZE_SIZE, 0}},  // ends later
        {HCA_SW2HW_SRQ, {&s::sw2hw_srq, HCA_SRQC_SIZE, 0}},
        {HCA_HW2SW_SRQ, {&s::hw2sw_srq, 0, HCA_SRQC_SIZE}},
        {HCA_QUERY_SRQ, {&s::query_srq, 0, HCA_SRQC_SIZE}},
        {HCA_ARM_SRQ, {&s::arm_srq, 0, 0}},
        {HCA_RST2INIT_QP, {&s::modify_qp, HCA_QP_MAILBOX, 0}},
        {HCA_INIT2INIT_QP, {&s::modify_qp, HCA_QP_MAILBOX, 0}},
        {HCA_INIT2RTR_QP, {&s::modify_qp, HCA_QP_MAILBOX, 0}},
        {HCA_RTR2RTS_QP, {&s::modify_qp, HCA_QP_MAILBOX, 0}},
        {HCA_RTS2RTS_QP, {&s::modify_qp, HCA_QP_MAILBOX, 0}},
        {HCA_SQE2RTS_QP, {&s::modify_qp, HCA_QP_MAILBOX, 0}},
        {HCA_SQD2RTS_QP, {&s::modify_qp, HCA_QP_MAILBOX, 0}},
        {HCA_SQD2SQD_QP, {&s::modify_qp, HCA_QP_MAILBOX, 0}},
        {HCA_RTS2SQD_QP, {&s::modify_qp, 0, 0}},
        {HCA_2ERR_QP, {&s::qp_to_error, 0, 0}},
        {HCA_2RST_QP, {&s::qp_to_reset, 0, HCA_QP_MAILBOX}},
        {HCA_QUERY_QP, {&s::query_qp, 0, HCA_QP_MAILBOX}},
        {HCA_CONF_SPECIAL_QP, {&s::conf_special_qp, 0, 0}},
        {HCA_READ_MGM, {&s::read_mgm, 0, HCA_MGM_SIZE}},
        {HCA_WRITE_MGM, {&s::write_mgm, HCA_MGM_SIZE, 0}},
        {HCA_MGID_HASH, {&s::mgid_hash, 16, 0}},
    };
    return all;
}

command_executor::mailbox_sizes command_set::mailbox_sizes_of(const command& c) {
    const auto found = commands().find(c.opcode);
    if (found == commands().end()) return {};
    auto in = found->second.in_bytes, out = found->second.out_bytes;
    switch (c.opcode) {
        case HCA_MAP_FA:
        case HCA_MAP_ICM:
        case HCA_MAP_ICM_AUX: in *= std::min<std::uint32_t>(c.in_modifier, HCA_MAP_MAX); break;
        case HCA_HW2SW_MPT:
        case HCA_HW2SW_EQ:
        case HCA_HW2SW_CQ:
        case HCA_HW2SW_SRQ:
        case HCA_2RST_QP:
            if (c.modifier & HCA_HW2SW_NO_OUTPUT) out = 0;
            break;
        case HCA_MAD_IFC:
            if (c.modifier & HCA_MAD_EXTENDED) in = HCA_MAD_IFC_SIZE;
            break;
        default: break;
    }
    return {true, in, out};
}

void command_set::execute(command& c, std::function<void(unsigned)> finished) {
    const auto& e = commands().at(c.opcode);
    if (e.needs_contexts && !m_initialised) return finished(HCA_BAD_SYSTEM_STATE);
    if (c.opcode == HCA_RESIZE_CQ) return m.completion_queues.resize(c.in_modifier, c.in.data(), std::move(finished));
    finished((this->*e.perform)(c));
}

unsigned command_set::query_fw(command& c) {
    auto* o = c.out.data();
    hca_set(o, HCA_FW_PAGES, static_cast<std::uint32_t>(m_needed_pages));
    hca_set(o, HCA_FW_MAJOR, firmware_major);
    hca_set(o, HCA_FW_MINOR, firmware_minor);
    hca_set(o, HCA_FW_SUBMINOR, firmware_subminor);
    hca_set(o, HCA_FW_LOG_COMMANDS, static_cast<std::uint32_t>(m_command.log_in_flight));
    hca_set(o, HCA_FW_ERROR_SIZE, HCA_ERROR_WORDS);
    const auto base = m.adapter.register_base();
    hca_set_long(o, HCA_FW_CLR_INT, base + HCA_CLR_INT);
    hca_set_long(o, HCA_FW_ERROR_BUFFER, base + HCA_ERROR_BUFFER);
    hca_set_long(o, HCA_FW_EQ_ARM, base + HCA_EQ_ARM);
    hca_set_long(o, HCA_FW_EQ_SET_CI, base + HCA_EQ_SET_CI);
    return HCA_OK;
}

unsigned command_set::query_dev_lim(command& c) {
    const auto& l = m_limits;
    const std::pair<unsigned, std::uint64_t> device_limits[] = {
        {HCA_LIM_LOG_SRQ_SIZE, l.log_queue_entries},
        {HCA_LIM_LOG_QP_SIZE, l.log_queue_entries},
        {HCA_LIM_LOG_RESERVED_QPS, 4},
        {HCA_LIM_LOG_QPS, l.log_qps},
        {HCA_LIM_LOG_RESERVED_SRQS, 6},
        {HCA_LIM_LOG_SRQS, l.log_srqs},
        {HCA_LIM_LOG_CQ_SIZE, l.log_cq_entries},
        {HCA_LIM_LOG_RESERVED_CQS, 7},
        {HCA_LIM_LOG_CQS, l.log_cqs},
        {HCA_LIM_LOG_MPTS, l.log_mpts},
        {HCA_LIM_LOG_RESERVED_EQS, 0},
        {HCA_LIM_LOG_EQS, 5},
        {HCA_LIM_LOG_RESERVED_MTTS, 4},
        {HCA_LIM_LOG_REGION, 30},  // Linux' driver shifts an int by it, and goes by its own limit
        {HCA_LIM_LOG_RESERVED_MPTS, 4},
        {HCA_LIM_LOG_MTT_SEGMENTS, l.log_mtt_segments},
        {HCA_LIM_LOG_READS_REQUESTER, 7},
        {HCA_LIM_LOG_READS_RESPONDER, 2},
        {HCA_LIM_LOG_READS_TOTAL, 18},
        {HCA_LIM_ACK_DELAY, 15},
        {HCA_LIM_MTU, m.management.port.mtu_supported},
        {HCA_LIM_WIDTH, m.management.port.width_supported},
        {HCA_LIM_VLS, m.management.port.lanes_supported},
        {HCA_LIM_PORTS, 1},
        {HCA_LIM_LOG_GIDS, l.log_gids},
        {HCA_LIM_RATES, 0xf},
        {HCA_LIM_LOG_PKEYS, l.log_pkeys},
        {HCA_LIM_RESERVED_UARS, 1},
        {HCA_LIM_LOG_UAR_MEBIBYTES, l.log_uars - 8},
        {HCA_LIM_LOG_PAGE, 12},
        {HCA_LIM_SEND_ELEMENTS, 59},
        {HCA_LIM_SEND_BYTES, 1008},
        {HCA_LIM_RECEIVE_ELEMENTS, 59},
        {HCA_LIM_RECEIVE_BYTES, 1008},
        {HCA_LIM_LOG_QPS_MCG, 6},
        {HCA_LIM_LOG_MCGS, log_multicast_groups},
        {HCA_LIM_LOG_RESERVED_PDS, 4},
        {HCA_LIM_LOG_PDS, 15},
        {HCA_LIM_EEC_BYTES, 256},
        {HCA_LIM_QPC_BYTES, 256},
        {HCA_LIM_EEEC_BYTES, 32},
        {HCA_LIM_EQPC_BYTES, 32},
        {HCA_LIM_EQC_BYTES, 64},
        {HCA_LIM_CQC_BYTES, 64},
        {HCA_LIM_SRQC_BYTES, 32},
        {HCA_LIM_SCRATCH_BYTES, 32},
        {HCA_LIM_MTT_BYTES, 8},
        {HCA_LIM_MPT_BYTES, 64},
        {HCA_LIM_FLAGS, HCA_FLAG_RC | HCA_FLAG_UC | HCA_FLAG_UD | HCA_FLAG_SRQ | HCA_FLAG_QKEY_COUNTER |
                            HCA_FLAG_ATOMICS | HCA_FLAG_UD_MULTICAST}};
    for (const auto& [field, value] : device_limits) hca_set(c.out.data(), field, static_cast<std::uint32_t>(value));
    hca_set_long(c.out.data(), HCA_LIM_ICM_BYTES, std::uint64_t{1} << 40);
    return HCA_OK;
}

unsigned command_set::query_adapter(command& c) {
    hca_set(c.out.data(), HCA_ADAPTER_PIN, 0);
    // Each group of four bytes is reversed.
    const std::string board = "FVP_HCA_0000001";
    for (std::size_t i = 0; i < board.size(); ++i)
        c.out.data()[HCA_ADAPTER_BOARD + (i ^ 3)] = static_cast<std::uint8_t>(board[i]);
    return HCA_OK;
}

unsigned command_set::enable_lam(command&) { return HCA_NO_LOCAL_MEMORY; }

/// Entries of a mapping command; each is aligned to its size.
unsigned command_set::read_mappings(const command& c, std::vector<mapping>& to) const {
    if (c.in_modifier == 0 || c.in_modifier > HCA_MAP_MAX) return HCA_BAD_PARAMETER;
    for (std::uint32_t i = 0; i < c.in_modifier; ++i) {
        const auto* e = c.in.data() + i * HCA_MAP_SIZE;
        const auto log_pages = hca_get(e, HCA_MAP_LOG_PAGES);
        if (log_pages > 20) return HCA_BAD_PARAMETER;
        const auto bytes = std::uint64_t{icm::page} << log_pages;
        const auto bus = hca_get_long(e, HCA_MAP_PHYSICAL) & ~std::uint64_t{icm::page - 1},
                   address = hca_get_long(e, HCA_MAP_VIRTUAL);
        if (bus & (bytes - 1) || address % icm::page) return HCA_BAD_PARAMETER;
        to.push_back({address, bus, bytes / icm::page});
    }
    return HCA_OK;
}

unsigned command_set::map_fa(command& c) {
    std::vector<mapping> all;
    if (const auto status = read_mappings(c, all)) return status;
    if (m_running) return HCA_BAD_SYSTEM_STATE;
    for (const auto& a : all) m_firmware_pages += a.pages;
    return HCA_OK;
}

unsigned command_set::unmap_fa(command&) {
    m.adapter.clear_contexts();
    return HCA_OK;
}

unsigned command_set::run_fw(command&) {
    if (m_running || m_firmware_pages < m_needed_pages) return HCA_BAD_SYSTEM_STATE;
    m_running = true;
    return HCA_OK;
}

unsigned command_set::set_icm_size(command& c) {
    if (!m_running || m_initialised) return HCA_BAD_SYSTEM_STATE;
    if (c.in_param > std::uint64_t{1} << 40) return HCA_EXCEEDS_LIMIT;
    m_icm_bytes = c.in_param;
    c.out_param = auxiliary_pages;
    return HCA_OK;
}

unsigned command_set::map_icm_aux(command& c) {
    std::vector<mapping> all;
    return read_mappings(c, all);
}

unsigned command_set::unmap_icm_aux(command&) { return HCA_OK; }

unsigned command_set::map_icm(command& c) {
    std::vector<mapping> all;
    if (const auto status = read_mappings(c, all)) return status;
    for (const auto& a : all)
        if (a.address > m_icm_bytes || a.pages * icm::page > m_icm_bytes - a.address) return HCA_BAD_PARAMETER;
    if (!m.icm.has_room(all.size())) return HCA_EXCEEDS_LIMIT;
    for (const auto& a : all) m.icm.map(a.address, a.bus_address, a.pages);
    m.translation.drop_cached();
    return HCA_OK;
}

unsigned command_set::unmap_icm(command& c) {
    if (c.in_modifier > 1u << 20 || c.in_param % icm::page) return HCA_BAD_PARAMETER;
    if (!m.icm.unmap(c.in_param, c.in_modifier)) return HCA_EXCEEDS_LIMIT;
    m.translation.drop_cached();
    return HCA_OK;
}

unsigned command_set::init_hca(command& c) {
    const auto* i = c.in.data();
    const auto& l = m_limits;
    if (!m_running || m_initialised) return HCA_BAD_SYSTEM_STATE;
    const auto uarc_log = 12 + hca_get(i, HCA_INIT_LOG_UARC_PAGES), uars_log = hca_get(i, HCA_INIT_LOG_UARS);
    const auto log_qps = hca_get(i, HCA_INIT_LOG_QPS), log_cqs = hca_get(i, HCA_INIT_LOG_CQS),
               log_srqs = hca_get(i, HCA_INIT_LOG_SRQS);
    const auto log_mpts = hca_get(i, HCA_INIT_LOG_MPTS), log_mcgs = hca_get(i, HCA_INIT_LOG_MCGS);
    if (uarc_log > 24 || uars_log > l.log_uars || hca_get(i, HCA_INIT_LOG_UAR_PAGE) ||
        log_qps > std::max(l.log_qps, linux_log_qps) || log_cqs > std::max(l.log_cqs, linux_log_cqs) ||
        log_srqs > std::max(l.log_srqs, linux_log_srqs) || log_mpts > std::max(l.log_mpts, linux_log_mpts) ||
        log_mcgs > log_multicast_groups)
        return HCA_EXCEEDS_LIMIT;
    m.translation.configure(log_mpts);
    m.completion_queues.configure(log_cqs);
    m.shared_receive_queues.configure(log_srqs);
    m.queue_pairs.configure(log_qps);
    m.doorbell_records.configure(hca_get_long(i, HCA_INIT_UARC), uarc_log, uars_log);
    m_multicast_entries = 1u << log_mcgs;
    m_multicast_heads = hca_get(i, HCA_INIT_MCG_HEADS);
    m_initialised = true;
    return HCA_OK;
}

unsigned command_set::close_hca(command&) {
    if (!m_initialised) return HCA_BAD_SYSTEM_STATE;
    m.network.enable(false);
    m.queue_pairs.configure(0);
    m.completion_queues.configure(0);
    m.shared_receive_queues.configure(0);
    m.event_queues.reset();
    m.translation.configure(0);
    m_multicast.clear();
    m_initialised = false;
    return HCA_OK;
}

unsigned command_set::init_ib(command& c) {
    if (c.in_modifier != 1) return HCA_BAD_PARAMETER;
    const auto* i = c.in.data();
    auto& port = m.management.port;
    if (hca_get(i, HCA_IB_SET_GUID)) port.guids[0] = hca_get_long(i, HCA_IB_GUID);
    if (hca_get(i, HCA_IB_SET_NODE_GUID)) m.management.node.node_guid = hca_get_long(i, HCA_IB_NODE_GUID);
    if (hca_get(i, HCA_IB_SET_SYSTEM_GUID)) m.management.node.system_guid = hca_get_long(i, HCA_IB_SYSTEM_GUID);
    m.network.enable(true);
    return HCA_OK;
}

unsigned command_set::close_ib(command& c) {
    if (c.in_modifier != 1) return HCA_BAD_PARAMETER;
    m.network.enable(false);
    return HCA_OK;
}

unsigned command_set::set_ib(command& c) {
    if (c.in_modifier != 1) return HCA_BAD_PARAMETER;
    const auto* i = c.in.data();
    auto& port = m.management.port;
    if (hca_get(i, HCA_SET_IB_SYSTEM_GUID_VALID))
        m.management.node.system_guid = hca_get_long(i, HCA_SET_IB_SYSTEM_GUID);
    if (hca_get(i, HCA_SET_IB_RESET_QKEY_COUNTER)) port.qkey_violations = 0;
    port.capabilities = hca_get(i, HCA_SET_IB_CAPABILITIES);
    return HCA_OK;
}

/// A datagram that needs no response gets none; what the agent refuses, its response says.
unsigned command_set::mad_ifc(command& c) {
    if (const auto port = c.in_modifier & 0xff; port > 1) return HCA_BAD_PARAMETER;
    return m.management.process_mad(c.in.data(), c.out.data(), !(c.modifier & HCA_MAD_IGNORE_MKEY)) ? HCA_OK
                                                                                                    : HCA_BAD_PACKET;
}

void command_set::reset() {
    m_firmware_pages = m_icm_bytes = 0;
    m_running = m_initialised = false;
    m_multicast.clear();
}

}  // namespace fabricvp::hca
