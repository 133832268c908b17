// SPDX-License-Identifier: Apache-2.0
// A driver of a virtio network adapter with hand-made queues, and a station at the other end of its cable.
#include <random>

#include <catch2/catch.hpp>

#include "virtio/virtio_net.h"
#include "virtio_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using namespace fabricvp::pcie::test;
using namespace fabricvp::virtio;
using namespace fabricvp::virtio::test;

namespace {

constexpr std::uint64_t header = sizeof(virtio_net_header), header_at = 0x4000, data_at = 0x10000, buffers_at = 0x20000,
                        buffer_bytes = 0x800;
constexpr unsigned receiving = VIRTIO_NET_RECEIVE_QUEUE, transmitting = VIRTIO_NET_TRANSMIT_QUEUE;

using net_bench = virtio_bench<virtio_net, virtio_net_params>;
using octets = std::vector<std::uint8_t>;

/// Sends what it is given and keeps what it hears.
class station final : public model, private ethernet::port_owner {
public:
    ethernet::port port;
    std::vector<std::pair<ticks, octets>> heard;

    explicit station(const sc_core::sc_module_name& name) : model(name), port("port", {}, *this) {}
    void send(const octets& bytes) {
        const auto slice = allocate_slice(bytes.size());
        std::copy(bytes.begin(), bytes.end(), slice.data());
        port.send(ethernet::make_frame(slice));
    }

private:
    void frame_arrived(ethernet::port&, const ethernet::frame_ptr& f) override {
        heard.emplace_back(now(), octets(f->bytes.data(), f->bytes.data() + f->bytes.length));
    }
    void space_available(ethernet::port&) override {}
};

octets some_frame(std::size_t bytes, unsigned seed) {
    octets f(bytes);
    for (std::size_t i = 0; i < bytes; ++i) f[i] = static_cast<std::uint8_t>(seed + 7 * i + i / 256);
    return f;
}

class driver final : public virtio_driver {
public:
    explicit driver(net_bench& b) : virtio_driver(b.memory, b.root, VIRTIO_NET_QUEUES) {}

    std::uint64_t start(std::uint64_t features = VIRTIO_F_VERSION_1 | VIRTIO_F_INDIRECT_DESC | VIRTIO_NET_F_MAC |
                                                 VIRTIO_NET_F_STATUS) {
        return virtio_driver::start(features);
    }
    static std::uint64_t descriptors(unsigned queue) { return table + queue * next_queue; }

    /// Gives the device a buffer in one piece.
    void give_buffer(unsigned slot, std::uint32_t bytes = buffer_bytes) {
        this->bytes.fill(buffers_at + slot * buffer_bytes, 0xee, buffer_bytes);
        descriptor(slot, buffers_at + slot * buffer_bytes, bytes, VIRTIO_DESC_WRITE, 0, descriptors(receiving));
        post(slot, receiving);
    }
    octets buffer(unsigned slot, std::size_t bytes) const {
        const auto* at = this->bytes.data() + buffers_at + slot * buffer_bytes;
        return {at, at + bytes};
    }
    /// Offers a frame behind a header, each in a descriptor of its own. \param pair of descriptors, 0 … 3
    void offer_frame(const octets& frame, unsigned pair = 0, const virtio_net_header& h = {}) {
        bytes.write(header_at + 0x40 * pair, &h, sizeof h);
        bytes.write(data_at + 0x2000 * pair, frame.data(), frame.size());
        descriptor(2 * pair, header_at + 0x40 * pair, sizeof h, VIRTIO_DESC_NEXT, 2 * pair + 1,
                   descriptors(transmitting));
        descriptor(2 * pair + 1, data_at + 0x2000 * pair, static_cast<std::uint32_t>(frame.size()), 0, 0,
                   descriptors(transmitting));
        offer(2 * pair, transmitting);
    }
    void ring(unsigned queue) {
        write(doorbell + 4 * queue, queue, 2);
        run();
    }
    void send(const octets& frame, const virtio_net_header& h = {}) {
        offer_frame(frame, 0, h);
        ring(transmitting);
    }
    std::uint64_t status() { return read(common + VIRTIO_DEVICE_STATUS, 1); }
};

/// An adapter in a computer of its own, and the station that it reaches.
class pair final : public model {
public:
    net_bench bench;
    station other{"other"};
    driver d{bench};

