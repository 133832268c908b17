// SPDX-License-Identifier: Apache-2.0
// A whole GPU core with page tables, which runs kernels for a test in the place of its command processor: run().
// Before, launches are those of the processor's registers.
#pragma once

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "abi/kernel_descriptor.h"
#include "gpu/gpu_core.h"
#include "kernel_file.h"

namespace fabricvp::test {

using namespace fabricvp::gpu;

/// Virtual address = GPU_GLOBAL_BASE + offset in device memory. The kernel image lies at offset 0, arguments at 1 MiB,
/// and from `data` on there is room; page tables lie behind everything that is mapped.
class core_bench final : public model, private dispatch_client {
public:
    static constexpr std::uint64_t image = GPU_GLOBAL_BASE, arguments = image + (1 << 20), data = image + (2 << 20);

    gpu_core core;

    /// \param mapped bytes, a multiple of 2 MiB \param small pages of 4 KiB from `data` on
    core_bench(const sc_core::sc_module_name& name, const gpu_core_params& p, std::uint64_t mapped, bool small = false)
        : model(name), core(*this, p, 0) {
        const std::uint64_t here = std::uint64_t{core.router().where()} << GPU_PA_APERTURE_SHIFT;
        std::uint64_t next = mapped;
        const auto table = [&] { return (next += 4096) - 4096; };
        const auto entry = [&](std::uint64_t at, std::uint64_t index, std::uint64_t to, unsigned flags) {
            const std::uint64_t e = ((here | to) >> 12) << GPU_PTE_PPN_SHIFT | flags | GPU_PTE_VALID;
            write_memory(at + index * 8, &e, 8);
        };
        constexpr unsigned all = GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_EXECUTE;
        const auto root = table(), third = table(), second = table();
        entry(root, 0, third, 0);
        entry(third, GPU_GLOBAL_BASE >> 30, second, 0);
        for (std::uint64_t n = 0; n < mapped >> 21; ++n) {
            if (!small || n == 0) {
                entry(second, n, n << 21, all);
                continue;
            }
            const auto first = table();
            entry(second, n, first, 0);
            for (std::uint64_t page = 0; page < 512; ++page) entry(first, page, n << 21 | page << 12, all);
        }
        m_root = here | root;
        m_second = second;
        set_root();
    }

    /// After a reset of the core.
    void set_root() { core.memory.gmmu.set_root(1, m_root); }

    /// Maps the 2 MiB at `offset` to memory anywhere.
    void map(std::uint64_t offset, std::uint64_t physical) {
        const std::uint64_t e = (physical >> 12) << GPU_PTE_PPN_SHIFT | GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_VALID;
        write_memory(m_second + (offset >> 21) * 8, &e, 8);
    }

    void load(const std::string& path) {
        load_kernel(path, [this](std::uint64_t offset, const void* bytes, std::size_t size) {
            write_memory(offset, bytes, size);
        });
    }
    template <class T>
    void poke(std::uint64_t address, const T& value) {
        write_memory(address - image, &value, sizeof value);
    }
    template <class T>
    T peek(std::uint64_t address) {
        T value;
        core.memory.memory.bytes.read(address - image, &value, sizeof value);
        return value;
    }

    /// Runs a kernel to its end. \returns how long it took
    template <class Arguments>
    ticks run(const std::string& kernel, const Arguments& values, std::uint32_t items, std::uint32_t group) {
        poke(arguments, values);
        kernel_descriptor d;
        for (std::uint64_t offset = 0;; offset += sizeof d) {
            d = peek<kernel_descriptor>(image + offset);
            INFO("kernel " << kernel);
            REQUIRE(d.magic == KERNEL_DESCRIPTOR_MAGIC);
            if (kernel == d.name) break;
        }
        dispatch what;
        what.image = image;
        what.entry = d.entry;
        what.kernarg = arguments;
        what.lds_bytes = d.lds_bytes;
        what.grid = {items, 1, 1};
        what.group = {group, 1, 1};
        what.address_space = 1;
        REQUIRE(core.dispatcher.rejection_reason(what) == nullptr);
        core.dispatcher.set_client(*this);
        auto& cal = calendar::current();
        const ticks begin = cal.now();
        m_done = false;
        core.dispatcher.submit(what);
        cal.run_until(begin + 100'000'000'000);
        REQUIRE(m_done);
        REQUIRE(!m_run.aborted);
        const ticks end = m_end;
        cal.run_until(end + 1'000'000);  // what comes after the last store
        return end - begin;
    }

private:
    void write_memory(std::uint64_t offset, const void* from, std::size_t size) {
        core.memory.memory.bytes.write(offset, from, size);
    }
    void dispatch_done(const dispatch_run& run) override {
        m_run = run;
        m_done = true;
        m_end = calendar::current().now();
        calendar::current().stop();
    }
    std::uint64_t m_root = 0, m_second = 0;  // page tables: where the first is, and that of the second level
    dispatch_run m_run;
    bool m_done = false;
    ticks m_end = 0;
};

}  // namespace fabricvp::test
