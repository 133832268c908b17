// SPDX-License-Identifier: Apache-2.0
// The whole fabric of a node from a description: switches, some of them in clusters of their own, links between
// anything, terminals for the devices, and traffic generators in the place of devices.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/model.h"
#include "base/parameters.h"
#include "base/rejection.h"
#include "fabric/generator.h"
#include "fabric/switch.h"
#include "fabric/terminal.h"
#include "link/routing.h"

namespace fabricvp::fabric {

struct interconnect_params {
    struct switch_node : switch_params {
        std::string name;
        parameter_origin where;  ///< not described
        std::uint64_t cluster = 0;
        void describe(parameter_visitor& v);
    };
    struct link_node : link_params {
        std::string from, to;
        parameter_origin where;
        std::uint64_t forward_lanes = 0;            ///< of both directions' lanes; 0: half of them
        chosen_stage stage;                         ///< of both directions
        chosen_stage forward_stage, reverse_stage;  ///< of one; counts before `stage`
        void describe(parameter_visitor& v);
        /// One direction of the link.
        link_params forward_params() const { return with_lanes(forward_lanes ? forward_lanes : lanes); }
        link_params reverse_params() const { return with_lanes(forward_lanes ? 2 * lanes - forward_lanes : lanes); }

    private:
        link_params with_lanes(std::uint64_t count) const;
    };
    struct generator_node : generator_params {
        std::string name;
        parameter_origin where;
        void describe(parameter_visitor& v);
    };

    packet_format packet;
    terminal_params device;
    parameter_origin where;
    duration failure_time{1'000'000};
    std::vector<switch_node> switches;
    std::vector<link_node> links;
    std::vector<generator_node> generators;
    std::vector<std::string>
        devices;  ///< filled in by the builder of the devices (GPUs, in the order of their numbers), so not described

    bool empty() const { return switches.empty() && links.empty() && generators.empty(); }
    void describe(parameter_visitor& v);
};

class interconnect final : public model {
public:
    const interconnect_params params;

    std::vector<std::unique_ptr<fabric_switch>> switches;
    std::vector<std::unique_ptr<terminal>> terminals;  ///< of the devices by number, then of the generators
    std::vector<generator*> generators;                ///< those of the terminals that are generators
    std::vector<std::unique_ptr<link::lane_controller>>
        reversible;  ///< of links whose lanes reverse, in the order of their description

    /// Sums over all links between clusters.
    derived inter_cluster_flits{*this, "inter_cluster.flits", "1", "flits on links between clusters",
                                [this] { return total([](const auto& s) { return s.flits; }); }};
    derived inter_cluster_bytes{*this, "inter_cluster.bytes", "B", "bytes on links between clusters, without padding",
                                [this] { return total([](const auto& s) { return s.bytes; }); }};
    derived inter_cluster_padding{*this, "inter_cluster.padding_bytes", "B", "padding on links between clusters",
                                  [this] { return total([](const auto& s) { return s.padding; }); }};
    derived inter_cluster_padded_flits{
        *this, "inter_cluster.padded_share", "1",
        "share of the flits on links between clusters of which at least a quarter is padding",
        [this] { return padded_share(); }};
    derived inter_cluster_page_tables{*this, "inter_cluster.page_table_share", "1",
                                      "share of the flits of packets on links between clusters, before any stitching, "
                                      "that belong to page-table packets",
                                      [this] { return page_table_share(); }};
    derived inter_cluster_utilisation{*this,
                                      "inter_cluster.utilisation",
                                      "1",
                                      "mean over both directions of all links between clusters",
                                      [this] { return mean_utilisation(); },
                                      1};

    /// Every packet that devices have handed over since the last reset has arrived, or its device has been told that it
    /// failed, or it is under way.
    derived packets_in_flight{*this, "packets_in_flight", "1", "packets that have neither arrived nor failed",
                              [this] { return static_cast<double>(count_in_flight()); }};
    counter rerouted{*this, "rerouted", "1", "times that a dead link or switch changed the ways of packets"};

    /// \throws std::invalid_argument if names, links or stages do not fit each other
    interconnect(const sc_core::sc_module_name& name, const interconnect_params& params);

    /// A link with its two ends, in the order of their description.
    struct link_ends {
        std::string from, to;
        port *a, *b;
        link::lane_controller* lanes = nullptr;  ///< null if they do not turn
    };
    const std::vector<link_ends>& links() const { return m_links; }

    /// Lets the generators begin; to be called when all devices are attached.
    void start();
    /// Packets that have crossed links since construction.
    std::uint64_t packet_hops() const;
    /// Packets that have neither arrived nor failed, without those of before the last reset.
    std::uint64_t count_in_flight() const { return in_flight() - m_in_flight_at_reset; }

    /// Power-on reset. Faults stay: links and switches that are dead, down, without lanes or erring.
    void reset() override;
    /// Ends all faults of links and switches; routes are those of the whole network again.
    void repair();

private:
    template <class Field>
    double total(Field field) const {
        double sum = 0;
        for (const auto* p : m_crossing) sum += static_cast<double>(field(p->sent.wire()));
        return sum;
    }
    double padded_share() const;
    double page_table_share() const;
    double mean_utilisation() const;
    void route();
    std::vector<link_control> controls_beside(const port& of_device) const;
    void register_reversible_lanes(const link::routing_table& table);
    void fail_link(std::size_t link);
    void fail_switch(std::size_t number);
    void reroute();
    void drop(const packet_ptr& p);
    void report_lost();
    std::uint64_t in_flight() const;

    link::topology m_topology;
    std::vector<link_ends> m_links;
    std::vector<port*> m_crossing;
    std::vector<bool> m_dead;  // by link
    struct lost_packet {
        ticks when;
        packet_ptr packet;
    };
    std::deque<lost_packet> m_lost;          // whose devices have not been told yet
    std::uint64_t m_in_flight_at_reset = 0;  // packets that were under way at resets
    calendar_event m_report{method<&interconnect::report_lost>, this};
};

}  // namespace fabricvp::fabric
