// SPDX-License-Identifier: Apache-2.0
// What travels through a GPU's memory system. A wavefront's memory instruction is a vector_access (64 lanes, virtual
// addresses). The coalescer turns it into line requests (physical lines of 64 bytes, sectors of 16), and those end at
// the point of coherence of the line: the L2 of the GPU whose memory it is, or the host.
#pragma once

#include <array>
#include <cstdint>

#include "abi/gpu_apertures.h"
#include "abi/gpu_isa.h"
#include "base/large_pages.h"
#include "base/line_operation.h"
#include "base/pool.h"
#include "base/spans.h"
#include "base/time.h"
#include "gpu/memory/line_request_timer.h"

namespace fabricvp::gpu {

inline constexpr unsigned wavefront_lanes = 64;
inline constexpr unsigned line_bytes = 64;
inline constexpr unsigned sector_bytes = 16;
inline constexpr unsigned line_sectors = line_bytes / sector_bytes;
using lane_mask = std::uint64_t;

/// Why a lane's access failed; the first is no fault.
enum class memory_fault : std::uint8_t {
    none,
    unmapped,
    read_only,
    not_executable,
    misaligned,
    bad_aperture,
    bus_error,
    poisoned
};

class vector_access;

/// Who issues vector accesses (a compute unit).
class access_client {
public:
    /// The access is finished: data[] of the lanes in `mask` are valid from `ready` on (>= now()), or `fault` says why
    /// not. For stores: every byte has reached its point of coherence.
    virtual void access_done(vector_access& access, ticks ready) = 0;
    /// vector_memory::can_issue() is true again.
    virtual void space_available() = 0;

protected:
    ~access_client() = default;
};

/// One memory instruction of one wavefront. Every lane's address is naturally aligned to its size.
class vector_access : public pooled<vector_access>, public memory_operation, public on_large_pages {
public:
    // What each of its lines needs lies in one line of the host.
    bool constant = false;  ///< read-only apertures (code, kernel arguments): the scalar cache serves it
    bool scratch = false;   ///< lanes' private memory, counted apart
    bool sequence = false;  ///< the memory system's own: each lane's element lies behind that of the lane before
    memory_fault fault = memory_fault::none;
    std::uint32_t address_space = 0;
    lane_mask mask = 0;
    std::uint64_t pc = 0;  ///< for faults and traces
    access_client* client = nullptr;
    std::uint32_t wavefront = 0;  ///< the client's own: which wavefront (also the owner of reservations)
    std::uint32_t cookie = 0;     ///< the client's own: destination register and so on
    alignas(64) std::array<std::uint64_t, wavefront_lanes> address;  ///< global virtual addresses
    /// In: what to store, the operand of an atomic. Out: what was loaded, zero-extended; for store_conditional 0 or 1
    /// as sc.
    std::array<std::uint64_t, wavefront_lanes> data;

    lane_mask faulted = 0;
    std::uint64_t serial = 0;  ///< the client's own
    ticks issued = 0;
    void* observer_context = nullptr;  ///< the memory_observer's own; null: not observed
    span_list spans;

    void recycle() {
        mask = faulted = 0;
        fault = memory_fault::none;
        scope = memory_scope::plain;
        constant = scratch = false;
        client = nullptr;
        observer_context = nullptr;
        if (span_recorder::was_on()) spans.clear();
    }
};
using vector_access_ptr = pooled_ptr<vector_access>;

class line_request;

/// Owners of requests, in the low half of line_operation::owner: lanes, and from here on harts of the command
/// processor.
inline constexpr std::uint32_t first_hart_owner = 0xffff'0000;
constexpr bool is_lane(std::uint64_t owner) { return static_cast<std::uint32_t>(owner) < first_hart_owner; }

/// Who sends line requests and hears their responses.
class line_client {
public:
    /// At the time the response arrives. The request's data are valid for reads (sectors of `valid_sectors`) and
    /// atomics.
    virtual void line_done(line_request& request) = 0;

protected:
    ~line_client() = default;
};

/// A number behind which its class has room.
struct observed {
    std::uint32_t observer_id = 0;  ///< the memory_observer's own; 0: not observed
};

/// One access to (part of) one line at its point of coherence.
///
/// Thousands are under way, so each block finds a request far from the host's processor. What a plain read or write
/// needs lies in three lines of the host, its data in the fourth; the calendar prefetches these with the timer.
class line_request : public pooled<line_request>,
                     public observed,
                     public line_request_timer,  // of the block that the request is in
                     public line_operation,
                     public on_large_pages {
public:
    ~line_request();

    bool page_table = false;  ///< a page-table walk's read
    memory_fault fault = memory_fault::none;
    std::uint8_t valid_sectors = 0;  ///< of the response; all unless a trimmer cut it
    bool exact = false;       ///< reads: of a device's register, so no byte but those of `byte_mask` is asked for
    bool succeeded = false;   ///< store_conditional, lock
    bool committed = false;   ///< a write whose bytes are in memory already: it takes its time only
    bool at_service = false;  ///< a write that commits when the bank gets to it, not when it arrives there
    line_client* client = nullptr;
    std::uint64_t cookie = 0;  ///< the client's own
    void* context = nullptr;   ///< the client's own
    ticks issued = 0;
    alignas(64) std::array<std::uint8_t, line_bytes> data;
    span_list spans;
    ticks done = 0;  ///< the bank's own: when a write that waits to commit is to be answered

    void recycle() {
        set_operation(line_operation());
        page_table = succeeded = committed = exact = at_service = false;
        fault = memory_fault::none;
        valid_sectors = 0;
        observer_id = 0;
        client = nullptr;
        context = nullptr;
        if (span_recorder::was_on()) spans.clear();
    }

private:
    friend class line_request_scheduler;
    line_request_links m_links;
};
static_assert(sizeof(line_request) == 320, "three lines of the host, the data's, and one that is seldom touched");
using line_request_ptr = pooled_ptr<line_request>;

/// Where line requests are sent: a router, a cache bank, the fabric port, the PCIe side.
class line_target {
public:
    /// Takes the request at the present time; its client hears line_done() later, never inside this call.
    virtual void send(const line_request_ptr& request) = 0;

protected:
    ~line_target() = default;
};

constexpr unsigned where(std::uint64_t physical) { return static_cast<unsigned>(physical >> GPU_PA_APERTURE_SHIFT); }
constexpr std::uint64_t offset_of(std::uint64_t physical) { return physical & GPU_PA_OFFSET_MASK; }

}  // namespace fabricvp::gpu
