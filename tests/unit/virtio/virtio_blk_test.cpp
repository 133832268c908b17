// SPDX-License-Identifier: Apache-2.0
// A driver of a virtio block device with hand-made queues: reset values, features, requests good and bad, interrupts.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <unistd.h>
#include <catch2/catch.hpp>

#include "virtio/virtio_blk.h"
#include "virtio_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using namespace fabricvp::pcie::test;
using namespace fabricvp::virtio;
using namespace fabricvp::virtio::test;

namespace {

constexpr std::uint64_t header_at = 0x4000, status_at = 0x4100, data_at = 0x10000;

using blk_bench = virtio_bench<virtio_blk, virtio_blk_params>;

class driver final : public virtio_driver {
public:
    explicit driver(blk_bench& b) : virtio_driver(b.memory, b.root, 1) {}

    std::uint64_t start(std::uint64_t features = VIRTIO_F_VERSION_1 | VIRTIO_F_INDIRECT_DESC | VIRTIO_BLK_F_FLUSH,
                        bool aligned = true) {
        return virtio_driver::start(features, aligned);
    }
    void header(std::uint32_t type, std::uint64_t sector) {
        const virtio_blk_request h{type, 0, sector};
        bytes.write(header_at, &h, sizeof h);
        const std::uint8_t none = 0xee;
        bytes.write(status_at, &none, 1);
    }
    /// A request with one stretch of data. \returns its status byte
    unsigned request(std::uint32_t type, std::uint64_t sector, std::uint32_t length, bool device_writes) {
        header(type, sector);
        descriptor(0, header_at, sizeof(virtio_blk_request), VIRTIO_DESC_NEXT, length ? 1 : 2);
        descriptor(1, data_at, length, VIRTIO_DESC_NEXT | (device_writes ? unsigned{VIRTIO_DESC_WRITE} : 0u), 2);
        descriptor(2, status_at, 1, VIRTIO_DESC_WRITE, 0);
        post(0);
        return bytes.data()[status_at];
    }
};

}  // namespace

