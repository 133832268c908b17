// SPDX-License-Identifier: Apache-2.0
// What commands do. Those of the whole HCA stand in command_set.cpp, those of single objects in
// command_set_objects.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hca/commands/command_interface.h"
#include "hca/commands/limit_params.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

class command_set final : public command_executor {
public:
    /// \param firmware_pages that software must give the firmware
    command_set(const wiring& w, const limit_params& limits, const command_params& command,
                std::uint64_t firmware_pages)
        : m(w), m_limits(limits), m_command(command), m_needed_pages(firmware_pages) {}

    mailbox_sizes mailbox_sizes_of(const command& c) override;
    void execute(command& c, std::function<void(unsigned)> finished) override;
    void reset();

    /// Queue pairs that are attached to a multicast group.
    std::vector<std::uint32_t> members(const network::gid& group) const;

private:
    using handler = unsigned (command_set::*)(command&);
    struct command_descriptor {
        handler perform;
        std::uint32_t in_bytes = 0, out_bytes = 0;
        bool needs_contexts = true;  ///< only between INIT_HCA and CLOSE_HCA
    };
    static const std::map<unsigned, command_descriptor>& commands();

    unsigned query_fw(command& c);
    unsigned query_dev_lim(command& c);
    unsigned query_adapter(command& c);
    unsigned enable_lam(command& c);
    unsigned map_fa(command& c);
    unsigned unmap_fa(command& c);
    unsigned run_fw(command& c);
    unsigned set_icm_size(command& c);
    unsigned map_icm_aux(command& c);
    unsigned unmap_icm_aux(command& c);
    unsigned map_icm(command& c);
    unsigned unmap_icm(command& c);
    unsigned init_hca(command& c);
    unsigned close_hca(command& c);
    unsigned init_ib(command& c);
    unsigned close_ib(command& c);
    unsigned set_ib(command& c);
    unsigned nop(command&) { return HCA_OK; }
    unsigned mad_ifc(command& c);

    unsigned sw2hw_mpt(command& c);
    unsigned hw2sw_mpt(command& c);
    unsigned sw2hw_eq(command& c);
    unsigned hw2sw_eq(command& c);
    unsigned map_eq(command& c);
    unsigned sw2hw_cq(command& c);
    unsigned hw2sw_cq(command& c);
    unsigned sw2hw_srq(command& c);
    unsigned hw2sw_srq(command& c);
    unsigned query_srq(command& c);
    unsigned arm_srq(command& c);
    unsigned modify_qp(command& c);
    unsigned qp_to_error(command& c);
    unsigned qp_to_reset(command& c);
    unsigned query_qp(command& c);
    unsigned conf_special_qp(command& c);
    unsigned read_mgm(command& c);
    unsigned write_mgm(command& c);
    std::uint32_t head_of(const std::uint8_t* group) const;
    unsigned mgid_hash(command& c);

    struct mapping {
        std::uint64_t address, bus_address, pages;
    };
    unsigned read_mappings(const command& c, std::vector<mapping>& to) const;

    const wiring m;
    const limit_params& m_limits;
    const command_params& m_command;
    const std::uint64_t m_needed_pages;
    std::uint64_t m_firmware_pages = 0, m_icm_bytes = 0;
    bool m_running = false, m_initialised = false;
    std::uint32_t m_multicast_entries = 0, m_multicast_heads = 0;
    std::map<std::uint32_t, std::vector<std::uint8_t>> m_multicast;  // entries that are not all zero
};

}  // namespace fabricvp::hca
