// SPDX-License-Identifier: Apache-2.0
// Subnet administration (InfiniBand Architecture Specification, volume 1, chapter 15) of a subnet that its
// configuration manages: answers questions for nodes, ports and paths, and keeps the groups that ports join. It has no
// port of its own: a switch, or an adapter where there is none, hands it the datagrams that come to its queue pair 1.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "abi/hca_sa.h"
#include "base/model.h"
#include "base/statistics.h"
#include "network/management.h"

namespace fabricvp::network {

class subnet_administration final : public model {
public:
    counter requests{*this, "requests", "1", "requests answered"};
    counter refused{*this, "refused", "1", "requests that ended in a status"};
    counter joins{*this, "joins", "1", "times that a port joined a multicast group"};
    counter leaves{*this, "leaves", "1", "times that a port left one"};
    counter discarded{*this, "discarded", "1", "datagrams that made no sense here"};

    /// What has a LID: an adapter, a generator, or a switch by its port 0.
    struct node {
        node_attributes attributes;
        std::uint16_t lid;
        std::function<port_attributes()> port;
    };
    struct path {
        unsigned mtu;    ///< as PathRecord numbers it
        unsigned speed;  ///< signalled, in units of 100 Mb/s
    };
    std::vector<node> nodes;
    /// Between two nodes by number; none: there is no way.
    std::function<std::optional<path>(std::size_t from, std::size_t to)> path_between;
    /// Packets of a multicast LID go, or no longer go, to a node.
    std::function<void(std::uint16_t lid, std::size_t node, bool member)> set_member;
    /// Whether a multicast LID is taken already.
    std::function<bool(std::uint16_t lid)> is_taken;

    explicit subnet_administration(const sc_core::sc_module_name& name) : model(name) {}

    /// Whether a packet is for here.
    static bool concerns(const packet& p);
    /// \param lid of the port that the request has come to \returns what is to be sent for it, at once
    std::vector<packet_ptr> process(const packet& request, std::uint16_t lid);

    void reset() override;

private:
    using gid = std::array<std::uint8_t, 16>;
    using record = std::vector<std::uint8_t>;
    struct group {
        std::uint16_t lid = 0;
        record common;                          // of all members' records
        std::map<std::size_t, unsigned> state;  // by node
    };
    /// A table that takes several datagrams: those behind what the requester has acknowledged wait for that.
    struct transfer {
        std::uint16_t lid;
        std::uint32_t qp;
        std::uint64_t transaction;
        std::vector<packet_ptr> segments;
        std::size_t sent = 0;
    };

    unsigned answer(unsigned method, unsigned attribute, const mad& request, std::vector<record>& found);
    void find_nodes(std::uint64_t given, const std::uint8_t* data, std::vector<record>& found) const;
    void find_ports(std::uint64_t given, const std::uint8_t* data, std::vector<record>& found) const;
    unsigned find_paths(bool table, std::uint64_t given, const std::uint8_t* data, std::vector<record>& found) const;
    void find_members(bool trusted, std::uint64_t given, const std::uint8_t* data, std::vector<record>& found) const;
    unsigned join(std::uint64_t given, const std::uint8_t* data, std::vector<record>& found);
    unsigned leave(std::uint64_t given, const std::uint8_t* data, std::vector<record>& found);
    unsigned make_group(std::uint64_t given, const std::uint8_t* data, gid& name);
    record member_record(const group& g, std::size_t node) const;
    std::optional<std::size_t> node_of(const std::uint8_t* gid) const;
    void set_gid(std::uint8_t* to, std::size_t node) const;
    std::vector<packet_ptr> send_table(const packet& request, mad& data, std::uint16_t lid,
                                       const std::vector<record>& found);
    std::vector<packet_ptr> acknowledged(const packet& by, const mad& data);

    std::map<gid, group> m_groups;
    std::deque<transfer> m_transfers;
    std::uint64_t m_made = 0;  // names of groups
};

}  // namespace fabricvp::network
