// SPDX-License-Identifier: Apache-2.0
// Lets a third-party TLM-2.0 target stand on our bus. Our models run ahead of the SystemC kernel and never block; a
// foreign target may wait(), annotate delays, or answer over nb_transport. Together with foreign_initiator this is the
// only place with SC_THREADs.
#pragma once

#include <cstdint>
#include <deque>

#include "base/bus.h"
#include "base/parameters.h"
#include "base/pool.h"
#include "base/statistics.h"

namespace fabricvp {

/// How a foreign component is called.
enum class foreign_protocol {
    blocking,      ///< b_transport, from a thread that wakes at the exact time of the access
    non_blocking,  ///< nb_transport with delay = now() − sc_time_stamp(); the base protocol's four phases
};

template <>
struct choice_traits<foreign_protocol> {
    static constexpr std::pair<foreign_protocol, const char*> names[] = {
        {foreign_protocol::blocking, "blocking"}, {foreign_protocol::non_blocking, "non_blocking"}};
};

struct foreign_target_params {
    foreign_protocol protocol = foreign_protocol::blocking;
    std::uint64_t outstanding = 4;
    bool atomics = false;
    void describe(parameter_visitor& v);
};

/// The adapter without its outward socket; use foreign_target.
class foreign_target_base : public bus_target, private tlm::tlm_bw_transport_if<> {
public:
    const foreign_target_params params;

    counter accesses{*this, "accesses", "1", "accesses passed to the foreign target"};
    counter rejected_atomics{*this, "rejected_atomics", "1", "atomics refused because the target does not know them"};

    /// Drops all accesses. Those that the foreign target holds run on there, but their responses go nowhere.
    void reset() override;

protected:
    foreign_target_base(const sc_core::sc_module_name& name, const foreign_target_params& params);
    virtual tlm::tlm_fw_transport_if<>& foreign() = 0;
    tlm::tlm_bw_transport_if<>& backward() { return *this; }

private:
    struct request : pooled<request> {
        void recycle();
        void respond() { adapter->respond(*this); }
        foreign_target_base* adapter = nullptr;
        bus_payload* payload = nullptr;
        ticks due = 0;
        bool abandoned = false;         // by reset()
        bool end_resp_pending = false;  // the response came as a return value
        calendar_event responded{method<&request::respond>, this};
    };

    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
    tlm::tlm_sync_enum nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    void work();
    void send_next();
    void release_request_channel();
    void respond(request& r);
    void respond_at(request& r, ticks when);
    request* find(const bus_payload& payload);
    sc_core::sc_time run_ahead() const;

    pool<request> m_pool;
    std::deque<pooled_ptr<request>> m_waiting;  // not yet called, in order of their time
    std::deque<pooled_ptr<request>> m_in_flight;
    sc_core::sc_event m_work{"work"};
    request* m_in_request_phase = nullptr;
    calendar_event m_channel_free{method<&foreign_target_base::release_request_channel>, this};
};

/// \tparam Width BUSWIDTH of the foreign socket, in bits
template <unsigned Width = 32>
class foreign_target final : public foreign_target_base {
public:
    /// To be bound to the foreign target.
    tlm::tlm_initiator_socket<Width> out{"out"};

    explicit foreign_target(const sc_core::sc_module_name& name, const foreign_target_params& params = {})
        : foreign_target_base(name, params) {
        out.bind(backward());
    }

private:
    tlm::tlm_fw_transport_if<>& foreign() override { return *out.operator->(); }
};

}  // namespace fabricvp
