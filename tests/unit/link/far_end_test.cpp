// SPDX-License-Identifier: Apache-2.0
// Links of every protocol whose ends stand in different simulations do what whole ones do.
#include "unit/link/cut_link_bench.h"

#include <tuple>

#include "ethernet/port.h"
#include "fabric/port.h"
#include "network/link_message.h"
#include "network/port.h"
#include "pcie/port.h"

using namespace fabricvp;
using namespace fabricvp::test;

// Packets as bytes, where the models do not need that themselves.

namespace fabricvp::fabric {
void append_packet(link::message_bytes& to, const packet& p) {
    link::append_value(to, static_cast<const packet_fields&>(p));
    link::append_value(to, p.data);
}
void take_packet(const link::message_bytes& from, std::size_t& at, packet_ptr& p) {
    p = make_packet();
    link::take_value(from, at, static_cast<packet_fields&>(*p));
    link::take_value(from, at, p->data);
}
}  // namespace fabricvp::fabric

namespace fabricvp::ethernet {
void append_packet(link::message_bytes& to, const frame& f) { link::append_slice(to, f.bytes); }
void take_packet(const link::message_bytes& from, std::size_t& at, frame_ptr& f) {
    buffer_slice bytes;
    link::take_slice(from, at, bytes);
    f = make_frame(bytes);
}
}  // namespace fabricvp::ethernet

namespace fabricvp::pcie {
void append_packet(link::message_bytes& to, const tlp& t) {
    link::append_value(to, t.kind);
    link::append_value(to, t.tag);
    link::append_value(to, t.address);
    link::append_value(to, t.bytes);
    link::append_value(to, t.tail);
    link::append_slice(to, t.data);
}
void take_packet(const link::message_bytes& from, std::size_t& at, tlp_ptr& t) {
    t = make_tlp();
    link::take_value(from, at, t->kind);
    link::take_value(from, at, t->tag);
    link::take_value(from, at, t->address);
    link::take_value(from, at, t->bytes);
    link::take_value(from, at, t->tail);
    link::take_slice(from, at, t->data);
}
}  // namespace fabricvp::pcie

namespace {

struct gpu_fabric {
    using far_end = fabric::far_end;
    static fabric::link_params wire() {
        fabric::link_params p;
        p.propagation = {flight};
        return p;
    }
    static fabric::buffer_params buffer() {
        fabric::buffer_params p;
        p.entries = 24;  // so that packets wait for credits
        p.credit_latency = {flight};
        return p;
    }
    struct device final : model, fabric::port_owner {
        fabric::packet_format format;
        fabric::port link{"link", wire(), buffer(), {*this, format}};
        std::deque<fabric::packet_ptr> unsent;
        std::vector<heard> received;

        explicit device(const sc_core::sc_module_name& name) : model(name) {}
        void send(unsigned number) {
            const auto p = fabric::make_packet();
            p->kind = number % 3 ? access_kind::write : access_kind::read;
            p->set_request(format, false, 0);
            if (number % 3 == 1) p->make_response(format);
            p->tag = number;
            p->line = number * 64;
            for (std::size_t i = 0; i < p->data.size(); ++i) p->data[i] = static_cast<std::uint8_t>(number + i);
            unsent.push_back(p);
            push();
        }
        void push() {
            while (!unsent.empty()) {
                const auto p = unsent.front();
                if (!link.idle()) return link.call_when_idle();
                if (!link.has_credit(p->channel(), p->flits)) return;
                unsent.pop_front();
                link.send(p, now());
            }
        }
        ticks packet_announced(fabric::port&, fabric::packet& p) override { return p.head; }
        // Nothing is stitched here.
        ticks packet_announced(fabric::port&, fabric::packet& p, const fabric::arrival_plan&) override {
            return p.head;
        }
        void packet_unpacked(fabric::port&, const fabric::packet_ptr&) override { FAIL(); }
        void packet_malformed(fabric::port&, const char*) override { FAIL(); }
        void packet_arrived(fabric::port& at, const fabric::packet_ptr& p) override {
            CHECK(p->line == p->tag * 64);
            received.push_back({now(), p->tag, {p->data.begin(), p->data.end()}});
            at.release(*p, p->tail + 5 * flight);
        }
        void transmitter_ready(fabric::port&) override { push(); }
    };
    static void connect(device& a, device& b) { fabric::connect(a.link, b.link); }
    static void connect(device& here, far_end& there) { fabric::connect(here.link, there, buffer()); }
};

struct pci_express {
    using far_end = pcie::far_end;
    static pcie::port_params wire() {
        pcie::port_params p;
        p.generation = 6;  // acknowledgements take no lanes, from when on their TLPs are heard of
        p.propagation = {flight};
        p.credit_latency = {flight};
        p.posted_headers = 4;  // so that TLPs wait for credits
        return p;
    }
    struct device : model, pcie::port_owner {
        pcie::port link;
        std::deque<pcie::tlp_ptr> unsent;
        std::vector<heard> received;
        std::uint32_t errors = 0;