    pair(const sc_core::sc_module_name& name, const virtio_net_params& p, bool joined = true)
        : model(name), bench("bench", p) {
        if (joined) ethernet::connect(bench.device.port, other.port);
    }
};

template <class Change>
virtio_net_params with(Change change) {
    virtio_net_params p;
    change(p);
    return p;
}

/// All there are in this process, since SystemC elaborates once.
struct machines {
    calendar timeline;
    pair plain{"plain", {}};
    pair named{"named", with([](auto& p) {
                   p.address = "02:00:00:0a:0B:0c";
                   p.mtu = 4000;
               })};
    pair buffered{"buffered", with([](auto& p) { p.receive_buffer = 3; })};
    pair slow{"slow", with([](auto& p) {
                  p.port.queue = 1;
                  p.port.rate = {1'000'000};
              })};
    pair modest{"modest", with([](auto& p) {
                    p.port.queue = 1;
                    p.port.rate = {1'000'000};
                    p.max_frames_in_flight = 1;
                })};
    pair alone{"alone", {}, false};
};

machines& all() {
    static machines m;
    return m;
}

pair& started(pair machines::*which) {
    auto& p = all().*which;
    p.other.heard.clear();
    REQUIRE(p.d.start() == 0xf);
    return p;
}

}  // namespace

