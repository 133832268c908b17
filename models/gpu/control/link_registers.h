// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "abi/gpu_links.h"
#include "base/registers.h"
#include "fabric/terminal.h"

namespace fabricvp::gpu {

/// What the host may set at the links of the switch that a GPU is attached to (abi/gpu_links.h). The links have the
/// state, and registers are rarely used, so these are made for an access.
class link_registers {
public:
    register_bank bank{GPU_LINK_REGISTERS_END};
    device_register links, waits, stage, lanes;

    /// \param attached to the fabric; null if it is not
    explicit link_registers(const fabric::terminal* attached);

    static bool have(std::uint64_t offset) { return offset >= GPU_LINKS && offset < GPU_LINK_REGISTERS_END; }

private:
    fabric::link_control at(std::size_t link) const {
        return link < m_links.size() ? m_links[link] : fabric::link_control{};
    }
    std::uint64_t waiting() const;

    const std::vector<fabric::link_control> m_links;
};

}  // namespace fabricvp::gpu