        explicit device(const sc_core::sc_module_name& name, const pcie::port_params& p = wire())
            : model(name), link("link", p, *this) {}
        void send(unsigned number) {
            const auto t = pcie::make_tlp();
            t->kind = number % 4 ? pcie::tlp_kind::memory_write : pcie::tlp_kind::memory_read;
            t->tag = static_cast<std::uint16_t>(number);
            t->address = number * 256;
            t->bytes = 4 + number % 60 * 4;
            if (t->carries_data()) t->data = payload_of(number, t->bytes);
            unsent.push_back(t);
            push();
        }
        void push() {
            while (!unsent.empty() && link.can_send(*unsent.front())) {
                const auto t = unsent.front();
                unsent.pop_front();
                link.send(t, now());
            }
        }
        void tlp_arrived(pcie::port& from, const pcie::tlp_ptr& t) override {
            received.push_back({now(), t->tag, bytes_of(t->data)});
            from.release(*t, t->tail + 3 * flight);
        }
        void transmitter_ready(pcie::port&) override { push(); }
        unsigned debug_request(pcie::port&, pcie::tlp&) override { return 0; }
        void link_errors(pcie::port&, std::uint32_t bits) override { errors |= bits; }
    };
    static void connect(device& a, device& b) { pcie::connect(a.link, b.link); }
    static void connect(device& here, far_end& there) { pcie::connect(here.link, there, here.link.params); }
};

struct ethernet_cable {
    using far_end = ethernet::far_end;
    static ethernet::link_params cable() {
        ethernet::link_params p;
        p.propagation = {flight};
        return p;
    }
    struct device final : model, ethernet::port_owner {
        ethernet::port link;
        std::vector<heard> received;

        explicit device(const sc_core::sc_module_name& name) : model(name), link("link", {}, *this) {}
        void send(unsigned number) { link.send(ethernet::make_frame(payload_of(number, 60 + number % 1400))); }
        void frame_arrived(ethernet::port&, const ethernet::frame_ptr& f) override {
            received.push_back({now(), f->bytes.data()[0], bytes_of(f->bytes)});
        }
        void space_available(ethernet::port&) override {}
    };
    static void connect(device& a, device& b) { ethernet::connect(a.link, b.link, cable()); }
    static void connect(device& here, far_end& there) { ethernet::connect(here.link, there, {}, cable()); }
};

struct infiniband {
    using far_end = network::far_end;
    static network::port_params wire() {
        network::port_params p;
        p.buffer = {8192};  // so that packets wait for credits
        p.credit_latency = {2'000'000};
        return p;
    }
    static network::link_params cable() {
        network::link_params p;
        p.propagation = {flight};
        return p;
    }
    struct device final : model, network::port_owner {
        network::port link;
        std::deque<network::packet_ptr> unsent;
        std::vector<heard> received;

