// SPDX-License-Identifier: Apache-2.0
// What GPUs sent to each other while kernels ran, with what each transaction waited for, so that it can be played over
// another fabric:
//
//  - transactions: a line of another GPU's memory that was read, written or changed, and how long its home took. A
//  fetch by
//    a first-level cache belongs to all accesses that shared it; the first of them requests it.
//  - walks of page tables: transactions one after the other.
//  - wavefronts: items in program order, each after cycles of its SIMD unit and cycles beside it. An access lists the
//    transactions and walks that it needs; a wait names accesses whose data are used from here on.
//  - the host: launches, and the end of the measured part, each after launches that had ended.
//
// What stays inside of a GPU is part of the cycles, since it does not change with the fabric.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu::replay {

/// From 1 on; 0: none.
using transaction_id = std::uint32_t;
using walk_id = std::uint32_t;

struct transaction {
    std::uint64_t line = 0;
    std::uint32_t service = 0;  ///< cycles that its home took
    std::uint16_t cache = 0;    ///< of a fetch: which first-level cache of its GPU; L1 of each compute unit first
    std::uint8_t gpu = 0;       ///< the requester
    access_kind kind = access_kind::read;
    bool fetch = false;  ///< by a first-level cache, with one of its MSHRs; otherwise past them
    bool page_table = false;
    bool read_critical = false;  ///< of a walk that a load or an instruction fetch waited for
    std::uint8_t sectors = 0xf;  ///< reads: that the requester needs; atomics with a line: that have operands
    std::uint8_t operands = 0;   ///< bytes of an atomic's operands; a line: several, where they belong
    std::uint8_t offset = 0;     ///< of a page-table entry
};

struct walk {
    struct step {
        std::uint32_t delay;  ///< cycles since the step before, or the beginning
        transaction_id read;
    };
    std::uint8_t gpu = 0;
    std::vector<step> steps;
    std::uint32_t tail = 0;  ///< cycles from the last step to the end
};

struct launch {
    std::uint8_t gpu = 0;
    std::uint32_t groups = 0, group_wavefronts = 0;
    std::uint32_t lds_bytes = 0;      ///< of a work-group
    std::uint32_t scratch_areas = 0;  ///< wavefronts that find scratch memory at a time; 0: it uses none
    std::uint32_t lanes = 64;         ///< of a wavefront
};

struct host_event {
    enum class action : std::uint8_t { launch, end };
    action what = action::launch;
    std::uint32_t number = 0;          ///< of the launch
    std::vector<std::uint32_t> after;  ///< launches that had ended since the event before
    std::uint64_t delay = 0;           ///< picoseconds since then
};

enum class item_kind : std::uint8_t { end, access, wait, loads, everything, barrier };

/// What an access needs of others: first the walk, then the transaction.
struct dependency {
    walk_id walk = 0;
    transaction_id what = 0;
};

struct item {
    item_kind kind = item_kind::end;
    std::uint64_t busy = 0, idle = 0;      ///< cycles since the item before: of the SIMD unit, then beside it
    std::vector<dependency> dependencies;  ///< access
    bool loads = false;                    ///< access: brings data back
    std::uint64_t floor = 0;               ///< access: cycles that its part inside of the GPU takes
    std::vector<std::uint32_t> accesses;   ///< wait: how many accesses ago each of them was issued, the last one is 1
};

/// A wavefront's items, one behind the other in bytes.
struct stream {
    std::uint32_t launch = 0, group = 0, wavefront = 0;
    std::string items;
};

/// What is said about a recording.
struct recording_head {
    static constexpr std::uint32_t version = 1;
    std::string machine;   ///< GPUs with all their parameters, line by line
    std::string software;  ///< what ran
    std::string label;     ///< of the measured part
    ticks time = 0;        ///< how long that took
    std::uint64_t unattributed =
        0;  ///< requests to other GPUs that are not part of it: of instruction caches, command processors
};

class item_writer {
public:
    void write(const item& i);
    std::string& bytes() { return m_bytes; }

private:
    std::string m_bytes;
    std::uint32_t m_transaction = 0, m_walk = 0;
};

class item_reader {
public:
    item_reader() = default;
    explicit item_reader(const std::string& bytes) : m_at(bytes.data()), m_end(m_at + bytes.size()) {}
    bool done() const { return m_at == m_end; }
    /// \throws recording_error
    void read(item& to);

private:
    const char *m_at = nullptr, *m_end = nullptr;
    std::uint32_t m_transaction = 0, m_walk = 0;
};

/// All of it, in memory.
struct recording {
    recording_head head;
    std::vector<transaction> transactions;  ///< [0] is none
    std::vector<walk> walks;                ///< [0] is none
    std::vector<launch> launches;
    std::vector<host_event> host;
    std::vector<stream> streams;

    /// Everything that is referred to is there. \throws recording_error
    void check(unsigned gpus) const;
};

/// Where the GPUs of one of several recordings that are played at a time are: `beside` each other, or GPU n of all of
/// them together, `across` the fabric.
enum class replica_placement { contiguous, interleaved };

/// A recording, and how it is played.
struct replay_params {
    std::shared_ptr<recording> what;
    unsigned gpus = 0;  ///< that it was made with; a multiple of them plays it as many times
    replica_placement placement = replica_placement::contiguous;
    explicit operator bool() const { return what != nullptr; }
};

}  // namespace fabricvp::gpu::replay
