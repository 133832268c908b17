// SPDX-License-Identifier: Apache-2.0
// Compute units and a dispatcher on a memory that answers after random delays, in any order. One bench a process.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "gpu/lanes/dispatcher.h"

namespace fabricvp::gpu {

/// Memory from GPU_GLOBAL_BASE on, virtual = physical. Accesses are performed when they are issued; the responses come
/// late.
class test_memory final : public vector_memory, public translator, public line_target {
public:
    static constexpr std::uint64_t base = GPU_GLOBAL_BASE, size = 64u << 20;

    ticks shortest = 0, longest = 0;  ///< of the delay; both 0: hits, answered inside issue()
    ticks hit_time = 0;               ///< when data of hits are there
    std::size_t depth = 64;           ///< accesses in the queue
    bool other_gpus = false;          ///< on the way to which loads may overtake stores
    std::uint64_t read_only_from = ~std::uint64_t{0};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(size);
    std::vector<access_client*> clients;  ///< called when there is space again
    unsigned invalidations = 0;
    std::uint64_t issued = 0, constants = 0;
    struct event {
        enum { began, ended, emptied } what;  ///< an access, or the caches
        access_kind kind;
        std::uint64_t wavefront;
    };
    std::vector<event> log;

    void restart(unsigned seed);
    template <class T>
    T& at(std::uint64_t address) {
        return *reinterpret_cast<T*>(&bytes[address - base]);
    }

    vector_access_ptr make_access() override { return m_accesses.make(); }
    void issue(const vector_access_ptr& access) override;
    bool can_issue() const override { return m_pending.size() < depth; }
    void invalidate() override {
        ++invalidations;
        log.push_back({event::emptied, access_kind::read, 0});
    }
    bool passes_stores() const override { return other_gpus; }
    bool flush_system(system_fence_client&, std::uint64_t) override { return true; }
    void translate(std::uint32_t space, std::uint64_t page, unsigned access, translation_client& client,
                   std::uint64_t cookie) override;
    void send(const line_request_ptr& request) override;
    std::size_t live() const { return m_accesses.live(); }

private:
    void perform(vector_access& a);
    void later(ticks delay, std::function<void()> what);
    void happen();
    ticks delay() { return shortest + (longest > shortest ? m_random() % (longest - shortest) : 0); }

    pool<vector_access> m_accesses;
    std::map<std::uint64_t, std::uint64_t> m_reservations;  // of a lane: granule
    std::vector<vector_access_ptr> m_pending;
    std::multimap<ticks, std::function<void()>> m_later;
    std::mt19937 m_random;
    calendar_event m_event{method<&test_memory::happen>, this};
};

class lane_bench final : private dispatch_client {
public:
    static constexpr std::uint64_t image = test_memory::base, data = test_memory::base + (1u << 20),
                                   scratch = test_memory::base + (32u << 20), scratch_size = 16u << 20;
    static lane_bench& instance();
    /// Of its compute units, before the first use.
    static compute_unit_params& unit_params();
    /// Everything as at power-on.
    static lane_bench& restart(unsigned seed = 1);

    calendar timeline;
    clock_domain clock{frequency{1'000'000'000}};
    test_memory memory;
    dispatcher_params order;
    dispatcher dispatches;
    instruction_cache code;
    std::vector<std::unique_ptr<compute_unit>> units;
    std::vector<dispatch_run> done;

    /// Puts instruction words to the start of the image.
    void load(const std::vector<std::uint32_t>& words);
    /// Loads a kernel's ELF file; finds a kernel by its name.
    void load_file(const std::string& path);
    dispatch kernel(const std::string& name, std::uint64_t arguments) const;
    /// A dispatch of the words that were loaded.
    static dispatch words(std::uint32_t items, std::uint32_t group = 64);
    /// Runs a dispatch to its end; fails if that takes more than `limit`.
    const dispatch_run& run(const dispatch& what, ticks limit = 100'000'000'000);
    double statistic(const std::string& name) const;

private:
    lane_bench();
    void dispatch_done(const dispatch_run& run) override;
};

}  // namespace fabricvp::gpu
