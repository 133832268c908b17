// SPDX-License-Identifier: Apache-2.0
// Lets a third-party TLM-2.0 initiator work on our bus, whose models run ahead of the SystemC kernel. A call at kernel
// time t with delay d becomes an access at t + d on the calendar, and returns (b_transport) or is answered
// (nb_transport) when that access is complete. Direct memory access is refused; debug transport is passed on.
#pragma once

#include <cstdint>
#include <deque>

#include "base/bus.h"
#include "base/pool.h"
#include "base/statistics.h"

namespace fabricvp {

/// The adapter without its outward socket; use foreign_initiator.
class foreign_initiator_base : public model,
                               protected tlm::tlm_fw_transport_if<>,
                               protected tlm::tlm_bw_transport_if<> {
public:
    bus_initiator_socket bus{"bus"};

    counter accesses{*this, "accesses", "1", "accesses of the foreign initiator"};

    /// Accesses under way end with an error response, those that a target has when it responds: a foreign thread waits
    /// for each of them.
    void reset() override;

protected:
    explicit foreign_initiator_base(const sc_core::sc_module_name& name);
    virtual tlm::tlm_bw_transport_if<>& foreign() = 0;
    tlm::tlm_fw_transport_if<>& forward() { return *this; }

private:
    /// One access; an extension of the payload on our side, so that the response finds it.
    struct request : pooled<request>, tlm::tlm_extension<request> {
        void recycle() { bus_side = nullptr; }
        void send() { adapter->send(*this); }
        void finish() { adapter->finish(*this); }
        tlm::tlm_extension_base* clone() const override { return nullptr; }
        void copy_from(const tlm::tlm_extension_base&) override {}

        foreign_initiator_base* adapter = nullptr;
        bus_payload* foreign_side = nullptr;
        bus_payload* bus_side = nullptr;
        bool blocking = true;
        bool abandoned = false;  // by reset()
        bool completed = false;  // for blocking ones: the thread may return
        sc_core::sc_event finished;
        calendar_event due{method<&request::send>, this};
        calendar_event responded{method<&request::finish>, this};
    };

    void b_transport(bus_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(bus_payload& payload, tlm::tlm_dmi& dmi) override;
    unsigned transport_dbg(bus_payload& payload) override;
    tlm::tlm_sync_enum nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    pooled_ptr<request> accept(bus_payload& payload, const sc_core::sc_time& delay, bool blocking);
    void send(request& r);
    void finish(request& r);

    pool<request> m_pool;
    std::deque<pooled_ptr<request>> m_in_flight;
};

/// \tparam Width BUSWIDTH of the foreign socket, in bits
template <unsigned Width = 32>
class foreign_initiator final : public foreign_initiator_base {
public:
    /// To be bound to the foreign initiator.
    tlm::tlm_target_socket<Width> in{"in"};

    explicit foreign_initiator(const sc_core::sc_module_name& name) : foreign_initiator_base(name) {
        in.bind(forward());
    }

private:
    tlm::tlm_bw_transport_if<>& foreign() override { return *in.operator->(); }
};

}  // namespace fabricvp
