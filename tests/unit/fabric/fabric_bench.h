// SPDX-License-Identifier: Apache-2.0
// A fabric with a probe in the place of each device: it keeps what it hears, and answers at once or late.
#pragma once

#include "unit/fabric/conservation.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/interconnect.h"

namespace fabricvp::test {

using namespace fabricvp::fabric;

inline interconnect_params::switch_node make_switch(const std::string& name, std::uint64_t cluster = 0) {
    interconnect_params::switch_node s;
    s.name = name;
    s.cluster = cluster;
    return s;
}

inline interconnect_params::link_node make_link(const std::string& from, const std::string& to,
                                                std::uint64_t lane_rate = 16'000'000'000, std::uint64_t lanes = 8) {
    interconnect_params::link_node l;
    l.from = from;
    l.to = to;
    l.lanes = lanes;
    l.lane_rate = {lane_rate};
    return l;
}

/// NetCrafter's four devices in two clusters, with probes d0 … d3.
inline interconnect_params quad(std::uint64_t slow_lane_rate = 2'000'000'000) {
    interconnect_params p;
    p.devices = {"d0", "d1", "d2", "d3"};
    p.switches = {make_switch("cluster0", 0), make_switch("cluster1", 1)};
    p.links = {make_link("d0", "cluster0"), make_link("d1", "cluster0"), make_link("d2", "cluster1"),
               make_link("d3", "cluster1"), make_link("cluster0", "cluster1", slow_lane_rate)};
    return p;
}

/// Five switches in a ring of slow links, a device at each.
inline interconnect_params ring() {
    interconnect_params p;
    for (unsigned i = 0; i < 5; ++i) {
        p.devices.push_back("d" + std::to_string(i));
        p.switches.push_back(make_switch("s" + std::to_string(i), i));
        p.links.push_back(make_link(p.devices.back(), p.switches.back().name));
    }
    for (unsigned i = 0; i < 5; ++i)
        p.links.push_back(make_link("s" + std::to_string(i), "s" + std::to_string((i + 1) % 5), 2'000'000'000));
    return p;
}

/// Links that corrupt packets.
inline interconnect_params noisy(interconnect_params p) {
    for (auto& l : p.links) l.bit_error_rate = 1e-5;
    return p;
}

/// A generator in the place of each device, with requests of all kinds to all others; each has a seed of its own.
inline interconnect_params generators(interconnect_params p, std::uint64_t requests) {
    unsigned n = 0;
    for (const auto& d : std::exchange(p.devices, {})) {
        interconnect_params::generator_node g;
        g.name = d;
        g.requests = requests;
        g.writes = 0.4;
        g.page_tables = 0.2;
        g.atomics = 0.2;
        g.outstanding = 64;
        g.seed = ++n;
        p.generators.push_back(g);
    }
    return p;
}

class probe final : public terminal_client {
public:
    explicit probe(terminal& t) : at(t) { t.attach(*this); }
    struct arrival {
        ticks when;
        packet_class type;
        unsigned source;
        std::uint32_t tag;
        access_status status;
    };
    terminal& at;
    std::vector<arrival> responses, requests;
    std::vector<packet_ptr> pending;
    bool responds = true;

    packet_ptr make(unsigned to, access_kind kind = access_kind::read, bool page_table = false) {
        const auto p = make_packet();
        p->kind = kind;
        p->destination = static_cast<std::uint16_t>(to);
        p->tag = m_tag++;
        p->set_request(at.format, page_table, kind == access_kind::atomic ? 8 : 0);
        return p;
    }
    void packet_received(const packet_ptr& p) override {
        const arrival h{calendar::current().now(), p->type, p->source, p->tag, p->status};
        if (is_response(p->type)) {
            responses.push_back(h);
        } else {
            requests.push_back(h);
            if (!responds) return pending.push_back(p);
            respond(p);
        }
    }
    void respond(const packet_ptr& p) {
        p->valid_sectors = 0xf;
        p->make_response(at.format);
        at.send(p);
    }
    void clear() {
        responses.clear();
        requests.clear();
        pending.clear();
        responds = true;
        m_tag = 0;
    }

private:
    std::uint32_t m_tag = 0;
};

/// A fabric of probes, one a device.
struct probed_fabric {
    interconnect net;
    std::vector<std::unique_ptr<probe>> probes;

    probed_fabric(const char* name, const interconnect_params& p) : net(name, p) {
        for (std::size_t i = 0; i < p.devices.size(); ++i) probes.push_back(std::make_unique<probe>(*net.terminals[i]));
        net.start();
    }
    void reset() {
        net.repair();
        net.reset();
        for (auto& p : probes) p->clear();
        restart_statistics(net.name());
    }
};

inline void run_all(ticks max_time = 100'000'000'000) {
    auto& c = calendar::current();
    const ticks limit = c.now() + max_time;
    while (c.next_event_time() != never) {
        REQUIRE(c.now() < limit);
        c.run_until(std::min(limit, c.next_event_time()));
    }
}

inline double stat(const std::string& path) {
    const auto all = snapshot_statistics(path.substr(0, path.find('.')));
    const auto at = all.find(path);
    REQUIRE(at != all.end());
    return at->second;
}

}  // namespace fabricvp::test
