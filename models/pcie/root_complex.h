// SPDX-License-Identifier: Apache-2.0
// The root complex: root ports (bridges on bus 0), and the host on its other side. Harts reach it through windows on
// the host's bus; what devices send to host memory leaves through `memory`.
//
// Peer-to-peer writes that turn round here are cut into smaller TLPs, as root complexes of servers do; with round robin
// per TLP further down, that is what makes such traffic lose against direct traffic.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/bus.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "base/wire.h"
#include "pcie/bridge.h"
#include "pcie/requester.h"
#include "pcie/router.h"

namespace fabricvp::pcie {

struct root_complex_params {
    std::uint64_t root_ports = 1;  ///< 0 to 31; follows from what is plugged in
    pcie::port_params root_port;
    requester_params host_requests;
    byte_size peer_to_peer_payload{64};
    std::uint64_t completion_boundary = 64;
    duration read_latency{140'000}, completion_latency{120'000};
    duration write_latency{240'000};
    duration configuration_latency{100'000};
    duration configuration_retry_interval{10'000'000};
    duration configuration_retry_limit{1'000'000'000'000};
    bool hot_plug = true;  ///< devices may be pulled out of the root ports and plugged in
    void describe(parameter_visitor& v);
};

class root_complex final : public router, private tlm::tlm_bw_transport_if<> {
public:
    const root_complex_params params;

    /// To host memory (and whatever else devices may address there, such as interrupt files).
    bus_initiator_socket memory{"memory"};
    /// INTA to INTD of each device number, swizzled as for slots: line (device + pin - 1) % 4.
    std::vector<wire> intx{4};

    std::vector<std::unique_ptr<bridge>> bridges;  ///< root port i is device i + 1 of bus 0
    requester host_requests;                       ///< of harts

    counter peer_to_peer{*this, "peer_to_peer", "1", "TLPs from one root port to another"};
    counter unsupported{*this, "unsupported_requests", "1", "requests from devices that nothing claims"};
    counter configuration_retries{*this, "configuration_retries", "1", "configuration requests that were issued again"};
    counter error_messages{*this, "error_messages", "1", "error messages that reached a root port"};
    counter system_errors{*this, "system_errors", "1", "error messages that Root Control makes system errors"};
    counter host_errors{*this, "host_errors", "1", "requests of harts that ended with an error"};

    span_stage inbound_span{*this, "inbound"};        ///< from a device's request at the root port to host memory
    span_stage completion_span{*this, "completion"};  ///< of the root complex itself, to configuration requests say
    span_stage memory_span{*this, "memory"};          ///< host memory, and what else the host's bus has

    root_complex(const sc_core::sc_module_name& name, const root_complex_params& params);
    ~root_complex() override;

    port& root_port(unsigned i) { return at(i); }

    /// A hart's read or write in a memory window, at a bus address. `finished` is called once with the status; writes
    /// are posted and finish at once.
    void host_read(std::uint64_t address, const buffer_slice& into, requester::done finished);
    void host_write(std::uint64_t address, const buffer_slice& from);
    /// A hart's AtomicOp: see requester::atomic().
    void host_atomic(tlp_kind kind, std::uint64_t address, unsigned bytes, std::uint64_t operand, std::uint64_t compare,
                     const buffer_slice& result, requester::done finished);
    /// A hart's configuration access: ECAM offset (bus << 20 | device << 15 | function << 12 | register), 1, 2 or 4
    /// bytes. Reads without a completion finish with all ones in `data` and status unsupported_request.
    void host_configuration(std::uint64_t ecam_offset, bool write, const buffer_slice& data, requester::done finished);
    /// Reads the double word of a register without time or side effects. \returns bytes done: 4, or 0 without one
    unsigned debug_configuration(std::uint64_t ecam_offset, void* to);
    /// Writes it without time, with all the effects that a hart's write has. \param enabled bit n: byte n \returns as
    /// before
    unsigned debug_configure(std::uint64_t ecam_offset, std::uint32_t value, std::uint8_t enabled = 0xf);

    void reset() override;

private:
    struct memory_access;

    unsigned route(const tlp& t, unsigned ingress) override;
    void accept(const tlp_ptr& t, unsigned ingress) override;
    void forward(const tlp_ptr& t, unsigned ingress, unsigned egress) override;
    unsigned debug_request(port&, tlp&) override { return 0; }

    tlm::tlm_sync_enum nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    unsigned debug_configuration(tlp& t);
    unsigned route_by_bus(unsigned bus) const;
    unsigned route_by_address(std::uint64_t address, unsigned ingress) const;
    void memory_request(const tlp_ptr& t, unsigned ingress);
    void perform(const tlp_ptr& t, unsigned ingress);
    void deliver(const tlp_ptr& t, unsigned ingress);
    void deliver_at(ticks when, const tlp_ptr& t, unsigned ingress);
    void deliver_due();
    void memory_done(const memory_access& a, ticks when);
    requester::done counted(requester::done finished);
    void reject(const tlp& t, unsigned ingress, completion_status status);
    void interrupt_message(const tlp& t, unsigned ingress);
    void port_changed(unsigned index, link_event what) override;
    void port_errors(unsigned index, std::uint32_t correctable) override {
        bridges[index]->errors.correctable(correctable);
    }
    void undeliverable(const tlp_ptr& t, unsigned egress) override;
    void prepare(unsigned index);
    void receive_error(unsigned index, message_code code, std::uint16_t source);
    void drive(unsigned line, unsigned ingress, bool level);
    struct configuration_job;
    void configure(const std::shared_ptr<configuration_job>& job);
    void configure_again();
    void send_later(const tlp_ptr& completion, ticks when);
    void send_due();

    struct inbound_tlp {
        tlp_ptr packet;
        unsigned ingress;
    };
    std::multimap<ticks, inbound_tlp> m_inbound;              // on their way from a root port inwards
    std::vector<ticks> m_last_write;                          // when the last one of a root port is there
    std::vector<std::unique_ptr<memory_access>> m_accesses;   // waiting for the host's answer
    std::vector<std::unique_ptr<memory_access>> m_abandoned;  // the same, from before a reset
    std::multimap<ticks, tlp_ptr> m_due;                      // completions that a latency holds back
    std::vector<unsigned> m_intx_counts;                      // what is asserted, by line and root port
    std::multimap<ticks, std::shared_ptr<configuration_job>> m_retries;
    calendar_event m_deliver{method<&root_complex::deliver_due>, this};
    calendar_event m_retry{method<&root_complex::configure_again>, this};
    calendar_event m_send{method<&root_complex::send_due>, this};
};

}  // namespace fabricvp::pcie