        explicit device(const sc_core::sc_module_name& name) : model(name), link("link", wire(), *this) {}
        void send(unsigned number) {
            const auto p = network::make_packet();
            p->bth.opcode = network::opcode_of(network::transport::ud, network::operation::send_only);
            p->bth.destination_qp = 2;
            p->bth.psn = number;
            p->payload = payload_of(number, 64 + 977 * number % 4000);
            unsent.push_back(p);
            push();
        }
        void push() {
            while (!unsent.empty() && link.has_room(link.lane_of(*unsent.front()))) {
                const auto p = unsent.front();
                unsent.pop_front();
                link.send(p);
            }
        }
        void packet_arrived(network::port& at, const network::packet_ptr& p) override {
            received.push_back({now(), p->bth.psn, bytes_of(p->payload)});
            at.release(*p, now());
        }
        void space_available(network::port&, unsigned) override { push(); }
        void state_changed(network::port&, network::port_state) override {}
    };
    static void connect(device& a, device& b) {
        network::connect(a.link, b.link, cable());
        a.link.configure(1);
        b.link.configure(2);
    }
    static void connect(device& here, far_end& there) {
        network::connect(here.link, there, wire(), cable());
        here.link.configure(1);
    }
};

/// A PCIe link that corrupts TLPs.
struct noisy_pci_express : pci_express {
    struct device : pci_express::device {
        explicit device(const sc_core::sc_module_name& name) : pci_express::device(name, noisy()) {}
        static pcie::port_params noisy() {
            auto p = wire();
            p.generation = 3;
            p.bit_error_rate = 1e-4;
            return p;
        }
    };
};

struct benches {
    calendar timeline;
    cut_link_bench<gpu_fabric> fabric{timeline, "fabric"};
    cut_link_bench<pci_express> pcie{timeline, "pcie"};
    cut_link_bench<noisy_pci_express> noisy{timeline, "noisy"};
    cut_link_bench<ethernet_cable> ethernet{timeline, "ethernet"};
    cut_link_bench<infiniband> network{timeline, "network"};
    std::tuple<cut_link_bench<gpu_fabric>&, cut_link_bench<pci_express>&, cut_link_bench<noisy_pci_express>&,
               cut_link_bench<ethernet_cable>&, cut_link_bench<infiniband>&>
        of{fabric, pcie, noisy, ethernet, network};

    static benches& all() {
        static benches b;
        return b;
    }
};

}  // namespace

TEMPLATE_TEST_CASE("a link whose ends are in different simulations does what a whole one does", "", gpu_fabric,
                   pci_express, ethernet_cable, infiniband) {
    auto& bench = std::get<cut_link_bench<TestType>&>(benches::all().of);
    bench.send(60, 25);  // more than the buffers hold
    bench.run(bench.timeline.now() + 100'000'000);
    CHECK(bench.b.received.size() == 60);
    CHECK(bench.a.received.size() == 25);
    CHECK(bench.messages >= 85);
    bench.check_equal();
    bench.send(10, 40);
    bench.run(bench.timeline.now() + 100'000'000);
    CHECK(bench.a.received.size() == 65);
    bench.check_equal();
    if (!std::is_same_v<TestType, ethernet_cable>) CHECK(bench.a.link.credit_stalls.total() > 0);
}

TEST_CASE("the end of a cut PCIe link that receives hears of corrupted TLPs, and nothing takes the link down") {
    auto& bench = std::get<cut_link_bench<noisy_pci_express>&>(benches::all().of);
    bench.send(60, 0);
    bench.run(bench.timeline.now() + 1'000'000'000);
    CHECK(bench.cut_a.link.transmitter.replays.total() > 0);
    CHECK(bench.cut_b.received.size() == 60);
    CHECK(bench.cut_b.errors != 0);
    CHECK(bench.cut_a.errors == 0);
    bench.cut_a.link.take_down();
    CHECK(bench.cut_a.link.up());
}
