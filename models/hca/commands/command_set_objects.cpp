// SPDX-License-Identifier: Apache-2.0
#include "hca/commands/command_set.h"

#include <algorithm>
#include <cstring>

#include "abi/hca_context.h"
#include "hca/memory/translation.h"
#include "hca/queues/completion_queues.h"
#include "hca/queues/event_queues.h"
#include "hca/queues/queue_pairs.h"
#include "hca/queues/shared_receive_queues.h"

namespace fabricvp::hca {

namespace {

std::uint8_t* output(command& c) { return c.out.length ? c.out.data() : nullptr; }

}  // namespace

unsigned command_set::sw2hw_mpt(command& c) {
    const auto* e = c.in.data();
    region r;
    r.physical = hca_get(e, HCA_MPT_PHYSICAL);
    r.page_bits = static_cast<std::uint8_t>(12 + hca_get(e, HCA_MPT_LOG_PAGE));
    r.key = hca_get(e, HCA_MPT_KEY);
    r.rights = hca_get32(e) & (local_read | local_write | remote_read | remote_write | remote_atomic);
    r.domain = hca_get(e, HCA_MPT_PD);
    r.start = hca_get_long(e, HCA_MPT_START);
    r.length = hca_get_long(e, HCA_MPT_LENGTH);
    r.mtt = hca_get_long(e, HCA_MPT_MTT);
    if (!hca_get(e, HCA_MPT_REGION)) return HCA_BAD_PARAMETER;  // memory windows are not offered
    if (c.in_modifier >> m.translation.log_entries()) return HCA_BAD_INDEX;
    if (!r.physical && (r.mtt % 8 || r.mtt >= m_icm_bytes)) return HCA_BAD_PARAMETER;
    return m.translation.add_region(c.in_modifier, r) ? HCA_OK : HCA_BAD_OBJECT_STATE;
}

unsigned command_set::hw2sw_mpt(command& c) {
    return m.translation.remove_region(c.in_modifier) ? HCA_OK : HCA_BAD_OBJECT_STATE;
}

unsigned command_set::sw2hw_eq(command& c) { return m.event_queues.add(c.in_modifier, c.in.data()); }

unsigned command_set::hw2sw_eq(command& c) { return m.event_queues.remove(c.in_modifier, output(c)); }

unsigned command_set::map_eq(command& c) {
    std::uint8_t word[4];
    hca_put32(word, c.in_modifier);
    return m.event_queues.route(hca_get(word, HCA_MAP_EQ_NUMBER), c.in_param, hca_get(word, HCA_MAP_EQ_UNMAP));
}

unsigned command_set::sw2hw_cq(command& c) {
    if (!m.doorbell_records.valid_uar(hca_get(c.in.data(), HCA_CQC_UAR))) return HCA_BAD_INDEX;
    return m.completion_queues.add(c.in_modifier & 0xff'ffff, c.in.data());
}

unsigned command_set::hw2sw_cq(command& c) { return m.completion_queues.remove(c.in_modifier & 0xff'ffff, output(c)); }

unsigned command_set::sw2hw_srq(command& c) {
    if (!m.doorbell_records.valid_uar(hca_get(c.in.data(), HCA_SRQC_UAR))) return HCA_BAD_INDEX;
    return m.shared_receive_queues.add(c.in_modifier, c.in.data());
}

unsigned command_set::hw2sw_srq(command& c) { return m.shared_receive_queues.remove(c.in_modifier, output(c)); }

unsigned command_set::query_srq(command& c) { return m.shared_receive_queues.query(c.in_modifier, c.out.data()); }

unsigned command_set::arm_srq(command& c) { return m.shared_receive_queues.arm(c.in_modifier, c.in_param); }

unsigned command_set::modify_qp(command& c) {
    static const std::uint8_t none[HCA_QP_MAILBOX] = {};
    std::uint8_t word[4];
    hca_put32(word, c.in_modifier);
    const bool notify = c.opcode == HCA_RTS2SQD_QP && hca_get(word, HCA_QP_SQD_EVENT);
    return m.queue_pairs.modify(c.opcode, hca_get(word, HCA_QP_NUMBER), c.in.length ? c.in.data() : none, notify);
}

unsigned command_set::qp_to_error(command& c) { return m.queue_pairs.to_error(c.in_modifier & 0xff'ffff); }

unsigned command_set::qp_to_reset(command& c) { return m.queue_pairs.to_reset(c.in_modifier & 0xff'ffff, output(c)); }

unsigned command_set::query_qp(command& c) { return m.queue_pairs.query(c.in_modifier & 0xff'ffff, c.out.data()); }

unsigned command_set::conf_special_qp(command& c) { return m.queue_pairs.set_special(c.modifier & 1, c.in_modifier); }

unsigned command_set::read_mgm(command& c) {
    if (c.in_modifier >= m_multicast_entries) return HCA_BAD_INDEX;
    if (const auto found = m_multicast.find(c.in_modifier); found != m_multicast.end())
        std::memcpy(c.out.data(), found->second.data(), HCA_MGM_SIZE);
    return HCA_OK;
}

unsigned command_set::write_mgm(command& c) {
    if (c.in_modifier >= m_multicast_entries) return HCA_BAD_INDEX;
    m_multicast[c.in_modifier].assign(c.in.data(), c.in.data() + HCA_MGM_SIZE);
    return HCA_OK;
}

/// Any function will do whose values are heads of the table.
std::uint32_t command_set::head_of(const std::uint8_t* group) const {
    std::uint32_t hash = 0;
    for (unsigned i = 0; i < 16; i += 2) hash ^= static_cast<std::uint32_t>(group[i] << 8 | group[i + 1]);
    return m_multicast_heads ? hash % m_multicast_heads : 0;
}

unsigned command_set::mgid_hash(command& c) {
    c.out_param = head_of(c.in.data());
    return HCA_OK;
}

/// Follows the chain of entries from the group's head on, never round.
std::vector<std::uint32_t> command_set::members(const network::gid& group) const {
    std::vector<std::uint32_t> found;
    auto index = head_of(group.data());
    for (std::size_t steps = 0; steps < m_multicast.size(); ++steps) {
        const auto at = m_multicast.find(index);
        if (at == m_multicast.end()) break;
        const auto* e = at->second.data();
        if (std::equal(group.begin(), group.end(), e + HCA_MGM_GID)) {
            for (unsigned i = 0; i < HCA_MGM_QPS; ++i)
                if (const auto word = hca_get32(e + HCA_MGM_QP + 4 * i); word >> 31) found.push_back(word & 0xff'ffff);
            break;
        }
        index = hca_get(e, HCA_MGM_NEXT);
        if (index == 0) break;
    }
    return found;
}

}  // namespace fabricvp::hca
