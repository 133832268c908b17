// SPDX-License-Identifier: Apache-2.0
// The whole network between nodes from a description: switches, cables between anything, the ports of channel adapters,
// and traffic generators in the place of nodes. Unless a subnet manager runs on some node, the configuration stands in
// for one: every port has a LID and is active, switches have forwarding tables, and new ones when a link or a switch
// dies.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/model.h"
#include "base/parameters.h"
#include "base/rejection.h"
#include "link/far_end.h"
#include "link/routing.h"
#include "network/administration.h"
#include "network/generator.h"
#include "network/link_message.h"
#include "network/switch.h"

namespace fabricvp::network {

enum class manager_kind : std::uint8_t { configuration, guest };
enum class routing_kind : std::uint8_t { min_hop, up_down };

struct subnet_params {
    struct switch_node : switch_params {
        std::string name, origin;  ///< and where it is written, not described
        std::uint64_t lid = 0;
        void describe(parameter_visitor& v);
    };
    struct link_node : link_params {
        std::string from, to, origin;
        void describe(parameter_visitor& v);
    };
    struct adapter_node {
        std::string name, origin;
        std::uint64_t lid = 0;
        void describe(parameter_visitor& v);
    };
    struct generator_node : generator_params {
        std::string name, origin;
        std::uint64_t lid = 0;
        void describe(parameter_visitor& v);
    };

    struct multicast_node {
        std::uint64_t lid = 0;
        std::vector<std::string> members;  ///< adapters; none: all
        parameter_origin where;
        void describe(parameter_visitor& v);
    };

    manager_kind subnet_manager = manager_kind::configuration;
    routing_kind routing = routing_kind::min_hop;
    duration sweep{100'000'000};
    std::vector<switch_node> switches;
    std::vector<link_node> links;
    std::vector<adapter_node> adapters;  ///< those with a LID of their own
    std::vector<generator_node> generators;
    std::vector<multicast_node> multicast;

    bool empty() const { return switches.empty() && links.empty() && generators.empty(); }
    void describe(parameter_visitor& v);
};

/// A network of which only some adapters, switches and generators are in this simulation; links between those and
/// others are cut. Each is known by the name that links call it.
struct subnet_cut {
    std::function<bool(const std::string& name)> here;
    std::function<const port_params&(const std::string& name)> adapter_port;  ///< what any adapter's port can
    /// Takes messages to the simulation where one is; to all others, where the name is empty.
    std::function<void(const std::string& name, const link_message& m)> send;
};

/// The shortest time in which one end of a link learns of anything that the other one does: a cable's time of flight.
ticks min_propagation(const subnet_params& p);

class subnet final : public model {
public:
    const subnet_params params;

    std::vector<std::unique_ptr<network_switch>> switches;  ///< null: in another simulation
    std::vector<std::unique_ptr<generator>> generators;     ///< the same

    counter detours{*this, "detours", "1",
                    "times links that were left would deadlock by shortest ways, and routes went up and down instead"};
    std::unique_ptr<subnet_administration> administration;  ///< with subnet_manager: configuration

    counter sweeps{*this, "sweeps", "1",
                   "times that links went down or came up and forwarding tables were worked out anew"};
    /// Every packet, and every copy of one, has arrived at a channel adapter or a switch's own port, or has been
    /// dropped, or is under way.
    derived sent{*this, "packets.sent", "1", "packets that adapters, generators and switches handed over",
                 [this] { return static_cast<double>(sum_sent()); }};
    derived delivered{*this, "packets.delivered", "1",
                      "packets that adapters, generators and switches took for themselves",
                      [this] { return static_cast<double>(sum_delivered()); }};
    derived dropped{*this, "packets.dropped", "1", "packets that were dropped on the way",
                    [this] { return static_cast<double>(sum_dropped()); }};
    derived copied{*this, "packets.copied", "1",
                   "copies of multicast packets that switches made, and of packets that a fault let ports send twice",
                   [this] { return static_cast<double>(sum_copied()); }};
    derived in_flight{
        *this, "packets.in_flight", "1", "packets and copies that have neither arrived nor been dropped", [this] {
            return static_cast<double>(static_cast<std::int64_t>(sum_sent() + sum_copied() - sum_delivered() -
                                                                 sum_dropped() - m_in_flight_at_reset));
        }};

    /// A channel adapter's port, by the name that links call it; null: in another simulation.
    using adapter = std::pair<std::string, port*>;

    /// \param guids of the adapters, 0 or missing: they follow from their names
    /// \throws std::invalid_argument if names, links and LIDs do not fit each other
    subnet(const sc_core::sc_module_name& name, const subnet_params& params, const std::vector<adapter>& adapters = {},
           subnet_cut cut = {}, const std::vector<std::uint64_t>& guids = {});

    /// What another simulation has to say.
    void receive(const link_message& m);