TEST_CASE("a block device and its driver") {
    calendar timeline;
    char path[] = "/tmp/fabricvp-disk-XXXXXX";
    ::close(::mkstemp(path));
    std::string contents(1 << 20, 0);
    for (std::size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<char>(i * 31 + i / 512);
    std::ofstream(path, std::ios::binary) << contents;

    virtio_blk_params p;
    p.image = path;
    p.configuration_window = true;
    blk_bench bench("bench", p);
    auto& bytes = bench.memory.bytes;
    driver d(bench);
    const auto status = [&] { return d.read(common + VIRTIO_DEVICE_STATUS, 1); };

    // --- identity and reset values ---
    CHECK(d.configure(0, false, 0) == 0x10421af4);
    CHECK(status() == 0);
    CHECK(d.read(common + VIRTIO_NUM_QUEUES, 2) == 1);
    CHECK(d.read(common + VIRTIO_QUEUE_SIZE, 2) == 128);
    CHECK(d.read(common + VIRTIO_CONFIG_VECTOR, 2) == VIRTIO_NO_VECTOR);
    d.write(common + VIRTIO_DEVICE_FEATURE_SELECT, 1, 4);
    CHECK(d.read(common + VIRTIO_DEVICE_FEATURE, 4) == VIRTIO_F_VERSION_1 >> 32);
    d.write(common + VIRTIO_DEVICE_FEATURE_SELECT, 0, 4);
    CHECK(d.read(common + VIRTIO_DEVICE_FEATURE, 4) ==
          (VIRTIO_BLK_F_SEG_MAX | VIRTIO_BLK_F_BLK_SIZE | VIRTIO_BLK_F_FLUSH | VIRTIO_F_INDIRECT_DESC));
    CHECK(d.read(device_config, 8) == (1 << 20) / 512);
    d.write(common + VIRTIO_QUEUE_SELECT, 1, 2);
    CHECK(d.read(common + VIRTIO_QUEUE_SIZE, 2) == 0);  // there is no such queue
    d.write(common + VIRTIO_QUEUE_SELECT, 0, 2);
    d.write(common + VIRTIO_QUEUE_SIZE, 100, 2);
    CHECK(d.read(common + VIRTIO_QUEUE_SIZE, 2) == 128);

    // --- the window in configuration space reaches the same registers ---
    std::size_t window = 0;
    for (std::size_t at = d.configure(0x34, false, 0, 1); at; at = d.configure(at + 1, false, 0, 1))
        if (d.configure(at, false, 0, 1) == 9 && d.configure(at + 3, false, 0, 1) == VIRTIO_CAP_PCI) window = at;
    REQUIRE(window != 0);
    d.configure(window + 8, true, VIRTIO_NUM_QUEUES);
    d.configure(window + 12, true, 2);
    CHECK((d.configure(window + 16, false, 0) & 0xffff) == 1);

    // --- features that were not offered, and drivers of before 1.0, are refused ---
    CHECK((d.start(VIRTIO_F_VERSION_1 | VIRTIO_BLK_F_RO) & VIRTIO_STATUS_FEATURES_OK) == 0);
    CHECK((d.start(VIRTIO_BLK_F_FLUSH) & VIRTIO_STATUS_FEATURES_OK) == 0);
    CHECK(d.start() == 0xf);

    // --- read; INTA, which reading the ISR takes back ---
    CHECK(d.request(VIRTIO_BLK_IN, 3, 70000 / 512 * 512, true) == VIRTIO_BLK_OK);
    CHECK(std::memcmp(bytes.data() + data_at, contents.data() + 3 * 512, 70000 / 512 * 512) == 0);
    CHECK(d.used_index() == 1);
    CHECK(d.last_used().id == 0);
    CHECK(d.last_used().length == 70000 / 512 * 512 + 1);
    const auto lines = [&] { return d.interrupt_lines(); };
    CHECK(lines() == 1);
    CHECK(d.read(isr, 1) == VIRTIO_ISR_QUEUE);
    d.run();
    CHECK(lines() == 0);
    CHECK(d.read(isr, 1) == 0);

    // --- write, kept for this run; the file stays ---
    bytes.fill(data_at, 0x5a, 1024);
    CHECK(d.request(VIRTIO_BLK_OUT, 7, 1024, false) == VIRTIO_BLK_OK);
    CHECK(d.last_used().length == 1);
    bytes.fill(data_at, 0, 2048);
    CHECK(d.request(VIRTIO_BLK_IN, 6, 2048, true) == VIRTIO_BLK_OK);
    CHECK(std::memcmp(bytes.data() + data_at, contents.data() + 6 * 512, 512) == 0);
    CHECK(bytes.data()[data_at + 512] == 0x5a);
    CHECK(bytes.data()[data_at + 1535] == 0x5a);
    CHECK(std::memcmp(bytes.data() + data_at + 1536, contents.data() + 9 * 512, 512) == 0);
    std::string now(contents.size(), 0);
    std::ifstream(path, std::ios::binary).read(now.data(), static_cast<std::streamsize>(now.size()));
    CHECK(now == contents);

    // --- flush, identification, an unknown type, ranges outside, parts of sectors ---
    CHECK(d.request(VIRTIO_BLK_FLUSH, 0, 0, false) == VIRTIO_BLK_OK);
    CHECK(d.request(VIRTIO_BLK_GET_ID, 0, 20, true) == VIRTIO_BLK_OK);
    CHECK(std::string(reinterpret_cast<char*>(bytes.data() + data_at)) == "device");
    CHECK(d.request(99, 0, 512, true) == VIRTIO_BLK_UNSUPPORTED);
    CHECK(d.request(VIRTIO_BLK_IN, 2048, 512, true) == VIRTIO_BLK_IO_ERROR);
    CHECK(d.request(VIRTIO_BLK_IN, ~0ull, 512, true) == VIRTIO_BLK_IO_ERROR);
    CHECK(d.request(VIRTIO_BLK_IN, 2047, 1024, true) == VIRTIO_BLK_IO_ERROR);
    CHECK(d.request(VIRTIO_BLK_OUT, 0, 100, false) == VIRTIO_BLK_IO_ERROR);
    CHECK(d.last_used().length == 1);

    // --- header, data in pieces of odd sizes, and status through an indirect table ---
    d.header(VIRTIO_BLK_IN, 100);
    constexpr std::uint64_t indirect = 0x6000;
    d.descriptor(0, header_at, 5, VIRTIO_DESC_NEXT, 2, indirect);
    d.descriptor(2, header_at + 5, 11, VIRTIO_DESC_NEXT, 1, indirect);
    d.descriptor(1, data_at + 1, 333, VIRTIO_DESC_NEXT | VIRTIO_DESC_WRITE, 3, indirect);
    d.descriptor(3, data_at + 334, 180, VIRTIO_DESC_WRITE, 0,
                 indirect);  // 512 bytes of data, and the status behind them
    d.descriptor(5, indirect, 4 * 16, VIRTIO_DESC_INDIRECT, 0);
    d.post(5);
    CHECK(std::memcmp(bytes.data() + data_at + 1, contents.data() + 100 * 512, 512) == 0);
    CHECK(bytes.data()[data_at + 513] == VIRTIO_BLK_OK);
    CHECK(d.last_used().id == 5);

    // --- no interrupt where none is wanted; MSI-X where it is on ---
    d.read(isr, 1);
    d.run();
    const std::uint16_t none = VIRTIO_AVAIL_NO_INTERRUPT, wanted = 0;
    bytes.write(driver_ring, &none, 2);
    CHECK(d.request(VIRTIO_BLK_FLUSH, 0, 0, false) == VIRTIO_BLK_OK);
    CHECK(lines() == 0);
    bytes.write(driver_ring, &wanted, 2);
    const auto msix = bench.device.config.space.find_capability(msi_x_id);
    d.write(msix_bar + 16, 0x30000, 8);
    d.write(msix_bar + 24, 0x77, 4);
    d.write(msix_bar + 28, 0, 4);
    d.configure(msix + 2, true, 0x8000, 2);
    d.write(common + VIRTIO_QUEUE_VECTOR, 9, 2);
    CHECK(d.read(common + VIRTIO_QUEUE_VECTOR, 2) == VIRTIO_NO_VECTOR);  // two vectors only
    d.write(common + VIRTIO_QUEUE_VECTOR, 1, 2);
    CHECK(d.read(common + VIRTIO_QUEUE_VECTOR, 2) == 1);
    CHECK(d.request(VIRTIO_BLK_FLUSH, 0, 0, false) == VIRTIO_BLK_OK);
    CHECK(bytes.data()[0x30000] == 0x77);
    CHECK(lines() == 0);
    d.configure(msix + 2, true, 0, 2);

    // --- what breaks the rules stops the device until it is reset ---
    const auto chain = [&](unsigned i, std::uint64_t a, std::uint32_t n, unsigned f, unsigned next) {
        d.descriptor(i, a, n, f, next);
    };
    const std::vector<std::function<void()>> mistakes{
        [&] {
            chain(0, header_at, 16, VIRTIO_DESC_NEXT, 0);
            d.post(0);
        },  // a loop
        [&] {
            chain(0, header_at, 16, VIRTIO_DESC_NEXT, 77);
            d.post(0);
        },                     // next too large
        [&] { d.post(500); },  // head too large
        [&] {
            chain(0, header_at, 16, 0, 0);
            d.post(0);
        },  // no status
        [&] {
            chain(0, header_at, 8, VIRTIO_DESC_NEXT, 1);
            chain(1, status_at, 1, VIRTIO_DESC_WRITE, 0);
            d.post(0);
        },  // short header
        [&] {
            chain(0, status_at, 1, VIRTIO_DESC_WRITE | VIRTIO_DESC_NEXT, 1);
            chain(1, header_at, 16, 0, 0);
            d.post(0);
        },  // order
        [&] {
            chain(0, 0xffff'ffff'f000, 16, VIRTIO_DESC_NEXT, 1);
            chain(1, status_at, 1, VIRTIO_DESC_WRITE, 0);
            d.post(0);
        },  // nowhere
        [&] {
            chain(0, 0x6000, 17, VIRTIO_DESC_INDIRECT, 0);
            d.post(0);
        },  // part of a descriptor
        [&] {
            chain(0, 0x6000, 0xfffffff0, VIRTIO_DESC_INDIRECT, 0);
            d.post(0);
        },  // a huge table
        [&] {
            d.descriptor(0, 0x6000, 16, VIRTIO_DESC_INDIRECT, 0, 0x6000);
            chain(0, 0x6000, 16, VIRTIO_DESC_INDIRECT, 0);
            d.post(0);
        },
        [&] {
            const std::uint16_t far = 4000;
            bytes.write(driver_ring + 2, &far, 2);
            d.write(doorbell, 0, 2);
            d.run();
        },  // too many
    };
    for (std::size_t i = 0; i < mistakes.size(); ++i) {
        CAPTURE(i);
        REQUIRE(d.start() == 0xf);
        bytes.write(driver_ring, &wanted, 2);
        mistakes[i]();
        CHECK((status() & VIRTIO_STATUS_NEEDS_RESET) != 0);
        CHECK(d.read(isr, 1) == VIRTIO_ISR_CONFIG);
        CHECK(d.request(VIRTIO_BLK_FLUSH, 0, 0, false) == 0xee);  // nothing goes on
        REQUIRE(d.start() == 0xf);
        CHECK(d.request(VIRTIO_BLK_IN, 0, 512, true) == VIRTIO_BLK_OK);
    }
    CHECK(bench.device.broken.value() == mistakes.size());
    CHECK((d.start(VIRTIO_F_VERSION_1, false) & VIRTIO_STATUS_NEEDS_RESET) != 0);

    // --- a reset while a request is under way: nothing of it comes later ---
    REQUIRE(d.start() == 0xf);
    d.header(VIRTIO_BLK_IN, 0);
    d.descriptor(0, header_at, 16, VIRTIO_DESC_NEXT, 1);
    d.descriptor(1, data_at, 512, VIRTIO_DESC_NEXT | VIRTIO_DESC_WRITE, 2);
    d.descriptor(2, status_at, 1, VIRTIO_DESC_WRITE, 0);
    const std::uint16_t one = 1, zero = 0;
    bytes.write(driver_ring + 4, &zero, 2);
    bytes.write(driver_ring + 2, &one, 2);
    auto ring = allocate_slice(2);
    bench.root.host_write(doorbell, ring);
    d.run(5'000'000);  // fetched, not yet served
    d.write(common + VIRTIO_DEVICE_STATUS, 0, 1);
    CHECK(status() == 0);
    d.run();
    CHECK(bytes.data()[status_at] == 0xee);
    CHECK(d.used_index() == 0);
    ::unlink(path);
}

TEST_CASE("disk images") {
    char path[] = "/tmp/fabricvp-image-XXXXXX";
    ::close(::mkstemp(path));
    CHECK_THROWS_AS(disk_image(path, disk_mode::read_only, 0), std::invalid_argument);  // empty
    std::ofstream(path, std::ios::binary) << std::string(1000, 'x');
    CHECK_THROWS_AS(disk_image(path, disk_mode::read_only, 0), std::invalid_argument);  // no whole sectors
    std::ofstream(path, std::ios::binary) << std::string(5120, 'x');
    CHECK_THROWS_AS(disk_image("/nonexistent/disk", disk_mode::read_only, 0), std::invalid_argument);
    CHECK_THROWS_AS(disk_image("/tmp", disk_mode::read_only, 0), std::invalid_argument);

    const std::string mark = "marked";
    const auto* from = reinterpret_cast<const std::uint8_t*>(mark.data());
    std::uint8_t got[6];
    const auto shows = [&](const disk_image& d, std::uint64_t at) {
        return d.read(at, got, 6) && std::memcmp(got, from, 6) == 0;
    };
    const auto in_file = [&] { return shows(disk_image(path, disk_mode::read_only, 0), 4094); };
    {
        disk_image kept(path, disk_mode::copy_on_write, 0);
        CHECK(kept.size() == 5120);
        REQUIRE(kept.write(4094, from, 6));  // over the border of a page, into the short last one
        CHECK(shows(kept, 4094));
        CHECK(kept.flush());
        CHECK_FALSE(in_file());
    }
    {
        disk_image direct(path, disk_mode::writable, 0);
        REQUIRE(direct.write(4094, from, 6));
        CHECK(shows(direct, 4094));
        CHECK(direct.flush());
        CHECK_THROWS_AS(in_file(), std::invalid_argument);  // it is for one disk alone
    }
    CHECK(in_file());
    disk_image blank("", disk_mode::copy_on_write, 4096);
    CHECK(blank.size() == 4096);
    REQUIRE(blank.write(10, from, 6));
    CHECK(shows(blank, 10));
    ::unlink(path);
}
