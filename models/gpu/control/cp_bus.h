// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "base/bus.h"
#include "base/parameters.h"
#include "base/registers.h"
#include "base/sparse_memory.h"
#include "base/statistics.h"
#include "gpu/control/cp_data_cache.h"
#include "gpu/memory/l2_tlb.h"
#include "gpu/memory/memory_router.h"
#include "gpu/memory/tlb_entries.h"
#include "riscv/memory_order.h"

namespace fabricvp::gpu {

struct cp_bus_params {
    duration register_latency{10'000};
    duration memory_latency{2'000};  ///< of the processor's own memory, when reached over the bus
    std::uint64_t tlb = 32;          ///< translations that a hart holds
    cp_data_cache_params data_cache;
    void describe(parameter_visitor& v);
};

/// Reads or writes bytes at a physical address for a debugger. \returns false if nothing is there
using debug_memory = std::function<bool(std::uint64_t physical, void* data, std::size_t size, bool write)>;

class queue_log;

/// What the bus of a hart leads to.
struct cp_bus_wiring {
    const clock_domain& clock;  ///< of the hart
    sparse_memory& local;       ///< the processor's own memory
    register_bank& registers;
    memory_router& router;
    l2_tlb& translations;
    std::uint64_t owner;  ///< of the hart's reservations: a number unique in the node
    debug_memory debug;
};

/// Everything that one hart of a command processor reaches beyond its own memory: registers, the GPU's L2 through a
/// data cache, memory of other GPUs and of the host (not cached, unless an APU shares it: its L2 serves it then), and
/// the address space of kernels (abi/gpu_apertures.h). One access at a time, but for stores that L2 serves, which the
/// hart does not wait for.
/// The cache is not coherent: a fence whose successors include reads empties it, one whose predecessors include
/// writes waits until stores have arrived at L2; .aq and .rl of atomics do the same. Atomics themselves are performed
/// at L2.
class cp_bus final : public bus_target, private line_client, private page_client {
public:
    const cp_bus_params params;

    counter line_accesses{*this, "line_accesses", "1", "accesses to GPU or host memory"};
    counter register_accesses{*this, "register_accesses", "1", "accesses to registers"};
    counter tlb_misses{*this, "tlb_misses", "1", "pages asked for at the GPU's shared TLB"};
    counter errors{*this, "errors", "1", "accesses that no target answered"};
    histogram latency{*this, "latency", "ps", "of accesses to GPU or host memory"};

    cp_bus(const sc_core::sc_module_name& name, const cp_bus_params& params, const cp_bus_wiring& to);

    cp_data_cache data_cache;

    /// Whose tables the virtual aperture uses.
    std::uint32_t address_space = 0;
    /// Why the last access that failed did.
    memory_fault last_fault = memory_fault::none;
    /// Forgets translations of an address space.
    void invalidate_translations(std::uint32_t space);

    /// Hears of accesses to kernels' address spaces while it is open; null: nothing does.
    queue_log* log = nullptr;
    unsigned hart = 0;  ///< its number, for the log

    /// Offsets and sizes of the accesses to registers, for audits; off at first.
    void record_touched(bool on) { m_recording = on; }
    const std::set<std::pair<std::uint64_t, unsigned>>& touched() const { return m_touched; }

    void reset() override;

private:
    enum class waits_for : std::uint8_t { nothing, store_slot, stores };

    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
    void line_done(line_request& request) override;
    void page_translated(std::uint32_t space, std::uint64_t page, const translation& t, std::uint64_t cookie) override;

    bool access_local(bus_payload& payload, std::uint64_t offset, ticks& latency);
    void next_chunk();
    void found(const translation& t);
    void reach(std::uint64_t physical, bool cached);
    void send(access_kind kind, unsigned sectors);
    void post();
    void stores_ended();
    void chunk_done();
    void finish(memory_fault fault);
    void tell(const bus_payload& payload);
    void respond();
    std::uint8_t* bytes() const { return m_payload->get_data_ptr() + m_done; }

    sparse_memory& m_local;
    register_bank& m_registers;
    memory_router& m_memory;
    l2_tlb& m_translations;
    tlb_entries m_tlb;
    std::uint64_t m_owner;
    debug_memory m_debug;
    pool<line_request> m_lines;

    bus_payload* m_payload = nullptr;     // under way
    bus_payload* m_completing = nullptr;  // to be completed by m_respond
    atomic_extension* m_atomic = nullptr;
    riscv::order_extension m_order;  // what it asks for
    unsigned m_done = 0;             // bytes of it
    unsigned m_chunk = 0;            // bytes of the present line
    std::uint64_t m_physical = 0;    // of the piece
    ticks m_begin = 0, m_waiting_since = 0;
    ticks m_elapsed = 0;    // that the access has taken beyond now()
    bool m_inside = false;  // of access()
    bool m_fills = false;   // the response goes into the cache
    bool m_posts = false;   // the hart does not wait for it
    waits_for m_waits = waits_for::nothing;
    std::uint64_t m_stores = 0;  // on their way
    span_list m_spans;
    bool m_recording = false;
    std::set<std::pair<std::uint64_t, unsigned>> m_touched;
    std::uint64_t m_epoch = 0;       // answers to what a reset has dropped are recognised by it
    std::uint32_t m_generation = 0;  // of translations
    calendar_event m_respond{method<&cp_bus::respond>, this};
};

}  // namespace fabricvp::gpu
