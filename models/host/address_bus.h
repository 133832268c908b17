// SPDX-License-Identifier: Apache-2.0
// The host's interconnect: decodes physical addresses to targets. It stores nothing and arbitrates nothing; an access
// costs a fixed latency on top of what its target takes. Unmapped addresses answer TLM_ADDRESS_ERROR_RESPONSE.
//
// Harts and devices come in through different sockets: what a device touches in memory is marked in the pages, so that
// harts then reach these pages only through the calendar.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include "base/address_map.h"
#include "base/bus.h"
#include "base/parameters.h"
#include "base/statistics.h"

namespace fabricvp::host {

struct address_bus_params {
    duration latency{10'000};
    void describe(parameter_visitor& v);
};

class address_bus final : public model {
public:
    const address_bus_params params;

    /// Any number of harts bind here…
    tlm_utils::multi_passthrough_target_socket_optional<address_bus, bus_width> from_harts{"from_harts"};
    /// …and every other master (DMA) here.
    tlm_utils::multi_passthrough_target_socket_optional<address_bus, bus_width> from_devices{"from_devices"};
    tlm_utils::multi_passthrough_initiator_socket_optional<address_bus, bus_width> to_targets{"to_targets"};

    counter reads{*this, "reads", "1", "reads forwarded"};
    counter writes{*this, "writes", "1", "writes forwarded"};
    counter atomics{*this, "atomics", "1", "atomic accesses forwarded"};
    counter bytes{*this, "bytes", "B", "data bytes carried"};
    counter errors{*this, "errors", "1", "accesses answered with an error"};

    explicit address_bus(const sc_core::sc_module_name& name, const address_bus_params& params = {});

    /// Binds a target to an address range; it sees offsets into its range. `memory` is what the target keeps its bytes
    /// in, if harts reach it directly as well. Until the end of elaboration.
    /// \throws std::invalid_argument if the range is empty or overlaps another one; the message names both.
    void map(const std::string& name, std::uint64_t base, std::uint64_t size, bus_target_socket& target,
             sparse_memory* memory = nullptr);
    /// Adds a target that answers at once and is no SystemC module, at any time. \throws std::invalid_argument the same
    /// way
    void map(const std::string& name, std::uint64_t base, std::uint64_t size, tlm::tlm_fw_transport_if<>& target);

    struct target_range {
        std::string name;
        std::size_t index;
        tlm::tlm_fw_transport_if<>* target;
        sparse_memory* memory;
    };
    const address_map<target_range>& ranges() const { return m_ranges; }

    /// Access by a debugger or loader, before elaboration too: no time, no side effect. \returns bytes done from the
    /// start
    std::size_t debug_read(std::uint64_t address, void* to, std::size_t size);
    std::size_t debug_write(std::uint64_t address, const void* from, std::size_t size);

    /// Called for each write and atomic that a device makes in memory (caches drop their lines).
    std::function<void(std::uint64_t address, std::uint64_t size)> on_device_write;

    /// From now on keeps which offsets of which targets (memories excepted) harts access.
    void record_touched(bool on) { m_recording = on; }
    /// (offset, size in bytes) by target name; under "unmapped", addresses that nothing decodes.
    const std::map<std::string, std::set<std::pair<std::uint64_t, unsigned>>>& touched() const { return m_touched; }

    /// Accesses that no target has answered yet: address and target's name, oldest first.
    std::vector<std::pair<std::uint64_t, std::string>> outstanding() const {
        std::vector<std::pair<std::uint64_t, std::string>> list;
        for (const auto& f : m_in_flight)
            if (const auto* r = m_ranges.find(f.address)) list.emplace_back(f.address, r->value.name);
        return list;
    }

    void reset() override;

private:
    enum class side { hart, device };
    struct in_flight {
        bus_payload* payload;
        std::uint64_t address;
        side from;
        int id;
    };

    tlm::tlm_sync_enum hart_request(int id, bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum device_request(int id, bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum request(side from, int id, bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum response(int id, bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void hart_blocking(int id, bus_payload& payload, sc_core::sc_time& delay);
    void device_blocking(int id, bus_payload& payload, sc_core::sc_time& delay);
    void blocking(side from, int id, bus_payload& payload, sc_core::sc_time& delay);
    unsigned debug(int id, bus_payload& payload);
    unsigned debug_transport(bus_payload& payload);
    void check_free(const std::string& name, std::uint64_t base, std::uint64_t size) const;
    const address_map<target_range>::range* decode(side from, int id, bus_payload& payload);
    void note_response(side from, int id, const bus_payload& payload, std::uint64_t address);
    std::size_t debug_transfer(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, std::size_t size);

    address_map<target_range> m_ranges;
    std::size_t m_targets = 0;
    sc_core::sc_time m_latency;
    std::vector<in_flight> m_in_flight;
    std::set<std::tuple<std::string, tlm::tlm_command, tlm::tlm_response_status>>
        m_reported;  // initiator, what it did, answer
    bool m_recording = false;
    std::map<std::string, std::set<std::pair<std::uint64_t, unsigned>>> m_touched;
};

}  // namespace fabricvp::host
