// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gpu/lanes/wavefront_observer.h"
#include "gpu/memory/observer.h"
#include "gpu/replay/recording_file.h"
#include "gpu/replay/wavefront_record.h"

namespace fabricvp::gpu::replay {

/// Observes all GPUs of a node in the measured part of a run, and writes a recording.
class recorder final : public memory_observer, public dispatch_observer {
public:
    /// \param cycles of each GPU's clock \param caches first-level caches of each GPU \param max_bytes of the file:
    /// when it has so many, no work-group is recorded any more, except the first one of a launch; those that run are
    /// recorded to their ends \throws recording_error
    recorder(const std::string& path, std::vector<ticks> cycles, unsigned caches, std::uint64_t max_bytes);

    /// The measured part begins, and ends.
    void begin(ticks now);
    void end(ticks now, const std::string& label);
    bool began() const { return m_begun != never; }
    bool ended() const { return m_ended; }
    /// Writes the file. \throws recording_error
    void finish(recording_head head);
    std::uint64_t bytes() const { return m_file.bytes(); }
    bool is_full() const { return m_full; }       ///< has come to its limit: later work-groups are left out
    int error() const { return m_file.error(); }  ///< errno of what cannot be written; 0 otherwise
    /// Requests to other GPUs that no access or walk of a recorded wavefront has made.
    std::uint64_t unattributed() const { return m_head.unattributed; }
    std::uint64_t transactions() const { return m_first + m_live.size() - 1; }

    /// dispatch_observer
    void submitted(unsigned gpu, const dispatch_run& run, ticks now) override;
    void finished(unsigned gpu, const dispatch_run& run, ticks now) override;
    /// Null if its launch is not recorded.
    wavefront_observer* started(unsigned gpu, const dispatch_run& run, std::uint32_t number, ticks now) override;

    /// memory_observer
    void translated(unsigned gpu, const vector_access& access, unsigned transaction, std::uint64_t page,
                    ticks now) override;
    void hit(unsigned gpu, unsigned cache, const vector_access& access, unsigned transaction, std::uint64_t line,
             ticks at) override;
    void requested(unsigned gpu, unsigned cache, const vector_access& access, line_request& request) override;
    void waits(const vector_access& access, unsigned transaction, std::uint32_t observer_id) override;
    void completed(vector_access& access, ticks ready) override;
    void code_requested(unsigned gpu, unsigned cache, std::uint64_t line, line_request& request) override;
    void walk_started(const void* walker, ticks now) override;
    void walk_ended(const void* walker, std::uint64_t page, ticks now) override;
    void sent(unsigned gpu, std::uint32_t tag, const line_request& request, std::uint32_t operand_bytes,
              ticks now) override;
    void arrived(unsigned gpu, std::uint32_t tag, ticks now) override;
    void served(unsigned gpu, std::uint32_t tag, ticks now) override;
    void responded(unsigned gpu, std::uint32_t tag, ticks now) override;

    // Records of wavefronts.
    void retired(const stream& s, ticks now);
    /// A wavefront uses a line that a cache has fetched: the fetch, unless it was long ago. 0: none
    transaction_id fetched(unsigned gpu, unsigned cache, std::uint64_t line, const wavefront_record* user, ticks now);
    /// Time of the last response among these transactions.
    ticks last_response(const std::vector<dependency>& dependencies) const;

private:
    static constexpr ticks recent = 50'000'000;  // 50 us: on another fabric it might still be under way
    struct live_transaction : transaction {
        ticks arrived_at = 0, completed = never;
        const void* walker = nullptr;
        bool used = true;  ///< something waits for it
    };
    struct live_walk {
        walk made;
        ticks last = 0;
    };
    struct fetched_line {
        std::uint64_t line = ~std::uint64_t{0};
        transaction_id what = 0;
        const wavefront_record* last_user = nullptr;
    };
    struct found {
        std::uint64_t page = ~std::uint64_t{0};
        walk_id walk = 0;
        ticks when = 0;
    };
    static constexpr std::size_t lines_known = 4096, pages_known = 4096;  // of a cache, of a GPU; powers of two

    void write_first();
    void fill_up();
    void close(ticks now);
    /// \returns 0 if the line is not in another GPU's memory
    transaction_id add_request(unsigned gpu, const line_request& r, bool fetch, unsigned cache,
                               const wavefront_record* user);
    /// A TLB has a page: the walk that found it, unless it was long ago. 0: none
    walk_id walk_of(unsigned gpu, std::uint64_t page, ticks now) const;
    live_transaction* find(transaction_id id) {
        return id >= m_first && id < m_first + m_live.size() ? &m_live[id - m_first] : nullptr;
    }
    transaction_id& tag_of(unsigned gpu, std::uint32_t tag);
    std::uint32_t cycles(unsigned gpu, ticks t) const {
        return static_cast<std::uint32_t>((t + m_cycles[gpu] / 2) / m_cycles[gpu]);
    }
    void note(host_event e, ticks now);
    fetched_line& place_of(unsigned gpu, unsigned cache, std::uint64_t line) {
        return m_fetched_lines[(gpu * m_caches + cache) * lines_known + line / line_bytes % lines_known];
    }

    recording_writer m_file;
    const std::vector<ticks> m_cycles;
    const unsigned m_caches;
    ticks m_begun = never, m_event = 0;
    const std::uint64_t m_max_bytes;
    bool m_recording = false, m_full = false, m_closed = false, m_ended = false;
    std::size_t m_running = 0;  // wavefronts
    struct recorded_groups {
        std::uint32_t number = 0;  // that have begun
        bool open = true;          // the launch has not finished
    };
    std::vector<recorded_groups> m_groups;  // by launch
    recording_head m_head;
    std::deque<live_transaction> m_live;  // from the first one on that has no response
    transaction_id m_first = 1;
    std::vector<std::vector<transaction_id>> m_tags;  // by GPU and tag
    std::unordered_map<const void*, live_walk> m_walks;
    walk_id m_walk_count = 0;
    std::vector<fetched_line> m_fetched_lines;
    std::vector<found> m_found;
    std::vector<launch> m_launches;
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> m_launch_numbers;  // by GPU and number of the run
    std::vector<host_event> m_host;
    std::vector<std::uint32_t> m_finished;  // since the last event of the host
};

}  // namespace fabricvp::gpu::replay