TEST_CASE("a network adapter says what it is") {
    auto& t = started(&machines::named);
    CHECK(t.d.configure(0, false, 0) == 0x10411af4);
    CHECK(t.d.configure(8, false, 0) >> 8 == 0x020000);
    CHECK(t.d.read(common + VIRTIO_NUM_QUEUES, 2) == 2);
    t.d.write(common + VIRTIO_DEVICE_FEATURE_SELECT, 0, 4);
    CHECK(t.d.read(common + VIRTIO_DEVICE_FEATURE, 4) ==
          (VIRTIO_NET_F_MAC | VIRTIO_NET_F_STATUS | VIRTIO_NET_F_MTU | VIRTIO_F_INDIRECT_DESC));
    CHECK(t.d.read(device_config, 8) == 0x0001'0c0b'0a00'0002);
    CHECK(t.d.read(device_config + 8, 4) == (4000u << 16 | 1));
    CHECK((t.d.start(VIRTIO_F_VERSION_1 | 1) & VIRTIO_STATUS_FEATURES_OK) == 0);  // offloads are not offered

    for (const auto* bad : {"02:00:00:00:00", "02:00:00:00:00:0g", "01:00:00:00:00:01", "00:00:00:00:00:00",
                            "02-00-00-00-00-01", "02:00:00:00:00:01 "})
        CHECK_THROWS_AS(ethernet::parse_address(bad), std::invalid_argument);
}

TEST_CASE("frames leave as the driver wrote them, one behind the other at the link's rate") {
    auto& t = started(&machines::plain);
    const octets a = some_frame(100, 1), b = some_frame(1514, 2), c = some_frame(42, 3);
    t.d.bytes.fill(data_at, 0xaa, 0x8000);
    t.d.offer_frame(a, 0);
    t.d.offer_frame(b, 1);
    t.d.offer_frame(c, 2);
    t.d.ring(transmitting);
    REQUIRE(t.other.heard.size() == 3);
    CHECK(t.other.heard[0].second == a);
    CHECK(t.other.heard[1].second == b);
    // The shortest frame has 60 bytes; what memory holds behind a shorter one stays there.
    auto padded = c;
    padded.resize(60);
    CHECK(t.other.heard[2].second == padded);
    // 1.25 GB/s; preamble, check sequence and gap are 24 bytes.
    CHECK(t.other.heard[1].first - t.other.heard[0].first >= (1514 + 24) * 800);  // it has to be fetched first
    CHECK(t.other.heard[2].first - t.other.heard[1].first == (60 + 24) * 800);
    CHECK(t.d.used_index(transmitting) == 3);
    CHECK(t.d.last_used(transmitting).id == 4);
    CHECK(t.d.last_used(transmitting).length == 0);
    CHECK(t.bench.device.frames_sent.total() == 3);
}

TEST_CASE("a frame in pieces of odd sizes, through an indirect table") {
    auto& t = started(&machines::plain);
    const auto f = some_frame(700, 9);
    const virtio_net_header none{};
    t.d.bytes.write(header_at, &none, header);
    t.d.bytes.write(data_at, f.data(), f.size());
    constexpr std::uint64_t indirect = 0x6000;
    t.d.descriptor(0, header_at, 5, VIRTIO_DESC_NEXT, 3, indirect);
    t.d.descriptor(3, header_at + 5, 7, VIRTIO_DESC_NEXT, 1, indirect);
    t.d.descriptor(1, data_at, 333, VIRTIO_DESC_NEXT, 2, indirect);
    t.d.descriptor(2, data_at + 333, 367, 0, 0, indirect);
    t.d.descriptor(6, indirect, 4 * 16, VIRTIO_DESC_INDIRECT, 0, driver::descriptors(transmitting));
    t.d.post(6, transmitting);
    REQUIRE(t.other.heard.size() == 1);
    CHECK(t.other.heard[0].second == f);
}

TEST_CASE("frames arrive in the driver's buffers, in order; those without one wait, and beyond that are lost") {
    auto& t = started(&machines::buffered);
    t.d.give_buffer(0);
    t.d.give_buffer(1);
    for (unsigned i = 0; i < 7; ++i) t.other.send(some_frame(60 + 200 * i, i));
    t.d.run();
    CHECK(t.d.used_index(receiving) == 2);
    CHECK(t.d.interrupt_lines() == 1);
    CHECK(t.d.read(isr, 1) == VIRTIO_ISR_QUEUE);
    CHECK(t.bench.device.no_buffer.total() == 2);  // two have buffers, three wait
    for (unsigned i = 2; i < 5; ++i) t.d.give_buffer(i);
    for (unsigned i = 0; i < 5; ++i) {
        const auto f = some_frame(60 + 200 * i, i);
        const auto got = t.d.buffer(i, header + f.size() + 1);
        virtio_net_header h;
        std::memcpy(&h, got.data(), header);
        CHECK((h.flags == 0 && h.segmentation == 0 && h.buffers == 1));
        CHECK(std::equal(f.begin(), f.end(), got.begin() + header));
        CHECK(got.back() == 0xee);  // not a byte more
    }
    CHECK(t.d.used_index(receiving) == 5);
    CHECK(t.d.last_used(receiving).length == header + 60 + 800);
    // A buffer that is too small for one frame takes the next.
    t.d.give_buffer(5, 100);
    t.other.send(some_frame(89, 1));
    t.other.send(some_frame(88, 2));
    t.d.run();
    CHECK(t.bench.device.no_buffer.total() == 3);
    CHECK(t.d.last_used(receiving).length == 100);
    CHECK(t.d.buffer(5, 101).back() == 0xee);
    // What comes before a driver is there is dropped.
    t.d.write(common + VIRTIO_DEVICE_STATUS, 0, 1);
    t.other.send(some_frame(60, 1));
    t.d.run();
    CHECK(t.bench.device.no_buffer.total() == 4);
}

TEST_CASE("a driver that is faster than the link waits, and loses nothing") {
    auto& t = started(&machines::slow);
    for (unsigned round = 0; round < 5; ++round) {
        for (unsigned i = 0; i < 4; ++i) t.d.offer_frame(some_frame(1000, 4 * round + i), i);
        t.d.ring(transmitting);
        CHECK(t.other.heard.size() < 4 * round + 4);
        t.d.run(6'000'000'000);
    }
    REQUIRE(t.other.heard.size() == 20);
    for (unsigned i = 0; i < 20; ++i) CHECK(t.other.heard[i].second == some_frame(1000, i));
    CHECK(t.bench.device.port.dropped.total() == 0);
    CHECK(t.d.used_index(transmitting) == 20);
}

TEST_CASE("without a cable the link is down and frames are lost") {
    auto& t = started(&machines::alone);
    CHECK(t.d.read(device_config + 6, 2) == 0);
    t.d.send(some_frame(100, 1));
    CHECK(t.d.used_index(transmitting) == 1);
    CHECK(t.bench.device.port.dropped.total() == 1);
}

TEST_CASE("frames that cannot be sent go back to the driver; what breaks the rules stops the device") {
    auto& t = started(&machines::plain);
    virtio_net_header checksum{}, segments{};
    checksum.flags = 1;
    segments.segmentation = 1;
    t.d.send(some_frame(13, 1));
    t.d.send(some_frame(1519, 1));
    t.d.send(some_frame(100, 1), checksum);
    t.d.send(some_frame(100, 1), segments);
    CHECK(t.other.heard.empty());
    CHECK(t.bench.device.malformed.total() == 4);
    CHECK(t.d.used_index(transmitting) == 4);
    t.d.send(some_frame(1518, 1));  // with a VLAN tag
    CHECK(t.other.heard.size() == 1);

    const auto tx = [&](unsigned i, std::uint64_t a, std::uint32_t n, unsigned f, unsigned next) {
        t.d.descriptor(i, a, n, f, next, driver::descriptors(transmitting));
    };
    const auto rx = [&](unsigned i, std::uint64_t a, std::uint32_t n, unsigned f, unsigned next) {
        t.d.descriptor(i, a, n, f, next, driver::descriptors(receiving));
    };
    const std::vector<std::function<void()>> mistakes{
        [&] {
            tx(0, header_at, 11, 0, 0);
            t.d.post(0, transmitting);
        },  // no room for the header
        [&] {
            tx(0, data_at, 100, VIRTIO_DESC_WRITE, 0);
            t.d.post(0, transmitting);
        },  // nothing to read
        [&] {
            tx(0, header_at, 12, VIRTIO_DESC_NEXT, 1);
            tx(1, 0xffff'ffff'f000, 100, 0, 0);
            t.d.post(0, transmitting);
        },  // nowhere
        [&] {
            tx(0, header_at, 12, VIRTIO_DESC_NEXT, 0);
            t.d.post(0, transmitting);
        },  // a loop
        [&] { t.d.post(900, transmitting); },
        [&] {
            rx(0, data_at, 1000, 0, 0);
            t.d.post(0, receiving);
        },  // nothing to write to
        [&] {
            rx(0, data_at, 11, VIRTIO_DESC_WRITE, 0);
            t.d.post(0, receiving);
        },
        [&] {
            rx(0, data_at, 100, VIRTIO_DESC_WRITE | VIRTIO_DESC_NEXT, 8);
            t.d.post(0, receiving);
        },
    };
    for (std::size_t i = 0; i < mistakes.size(); ++i) {
        CAPTURE(i);
        REQUIRE(t.d.start() == 0xf);
        mistakes[i]();
        CHECK((t.d.status() & VIRTIO_STATUS_NEEDS_RESET) != 0);
        t.other.heard.clear();
        t.d.send(some_frame(100, 1));
        CHECK(t.other.heard.empty());  // nothing goes on
        REQUIRE(t.d.start() == 0xf);
        t.d.give_buffer(0);
        t.d.send(some_frame(100, 1));
        CHECK(t.other.heard.size() == 1);
        t.other.send(some_frame(100, 2));
        t.d.run();
        CHECK(t.d.used_index(receiving) == 1);
    }
    CHECK(t.bench.device.broken.total() == mistakes.size());
}

TEST_CASE("a reset while a frame is fetched, and while one waits for the link: nothing of it comes later") {
    auto& t = started(&machines::plain);
    t.other.heard.clear();
    t.d.offer_frame(some_frame(1000, 1));
    auto bell = allocate_slice(2);
    std::memset(bell.data(), 1, 1);
    t.bench.root.host_write(doorbell + 4, bell);
    t.d.run(1'500'000);  // on its way
    t.d.write(common + VIRTIO_DEVICE_STATUS, 0, 1);
    t.d.run();
    CHECK(t.other.heard.empty());
    CHECK(t.d.used_index(transmitting) == 0);
    REQUIRE(t.d.start() == 0xf);
    t.d.send(some_frame(1000, 1));
    CHECK(t.other.heard.size() == 1);
}

TEST_CASE("only so many frames are fetched at a time, and a reset clears those that were only posted") {
    auto& t = started(&machines::modest);
    for (unsigned i = 0; i < 4; ++i) t.d.offer_frame(some_frame(1000, i), i);
    t.d.ring(transmitting);
    REQUIRE(t.other.heard.size() < 3);
    const auto late = some_frame(1000, 99);  // the driver may still write to what has not been fetched
    t.d.bytes.write(data_at + 0x2000 * 3, late.data(), late.size());
    t.d.run(10'000'000'000);
    REQUIRE(t.other.heard.size() == 4);
    CHECK(t.other.heard[2].second == some_frame(1000, 2));
    CHECK(t.other.heard[3].second == late);

    for (unsigned i = 0; i < 4; ++i) t.d.offer_frame(some_frame(1000, i), i);
    t.other.heard.clear();
    t.d.ring(transmitting);
    t.d.write(common + VIRTIO_DEVICE_STATUS, 0, 1);
    REQUIRE(t.d.start() == 0xf);
    t.d.send(some_frame(500, 50));
    t.d.run(10'000'000'000);
    REQUIRE(!t.other.heard.empty());
    CHECK(t.other.heard.size() < 4);
    CHECK(t.other.heard.back().second == some_frame(500, 50));
    CHECK(t.d.used_index(transmitting) == 1);
}

TEST_CASE("buffers and frames from before a reset are not used after it") {
    auto& t = started(&machines::plain);
    t.d.give_buffer(0);
    t.d.write(common + VIRTIO_DEVICE_STATUS, 0, 1);
    REQUIRE(t.d.start() == 0xf);
    t.other.send(some_frame(100, 1));
    t.d.run();
    CHECK(t.d.buffer(0, 200) == octets(200, 0xee));
    CHECK(t.d.used_index(receiving) == 0);
    // The frame waits now, until another reset.
    t.d.write(common + VIRTIO_DEVICE_STATUS, 0, 1);
    REQUIRE(t.d.start() == 0xf);
    t.d.give_buffer(0);
    CHECK(t.d.used_index(receiving) == 0);
    t.other.send(some_frame(80, 2));
    t.d.run();
    CHECK(t.d.used_index(receiving) == 1);
    CHECK(t.d.last_used(receiving).length == header + 80);
}

TEST_CASE("queues full of rubbish never stop the simulator, and a reset brings the device back") {
    auto& t = started(&machines::plain);
    std::mt19937_64 random(11);
    for (unsigned round = 0; round < 2000; ++round) {
        for (unsigned q = 0; q < VIRTIO_NET_QUEUES; ++q) {
            for (unsigned i = 0; i < queue_size; ++i) {
                const auto address = random() % 8 ? random() % (1 << 20) + 0x10000 : random();
                const auto length = random() % 8 ? random() % 2000 : random();
                const auto flags = random() % 16 ? (random() & VIRTIO_DESC_NEXT) |
                                                       (random() % 4 ? (q == receiving ? VIRTIO_DESC_WRITE : 0) : 0)
                                                 : random() & 7;
                t.d.descriptor(i, address, static_cast<std::uint32_t>(length), static_cast<unsigned>(flags),
                               random() % 16 ? (i + 1) % queue_size : random() & 0xffff, driver::descriptors(q));
            }
            for (unsigned i = random() % 4; i; --i)
                t.d.offer(random() % 32 ? random() % queue_size : random() & 0xffff, q);
            t.d.write(doorbell + 4 * q, q, 2);
        }
        t.other.send(some_frame(60 + random() % 1500, round));
        t.d.run(20'000'000);
        if (t.d.status() & VIRTIO_STATUS_NEEDS_RESET) REQUIRE(t.d.start() == 0xf);
    }
    CHECK(t.bench.device.broken.total() > 100);
    CHECK(t.bench.device.frames_received.total() > 100);
    REQUIRE(t.d.start() == 0xf);
    t.other.heard.clear();
    t.d.send(some_frame(500, 7));
    REQUIRE(t.other.heard.size() == 1);
    CHECK(t.other.heard[0].second == some_frame(500, 7));
}
