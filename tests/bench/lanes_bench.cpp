// SPDX-License-Identifier: Apache-2.0
// Wavefront-instructions a second of processor time on a GPU with 64 compute units, caches, TLBs and HBM modelled. The
// first argument is the folder of kernel images. Prints one JSON object: instructions a second by kernel.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <elf.h>
#include <systemc>

#include "abi/kernel_descriptor.h"
#include "gpu/lanes/dispatcher.h"
#include "gpu/memory/gpu_memory_system.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

constexpr std::uint64_t image = GPU_GLOBAL_BASE, arguments = image + (2 << 20), data = image + (4 << 20),
                        mapped = 64 << 20;

struct machine : dispatch_client {
    calendar timeline;
    clock_domain clock{frequency{1'000'000'000}};
    gpu_memory_system memory{"memory", {}, 0, clock, 64};
    gpu::dispatcher dispatcher{"dispatcher", {}, clock};
    std::vector<std::unique_ptr<instruction_cache>> code;
    std::vector<std::unique_ptr<compute_unit>> units;
    bool faulted = false;

    machine() {
        dispatcher.set_client(*this);
        dispatcher.read_code = [this](std::uint32_t space, std::uint64_t address, void* to, std::size_t size) {
            return memory.debug_read(space, address, to, size);
        };
        for (unsigned i = 0; i < 64; ++i) {
            if (i % 4 == 0) {
                code.push_back(std::make_unique<instruction_cache>(("code" + std::to_string(i / 4)).c_str(),
                                                                   instruction_cache_params{}, clock, memory.l2_tlb,
                                                                   memory.router));
                dispatcher.attach(*code.back());
            }
            const compute_unit_wiring to{clock, 0, i, *memory.units[i], *code.back(), dispatcher.listener()};
            units.push_back(
                std::make_unique<compute_unit>(("unit" + std::to_string(i)).c_str(), compute_unit_params{}, to));
            dispatcher.attach(*units.back());
        }
        // One table of each level; large pages, virtual address = offset + GPU_GLOBAL_BASE.
        const auto base = std::uint64_t{memory.router.where()} << GPU_PA_APERTURE_SHIFT;
        const auto tables = mapped;
        const auto entry = [&](std::uint64_t table, std::uint64_t index, std::uint64_t physical, unsigned flags) {
            const std::uint64_t e = (physical >> 12) << GPU_PTE_PPN_SHIFT | flags | GPU_PTE_VALID;
            memory.memory.bytes.write(table + index * 8, &e, 8);
        };
        entry(tables, 0, base + tables + 0x1000, 0);
        entry(tables + 0x1000, GPU_GLOBAL_BASE >> 30, base + tables + 0x2000, 0);
        for (std::uint64_t n = 0; n < mapped >> 21; ++n)
            entry(tables + 0x2000, n, base + (n << 21), GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_EXECUTE);
        memory.gmmu.set_root(1, base + tables);
    }
    void write(std::uint64_t address, const void* from, std::size_t size) {
        memory.memory.bytes.write(address - image, from, size);
    }

    void load(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> contents{std::istreambuf_iterator<char>(file), {}};
        Elf64_Ehdr header{};
        if (contents.size() < sizeof header) throw std::runtime_error("cannot read " + path);
        std::memcpy(&header, contents.data(), sizeof header);
        for (unsigned i = 0; i < header.e_phnum; ++i) {
            Elf64_Phdr segment;
            std::memcpy(&segment, contents.data() + header.e_phoff + i * sizeof segment, sizeof segment);
            if (segment.p_type == PT_LOAD)
                write(image + segment.p_vaddr - GPU_CODE_BASE, contents.data() + segment.p_offset, segment.p_filesz);
        }
    }
    kernel_descriptor find(const std::string& name) {
        for (std::uint64_t offset = 0;; offset += sizeof(kernel_descriptor)) {
            kernel_descriptor d;
            memory.memory.bytes.read(offset, &d, sizeof d);
            if (d.magic != KERNEL_DESCRIPTOR_MAGIC) throw std::runtime_error("no kernel " + name);
            if (name == d.name) return d;
        }
    }
    std::uint64_t instructions() const {
        std::uint64_t n = 0;
        for (const auto& u : units) n += u->wavefront_instructions.value();
        return n;
    }
    void dispatch_done(const dispatch_run& run) override {
        faulted = run.aborted;
        timeline.stop();
    }

    /// Wavefront-instructions a second.
    double measure(const std::string& name, std::uint32_t groups, std::uint32_t iterations) {
        const struct {
            std::uint64_t out;
            std::uint32_t iterations;
        } values{data, iterations};
        write(arguments, &values, sizeof values);
        const auto d = find(name);
        dispatch what;
        what.image = image;
        what.entry = d.entry;
        what.kernarg = arguments;
        what.grid = {groups * 256, 1, 1};
        what.group = {256, 1, 1};
        what.lds_bytes = d.lds_bytes;
        what.address_space = 1;
        if (const char* why = dispatcher.rejection_reason(what)) throw std::runtime_error(why);
        const auto before = instructions();
        const auto begin = std::clock();  // of this process: other load does not count
        dispatcher.submit(what);
        timeline.run_until(never - 1);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        if (dispatcher.in_flight() || faulted) throw std::runtime_error(name + " did not end well");
        return static_cast<double>(instructions() - before) / seconds;
    }
};

}  // namespace

int sc_main(int argc, char** argv) {
    if (argc < 2) return 2;
    machine m;
    m.load(std::string(argv[1]) + "/bench_lanes.elf");
    std::printf("{\"operations\": \"%s\"", lane_operations::best().name);
    const struct {
        const char* name;
        std::uint32_t groups, iterations;
    } runs[] = {{"alu", 256, 500}, {"divergent", 256, 200}, {"local", 256, 200}, {"stream", 256, 64}};
    for (const auto& r : runs) {
        if (argc > 2 && std::string(argv[2]) != r.name) continue;
        std::printf(", \"%s_wavefront_instructions_per_s\": %.0f", r.name, m.measure(r.name, r.groups, r.iterations));
        std::fflush(stdout);
    }
    std::printf("}\n");
    return 0;
}
