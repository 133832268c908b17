// SPDX-License-Identifier: Apache-2.0
// Recordings as files: what is written comes back; what is not whole is refused with one line.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <catch2/catch.hpp>

#include <unistd.h>

#include "gpu/replay/recorder.h"
#include "gpu/replay/recording_file.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using namespace fabricvp::gpu::replay;

namespace {

constexpr std::uint64_t line_of(unsigned gpu, std::uint64_t number) {
    return std::uint64_t{GPU_PA_GPU0 + gpu} << GPU_PA_APERTURE_SHIFT | number * line_bytes;
}

struct scratch_file {
    std::string path =
        (std::filesystem::temp_directory_path() / ("fabricvp-recording-" + std::to_string(::getpid()))).string();
    ~scratch_file() { std::filesystem::remove(path); }
    std::string bytes() const {
        std::ifstream in(path, std::ios::binary);
        std::ostringstream all;
        all << in.rdbuf();
        return all.str();
    }
    void write(const std::string& what) const { std::ofstream(path, std::ios::binary) << what; }
};

recording_head a_head() {
    recording_head h;
    h.machine = "gpus.0.clock 1 GHz\ngpus.1.clock 1 GHz\n";
    h.software = "app=test size=1";
    h.label = "kernels";
    h.time = 12'345'678;
    h.unattributed = 3;
    return h;
}

item an_access(std::vector<dependency> dependencies, bool loads, std::uint64_t floor = 0) {
    item i;
    i.kind = item_kind::access;
    i.busy = 200;
    i.idle = 70'000;
    i.dependencies = std::move(dependencies);
    i.loads = loads;
    i.floor = floor;
    return i;
}

/// Two GPUs, a launch of one work-group; a fetch behind a walk, a write, an atomic.
void write_example(const std::string& path, unsigned more = 0, std::uint64_t host_delay = 1000,
                   std::uint64_t cycles = 200) {
    recording_writer w(path);
    transaction t;
    t.line = line_of(1, 5);
    t.fetch = true;
    t.cache = 77;
    t.service = 143;
    t.sectors = 2;
    w.add(t);
    t = {};
    t.line = line_of(1, 900'000);
    t.page_table = true;
    t.offset = 40;
    w.add(t);
    t = {};
    t.line = line_of(1, 3);
    t.kind = access_kind::write;
    w.add(t);
    t.kind = access_kind::atomic;
    t.operands = 16;
    w.add(t);
    t.operands = line_bytes;
    t.sectors = 0x3;
    w.add(t);
    std::mt19937_64 random(1);
    for (unsigned i = 0; i < more; ++i) {
        t = {};
        t.line = line_of(1, random() >> 30);
        t.fetch = true;
        t.service = static_cast<std::uint32_t>(random() >> 50);
        w.add(t);
    }
    walk k;
    k.steps = {{20, 2}};
    k.tail = 6;
    w.add(k);
    item_writer items;
    items.write(an_access({{1, 1}, {0, 3}}, true, 300));
    items.write(an_access({{0, 4}, {1, 0}}, false));
    item late;
    late.kind = item_kind::everything;
    late.busy = late.idle = cycles;
    items.write(late);
    item wait;
    wait.kind = item_kind::wait;
    wait.accesses = {2};
    items.write(wait);
    item end;
    items.write(end);
    w.add(stream{0, 0, 0, items.bytes()});
    launch l;
    l.groups = l.group_wavefronts = 1;
    l.lds_bytes = 2048;
    host_event first, last;
    first.delay = host_delay;
    last.what = host_event::action::end;
    last.after = {0};
    w.finish(a_head(), {l}, {first, last});
}

std::string refusal_of(const std::string& path) {
    try {
        read_recording(path).check(2);
    } catch (const recording_error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a recording comes back as it was written") {
    scratch_file file;
    write_example(file.path);
    const auto r = read_recording(file.path);
    r.check(2);
    CHECK(r.head.machine == a_head().machine);
    CHECK(r.head.software == "app=test size=1");
    CHECK(r.head.label == "kernels");
    CHECK(r.head.time == 12'345'678);
    CHECK(r.head.unattributed == 3);
    REQUIRE(r.transactions.size() == 6);
    CHECK(r.transactions[1].line == line_of(1, 5));
    CHECK(r.transactions[1].fetch);
    CHECK(r.transactions[1].cache == 77);
    CHECK(r.transactions[1].service == 143);
    CHECK(r.transactions[1].sectors == 2);
    CHECK(r.transactions[2].page_table);
    CHECK(r.transactions[2].offset == 40);
    CHECK(r.transactions[3].kind == access_kind::write);
    CHECK(r.transactions[3].line == line_of(1, 3));
    CHECK(r.transactions[4].operands == 16);
    CHECK(r.transactions[5].operands == line_bytes);
    CHECK(r.transactions[5].sectors == 0x3);
    REQUIRE(r.walks.size() == 2);
    CHECK(r.walks[1].steps[0].delay == 20);
    CHECK(r.walks[1].steps[0].read == 2);
    CHECK(r.walks[1].tail == 6);
    REQUIRE(r.streams.size() == 1);
    item_reader reader(r.streams[0].items);
    item i;
    reader.read(i);
    CHECK(i.kind == item_kind::access);
    CHECK(i.busy == 200);
    CHECK(i.idle == 70'000);
    CHECK(i.floor == 300);
    CHECK(i.loads);
    REQUIRE(i.dependencies.size() == 2);
    CHECK((i.dependencies[0].walk == 1 && i.dependencies[0].what == 1 && i.dependencies[1].walk == 0 &&
           i.dependencies[1].what == 3));
    reader.read(i);
    CHECK_FALSE(i.loads);
    CHECK(i.floor == 0);
    CHECK((i.dependencies[0].what == 4 && i.dependencies[1].walk == 1 && i.dependencies[1].what == 0));
    reader.read(i);
    CHECK(i.kind == item_kind::everything);
    reader.read(i);
    CHECK(i.kind == item_kind::wait);
    CHECK(i.accesses == std::vector<std::uint32_t>{2});
    reader.read(i);
    CHECK(i.kind == item_kind::end);
    CHECK(reader.done());
    CHECK(r.launches[0].lds_bytes == 2048);
    CHECK(r.host[0].delay == 1000);
    CHECK(r.host[1].after == std::vector<std::uint32_t>{0});
}

TEST_CASE("time that a wavefront's own GPU takes is recorded") {
    scratch_file file;
    constexpr ticks cycle = 1000;
    recorder r(file.path, {cycle}, 1, 1 << 20);
    auto* w = new wavefront_record(r, 0, 0, 0, cycle, 0);
    // Ten cycles of work; then the memory unit is full for fifty, takes a store, and that is under way until 200, long
    // after the end.
    w->issue_blocked(10 * cycle, 10 * cycle);
    auto* store = w->issue(-1, 60 * cycle, 0);
    w->ended(70 * cycle, 4 * cycle);
    store->done(200 * cycle);
    w->retired(200 * cycle);
    r.finish(a_head());
    const auto streams = read_recording(file.path).streams;
    REQUIRE(streams.size() == 1);
    item_reader reader(streams[0].items);
    item i;
    reader.read(i);
    CHECK(i.kind == item_kind::end);
    CHECK(i.busy == 14);
    CHECK(i.busy + i.idle == 200);
    CHECK(reader.done());
}

TEST_CASE("recordings larger than a block come back") {
    scratch_file file;
    write_example(file.path, 300'000);
    const auto r = read_recording(file.path);
    r.check(2);
    REQUIRE(r.transactions.size() == 300'006);
    std::mt19937_64 random(1);
    for (unsigned i = 0; i < 300'000; ++i) {
        const auto line = line_of(1, random() >> 30);
        const auto service = static_cast<std::uint32_t>(random() >> 50);
        if (r.transactions[6 + i].line != line || r.transactions[6 + i].service != service) FAIL("transaction " << i);
    }
}

TEST_CASE("what was cut short is refused wherever the cut is") {
    scratch_file file;
    write_example(file.path);
    const auto whole = file.bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        file.write(whole.substr(0, size));
        const auto why = refusal_of(file.path);
        CHECK(why == (size < 19 ? "is no recording" : "is cut short"));
    }
    file.write(whole + "x");
    CHECK(refusal_of(file.path) == "is corrupted");
}

TEST_CASE("a changed bit is found wherever it is") {
    scratch_file file;
    write_example(file.path);
    const auto whole = file.bytes();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        auto changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 1 << at % 8);
        file.write(changed);
        INFO("byte " << at);
        CHECK_FALSE(refusal_of(file.path).empty());
    }
}

TEST_CASE("other versions, other files and other numbers of GPUs are refused") {
    scratch_file file;
    write_example(file.path);
    auto other = file.bytes();
    other[19] = 9;
    file.write(other);
    CHECK(refusal_of(file.path) == "is a recording of version 9; this is version 1: record again");
    file.write("simulation: {}\n");
    CHECK(refusal_of(file.path) == "is no recording");
    CHECK(refusal_of("/").find("cannot be read") == 0);
    CHECK(refusal_of("/nowhere").find("cannot be read") == 0);
    write_example(file.path);
    CHECK_THROWS_AS(read_recording(file.path).check(1), recording_error);
}

TEST_CASE("a recording that is not finished leaves no file") {
    scratch_file file;
    {
        recording_writer w(file.path);
        w.add(transaction{});
    }
    CHECK_FALSE(std::filesystem::exists(file.path));
    CHECK_THROWS_AS(recording_writer("/nowhere/at/all"), recording_error);
}

TEST_CASE("delays that no run has are refused, and sums that would wrap") {
    scratch_file file;
    const std::string why = "is corrupted: its delays are hours of simulated time";
    for (const std::uint64_t delay : {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 52}) {
        write_example(file.path, 0, delay);
        CHECK(refusal_of(file.path) == why);
        write_example(file.path, 0, 1000, delay);
        CHECK(refusal_of(file.path) == why);
    }
    write_example(file.path, 0, 1000, std::uint64_t{1} << 42);  // twice
    CHECK(refusal_of(file.path) == why);
    write_example(file.path, 0, 1000, std::uint64_t{1} << 41);
    CHECK(refusal_of(file.path).empty());
}