    struct link_ends {
        std::string from, to;
        port *a, *b;  ///< null: in another simulation
    };
    const std::vector<link_ends>& links() const { return m_links; }
    const std::vector<adapter>& adapters() const { return m_adapters; }
    /// Lets a tap see what leaves by the ports that `chosen` says, which is told whether the port is an adapter's or a
    /// generator's; null: no tap. \returns how many ports that are
    std::size_t tap(const std::function<bool(const port&, bool end)>& chosen, packet_tap* by);
    /// LID of an adapter, generator or switch; 0 if there is none of that name, or it has none.
    std::uint16_t lid_of(const std::string& name) const;

    /// Lets the generators begin.
    void start();
    /// Packets that have crossed links since construction.
    std::uint64_t packet_hops() const;

    void reset() override;

private:
    struct vertex {
        std::string name;
        std::uint16_t lid = 0;
    };
    std::size_t ends() const { return m_adapters.size() + generators.size(); }
    std::size_t switch_vertex(std::size_t s) const { return ends() + switches.size() + s; }

    void assign_lids();
    void connect_links();
    void rank_ports();
    void configure();
    void administer(const std::vector<std::uint64_t>& guids);
    std::uint16_t manager_lid() const;
    /// Of an adapter, a generator or a switch, by vertex of the topology.
    const port_params& port_of(std::size_t vertex) const;
    port_attributes attributes_of(std::size_t end) const;
    std::optional<subnet_administration::path> path_between(std::size_t from, std::size_t to) const;
    void route(bool first);
    void check_routes(const link::topology& t, const link::routing_table& table) const;
    void check_payloads() const;
    bool here(const std::string& name) const { return !m_cut.here || m_cut.here(name); }
    void join(std::uint32_t here, port& at, std::uint32_t there, const std::string& name, const port_params& params,
              const link_params& cable);
    void state_changed(std::uint32_t end, port_state s);
    void announce(link_message m);
    void note(const link_message& state_change);
    void apply_state_changes();
    void apply_membership(const link_message& m);
    void resweep();
    std::uint64_t sum_sent() const;
    std::uint64_t sum_copied() const;
    static constexpr std::size_t no_switch = ~std::size_t{0};
    std::size_t switch_at(std::size_t vertex) const {
        return vertex >= switch_vertex(0) ? vertex - switch_vertex(0) : no_switch;
    }
    /// As far as routing knows.
    bool usable(std::size_t link) const { return !m_down[2 * link] && !m_down[2 * link + 1]; }
    /// By which port a switch sends over a link of its own.
    unsigned port_number(std::size_t s, std::size_t link) const;
    /// A switch of the tree that multicast packets follow, and the link and ports between it and the switch above.
    struct branch {
        std::size_t at, parent, link;
        unsigned up, down;  // of the switch itself, of its parent
    };
    std::vector<branch> multicast_tree() const;
    bool has_groups() const { return !params.multicast.empty() || !m_joined.empty(); }
    void route_multicast();
    void route_group(const std::vector<branch>& tree, std::uint16_t lid,
                     const std::function<bool(std::size_t end)>& is_member);
    link::buffer_dependencies multicast_dependencies(const std::vector<std::size_t>& numbers) const;
    std::uint64_t sum_delivered() const;
    std::uint64_t sum_dropped() const;
    template <class Function>
    void for_each_port(Function f) const;

    const subnet_cut m_cut;
    arrival_order m_order{true};
    const std::vector<adapter> m_adapters;
    std::vector<vertex> m_ends;  // adapters, generators, own ports of switches
    std::vector<link_ends> m_links;
    std::vector<std::pair<std::size_t, std::size_t>> m_vertices;  // of the links' ends
    std::uint64_t m_in_flight_at_reset = 0;                       // packets that were under way at resets
    bool m_running = false;
    std::map<std::uint32_t, std::unique_ptr<far_end>> m_far;  // by the end here
    std::vector<std::vector<std::uint32_t>> m_ends_of;        // by switch: ends of links at its ports
    std::vector<std::uint8_t> m_down;                         // by end of a switch: what routing knows
    std::deque<link_message> m_state_changes;                 // by when they are known
    std::map<std::uint16_t, std::set<std::size_t>> m_joined;  // by multicast LID: adapters that have asked for it
    link::routing_table m_table;                              // as last worked out, over
    std::vector<std::size_t> m_links_up;                      // these links
    calendar_event m_apply_state_changes{method<&subnet::apply_state_changes>, this};
    calendar_event m_sweep{method<&subnet::resweep>, this};
};

}  // namespace fabricvp::network

namespace fabricvp {
template <>
struct choice_traits<network::manager_kind> {
    static constexpr std::pair<network::manager_kind, const char*> names[] = {
        {network::manager_kind::configuration, "configuration"}, {network::manager_kind::guest, "guest"}};
};
template <>
struct choice_traits<network::routing_kind> {
    static constexpr std::pair<network::routing_kind, const char*> names[] = {
        {network::routing_kind::min_hop, "min_hop"}, {network::routing_kind::up_down, "up_down"}};
};
}  // namespace fabricvp
