// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/growing_ring.h"
#include "pcie/tlp.h"

namespace fabricvp::pcie {

/// What a port of a switch has received and not yet forwarded: a FIFO for each flow class, with the ordering rules
/// between them (PCI Express Base Specification, table of ordering rules): nothing but a relaxed completion passes a
/// posted request; posted requests and completions pass whatever else is stuck.
class ingress_buffer {
public:
    struct entry {
        tlp_ptr packet;
        unsigned egress;
        tlp_ptr frees;  ///< whose buffer is free when the packet has left: itself, or what it is the last piece of
    };

    void push(const tlp_ptr& t, unsigned egress, const tlp_ptr& frees) {
        auto& f = m_fifos[static_cast<std::size_t>(t->flow())];
        t->order = m_next_order++;
        f.push_back({t, egress, frees});
    }
    /// Head of a class's FIFO if the ordering rules let it go now, else null.
    const entry* eligible(unsigned flow) const {
        const auto& f = m_fifos[flow];
        if (f.empty()) return nullptr;
        const auto& posted = m_fifos[static_cast<std::size_t>(flow_class::posted)];
        if (static_cast<flow_class>(flow) != flow_class::posted && !posted.empty() &&
            static_cast<std::int32_t>(posted.front().packet->order - f.front().packet->order) < 0 &&
            !(static_cast<flow_class>(flow) == flow_class::completion && f.front().packet->relaxed_ordering))
            return nullptr;
        return &f.front();
    }
    /// Head of a class's FIFO, whether it may go or not; null if there is none.
    const entry* front(unsigned flow) const { return m_fifos[flow].empty() ? nullptr : &m_fifos[flow].front(); }
    void pop(unsigned flow) { m_fifos[flow].pop_front(); }
    bool empty() const { return m_fifos[0].empty() && m_fifos[1].empty() && m_fifos[2].empty(); }
    void clear() {
        for (auto& f : m_fifos) f.clear();
    }

private:
    std::array<growing_ring<entry>, flow_classes> m_fifos;
    std::uint32_t m_next_order = 0;
};

}  // namespace fabricvp::pcie
