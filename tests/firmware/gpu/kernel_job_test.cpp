// SPDX-License-Identifier: Apache-2.0
// Kernels that a user brings along: jobs in the RAM disk (abi/kernel_job.h) of the application `kernel`.
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "abi/gpu.h"
#include "abi/kernel_job.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/platform.h"
#include "unit/platform/temporary_folder.h"

using namespace fabricvp;

namespace {

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// c = a + b of `items` floats, in a file as the application wants it.
struct addition {
    static constexpr std::uint64_t items = 3000, bytes = items * sizeof(float);
    kernel_job job{};
    std::vector<float> a, b;
    std::string file;

    explicit addition(const char* image = "vectoradd", const char* kernel = "vectoradd") {
        for (std::uint64_t i = 0; i < items; ++i) {
            a.push_back(static_cast<float>(i) * 0.5f);
            b.push_back(static_cast<float>(items - i) * 0.25f);
        }
        const auto elf = contents(std::string(FIRMWARE) + "/" + image + ".elf");
        std::uint64_t at = sizeof job;
        const auto place = [&](std::uint64_t size) {
            return (at = (at + size + 7) & ~std::uint64_t{7}) - ((size + 7) & ~std::uint64_t{7});
        };
        job.magic = KERNEL_JOB_MAGIC;
        job.items[0] = static_cast<std::uint32_t>(items);
        job.group[0] = 256;
        for (unsigned d : {1, 2}) job.items[d] = job.group[d] = 1;
        job.state = KERNEL_JOB_READY;
        job.buffer_count = 3;
        job.buffers = place(3 * sizeof(kernel_job_buffer));
        job.argument_bytes = 32;
        job.arguments = place(32);
        job.elf_bytes = elf.size();
        job.elf = place(elf.size());
        job.kernel = place(std::strlen(kernel) + 1);
        kernel_job_buffer buffers[3] = {};
        for (unsigned i = 0; i < 3; ++i) {
            buffers[i].bytes = bytes;
            buffers[i].contents = place(bytes);
            buffers[i].argument = 8 * i;
            buffers[i].flags = i < 2 ? KERNEL_JOB_IN : KERNEL_JOB_OUT;
        }
        job.bytes = at;
        file.assign(at, '\0');
        put(job.buffers, buffers, sizeof buffers);
        put(job.arguments + 24, &items_word, 8);
        put(job.elf, elf.data(), elf.size());
        put(job.kernel, kernel, std::strlen(kernel) + 1);
        put(buffers[0].contents, a.data(), bytes);
        put(buffers[1].contents, b.data(), bytes);
        result = buffers[2].contents;
    }
    std::uint64_t items_word = items, result = 0;
    void put(std::uint64_t to, const void* from, std::size_t size) { std::memcpy(file.data() + to, from, size); }
    std::string whole() {
        put(0, &job, sizeof job);
        return file;
    }
};

struct run {
    test::temporary_folder folder;
    std::unique_ptr<platform> p;
    std::uint64_t disk;
    run_result result{};

    explicit run(addition& what, const platform::overrides& set = {}) {
        p = platform::from_config(std::string(CONFIGS) + "/gpu.yaml", set);
        image_set images;
        images.firmware = std::string(FIRMWARE) + "/gpu_apps.elf";
        images.initrd = folder.file("job", what.whole());
        images.append = "app=kernel";
        p->load_images(0, images);
        disk = find(what.file.size());
    }
    std::uint64_t find(std::uint64_t size) {
        const auto tree = p->hardware().nodes[0]->host.device_tree_address();
        for (auto at = (tree - size) & ~std::uint64_t{4095}; at > tree - size - (64 << 20); at -= 4096) {
            std::uint64_t magic = 0;
            p->read_memory(0, at, &magic, 8);
            if (magic == KERNEL_JOB_MAGIC) return at;
        }
        FAIL("no RAM disk");
        return 0;
    }
    void go(ticks limit = ticks_per_second) { result = p->run_until(limit); }
    /// Until the job has ended.
    void await() {
        for (unsigned steps = 0; job().state == KERNEL_JOB_READY; ++steps) {
            REQUIRE(steps < 10000);
            go(p->now() + ticks_per_second / 10000);
        }
    }
    kernel_job job() {
        kernel_job j;
        p->read_memory(0, disk, &j, sizeof j);
        return j;
    }
    bool sums_are_right(const addition& what, float factor = 1) {
        std::vector<float> c(addition::items);
        p->read_memory(0, disk + what.result, c.data(), addition::bytes);
        for (std::uint64_t i = 0; i < addition::items; ++i)
            if (c[i] != what.a[i] + factor * what.b[i]) return false;
        return true;
    }
    void expect(kernel_job_state state) {
        go();
        CHECK(result.outcome == (state == KERNEL_JOB_DONE ? run_outcome::power_off : run_outcome::guest_failure));
        CHECK(result.guest_status == (state == KERNEL_JOB_DONE ? 0 : 1));
        CHECK(job().state == state);
    }
    std::string output() { return p->serial(0).output(); }
};

}  // namespace

TEST_CASE("a kernel from outside runs with its buffers and leaves the results", "[kernel_job]") {
    addition what;
    run r(what);
    r.expect(KERNEL_JOB_DONE);
    CHECK(r.sums_are_right(what));
    CHECK(r.job().fault == 0);
    CHECK(r.job().nanoseconds > 1000);
    CHECK(r.p->hardware().nodes[0]->devices.gpus[0]->host_interface.sdma.bytes_copied.total() >= 3 * addition::bytes);
}

