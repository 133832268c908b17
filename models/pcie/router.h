// SPDX-License-Identifier: Apache-2.0
// What a switch and a root complex have in common: ports with finite ingress buffers, and egress arbitration TLP by
// TLP. A TLP that waits at the head of its FIFO holds up those behind it (head-of-line blocking), as in hardware. A hop
// costs two calendar events: the arrival, and the transmitter becoming free if something waits for it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/model.h"
#include "base/statistics.h"
#include "pcie/ingress_buffer.h"
#include "pcie/port.h"

namespace fabricvp::pcie {

class router : public model, protected port_owner {
public:
    using model::model;

    counter discarded{*this, "discarded", "1", "TLPs for a link that is down"};

    unsigned ports() const { return static_cast<unsigned>(m_ports.size()); }
    port& at(unsigned index) { return *m_ports[index]; }

    /// Turns that a port's traffic gets one after the other at every egress (weighted round robin; 1 for all by
    /// default).
    void set_weight(unsigned ingress, unsigned weight) { m_weights[ingress] = weight; }

    void reset() override;

protected:
    static constexpr unsigned here = ~0u;  ///< the router itself is the destination

    port& add_port(const char* name, const port_params& params);

    /// Which port a TLP that came in at `ingress` leaves by, or `here`. `ingress` == ports() is the router's own
    /// source.
    virtual unsigned route(const tlp& t, unsigned ingress) = 0;
    /// A TLP for the router itself. It has left the ingress buffer.
    virtual void accept(const tlp_ptr& t, unsigned ingress) = 0;
    /// Queues a TLP for `egress`; a root complex splits it into smaller ones here.
    virtual void forward(const tlp_ptr& t, unsigned ingress, unsigned egress) { enqueue(t, ingress, egress, t); }

    /// What became of the link at a port.
    virtual void port_changed(unsigned index, link_event what) = 0;
    virtual void port_errors(unsigned index, std::uint32_t correctable) = 0;
    /// A TLP that cannot leave by `egress`, because the link there is down. It has left its buffer.
    virtual void undeliverable(const tlp_ptr& t, unsigned egress) = 0;
    /// Forgets all TLPs in here.
    void clear_queues();

    /// Sends a TLP of the router's own.
    void inject(const tlp_ptr& t) { tlp_routed(t, ports()); }
    /// \param frees whose ingress buffer is free when `t` has left (null: it is not the last piece)
    void enqueue(const tlp_ptr& t, unsigned ingress, unsigned egress, const tlp_ptr& frees);

private:
    void tlp_arrived(port& from, const tlp_ptr& t) final;
    void transmitter_ready(port& from) final;
    void link_changed(port& p, link_event what) final;
    void link_errors(port& p, std::uint32_t correctable) final { port_errors(index_of(p), correctable); }
    void tlp_routed(const tlp_ptr& t, unsigned ingress);
    void arbitrate(unsigned egress);
    void discard(unsigned egress);
    bool grant(unsigned egress, unsigned ingress);
    unsigned index_of(const port& p) const;

    std::vector<std::unique_ptr<port>> m_ports;
    std::vector<ingress_buffer> m_ingress{1};  // one a port, then the router's own
    std::vector<unsigned> m_weights{1u};
    struct egress_state {
        unsigned next_grant = 0;          // the ingress whose turn it is
        unsigned consecutive_grants = 0;  // how many of its turns it has had
        std::uint64_t queued = 0;
    };
    std::vector<egress_state> m_egress;
};

}  // namespace fabricvp::pcie