TEST_CASE("the first kernel of a file, on all GPUs together", "[kernel_job_all]") {
    addition what;
    what.job.gpu = KERNEL_JOB_ALL_GPUS;
    what.job.kernel = 0;
    run r(what);
    r.expect(KERNEL_JOB_DONE);
    CHECK(r.sums_are_right(what));
}

TEST_CASE("jobs one after the other, each written when the last has ended", "[kernel_job_keep]") {
    addition what;
    what.job.flags = KERNEL_JOB_WAIT_FOR_NEXT;
    run r(what);
    for (float factor : {1.f, 2.f, 3.f}) {
        r.await();
        REQUIRE(r.job().state == KERNEL_JOB_DONE);
        CHECK(r.sums_are_right(what, factor));
        std::vector<float> b = what.b;
        for (auto& x : b) x *= factor + 1;
        kernel_job_buffer second;
        r.p->read_memory(0, r.disk + what.job.buffers + sizeof second, &second, sizeof second);
        r.p->write_memory(0, r.disk + second.contents, b.data(), addition::bytes);
        const std::uint32_t next = factor == 3 ? KERNEL_JOB_EXIT : KERNEL_JOB_READY;
        r.p->write_memory(0, r.disk + offsetof(kernel_job, state), &next, 4);
    }
    r.go();
    CHECK(r.result.outcome == run_outcome::power_off);
    CHECK(r.result.guest_status == 0);
}

TEST_CASE("a kernel that goes wrong tells its fault", "[kernel_job_fault]") {
    addition what("bad", "load");  // lane 3 loads from 0x1000
    const std::uint64_t arguments[] = {0x1000, 3};
    what.job.buffer_count = 0;
    what.put(what.job.arguments, arguments, sizeof arguments);
    run r(what);
    r.expect(KERNEL_JOB_FAULT);
    CHECK(r.job().fault == GPU_FAULT_BAD_APERTURE);
    CHECK(r.output().find("gpu0: a kernel ended with 'bad aperture'") != std::string::npos);
}

TEST_CASE("jobs that cannot be run are refused in one line each", "[kernel_job_malformed]") {
    const struct {
        const char* says;
        void (*corrupt)(kernel_job&);
    } all[] = {
        {"its arguments are too long", [](kernel_job& j) { j.argument_bytes = 4097; }},
        {"its table of buffers does not fit", [](kernel_job& j) { j.buffers = ~std::uint64_t{7}; }},
        {"its table of buffers does not fit", [](kernel_job& j) { j.buffer_count = 65; }},
        {"its ELF file does not fit", [](kernel_job& j) { j.elf_bytes = ~std::uint64_t{0}; }},
        {"its ELF file is no kernel image", [](kernel_job& j) { j.elf += 8, j.elf_bytes -= 8; }},
        {"no such kernel in its ELF file", [](kernel_job& j) { ++j.kernel; }},
        {"the kernel's name does not end", [](kernel_job& j) { j.kernel = j.bytes; }},
        {"there is no such stream", [](kernel_job& j) { j.stream = KERNEL_JOB_STREAMS; }},
        {"there is no such placement or dispatch policy", [](kernel_job& j) { j.placement = 4; }},
        {"there is no such placement or dispatch policy", [](kernel_job& j) { j.dispatch = 4; }},
        {"there is no such GPU", [](kernel_job& j) { j.gpu = 1; }},
        {"a size of its grid is 0 or too large", [](kernel_job& j) { j.items[2] = 0; }},
        {"a size of its grid is 0 or too large", [](kernel_job& j) { j.group[1] = 0x10001; }},
        {"its work-groups are too large", [](kernel_job& j) { j.group[0] = 1024, j.group[1] = 2; }},
        {"a buffer's address is no argument", [](kernel_job& j) { j.argument_bytes = 16; }},
        {"the kernel takes 32 bytes of arguments, not 24", [](kernel_job& j) { j.argument_bytes = 24; }},
    };
    addition what;
    what.job.flags = KERNEL_JOB_WAIT_FOR_NEXT;
    run r(what);
    r.await();
    REQUIRE(r.job().state == KERNEL_JOB_DONE);
    for (const auto& one : all) {
        auto job = what.job;
        one.corrupt(job);
        const auto said = r.output().size();
        r.p->write_memory(0, r.disk, &job, sizeof job);
        r.await();
        CHECK(r.job().state == KERNEL_JOB_MALFORMED);
        CHECK(r.output().substr(said) == std::string("kernel job: ") + one.says + "\r\n");
    }
    for (const auto& [row, pitch] : {std::pair{8u, std::uint64_t{0}}, {1u, (std::uint64_t{1} << 40) + 1}}) {
        kernel_job_buffer sound, b;
        r.p->read_memory(0, r.disk + what.job.buffers, &sound, sizeof sound);
        (b = sound).row = row;
        b.pitch = pitch;
        const auto said = r.output().size();
        r.p->write_memory(0, r.disk + what.job.buffers, &b, sizeof b);
        r.p->write_memory(0, r.disk, &what.job, sizeof what.job);
        r.await();
        CHECK(r.job().state == KERNEL_JOB_MALFORMED);
        CHECK(r.output().substr(said) == "kernel job: a buffer's locality does not exist\r\n");
        r.p->write_memory(0, r.disk + what.job.buffers, &sound, sizeof sound);
    }
    r.p->write_memory(0, r.disk, &what.job, sizeof what.job);
    r.await();
    CHECK(r.job().state == KERNEL_JOB_DONE);
    auto job = what.job;
    job.magic ^= 1;
    r.p->write_memory(0, r.disk, &job, sizeof job);
    r.expect(KERNEL_JOB_MALFORMED);
    CHECK(r.output().find("kernel job: its header is malformed") != std::string::npos);
}
