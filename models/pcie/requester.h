// SPDX-License-Identifier: Apache-2.0
// The requesting side of a device: splits reads and writes into TLPs, counts the bytes of completions, and times out.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "base/model.h"
#include "base/parameters.h"
#include "base/slot_table.h"
#include "base/statistics.h"
#include "pcie/tlp.h"

namespace fabricvp::pcie {

struct requester_params {
    std::uint64_t tags = 256;  ///< reads and atomics under way at once
    duration completion_timeout{10'000'000'000};
    void describe(parameter_visitor& v);
};

/// How a request ended.
enum class request_status : std::uint8_t {
    ok,
    unsupported_request,
    completer_abort,
    timeout,
    poisoned,
    configuration_retry
};

class requester final : public model {
public:
    const requester_params params;

    counter reads{*this, "reads", "1",
                  "requests that await a completion: reads, atomics and those of configuration (TLPs)"};
    counter writes{*this, "writes", "1", "posted writes (TLPs)"};
    counter timeouts{*this, "timeouts", "1", "requests without completion in time"};
    counter late{*this, "late_completions", "1", "completions of requests that were given up"};
    counter unexpected{*this, "unexpected_completions", "1", "completions that no request waits for"};
    counter refused{*this, "refused", "1", "memory requests that the function may not make (Bus Master Enable)"};
    histogram read_latency{*this, "read_latency", "ps", "from the request to the last byte of its completions"};

    using transmit = std::function<void(const tlp_ptr&)>;
    using done = std::function<void(request_status)>;

    span_stage tag_span{*this, "tag"};  ///< until one of the tags is free

    /// \param send takes TLPs to the port, in order
    requester(const sc_core::sc_module_name& name, const requester_params& params, transmit send);

    /// Called for each request that times out, with its TLP's address (for error reporting).
    std::function<void(tlp_kind kind, std::uint64_t address)> on_timeout;

    /// Set by the function's configuration: requester ID, and the limits that software chose (bytes).
    std::uint16_t id = 0;
    std::uint32_t max_payload = 128;
    std::uint32_t max_read_request = 512;
    bool relaxed_ordering = false;
    /// Whether software lets the function make memory requests (Bus Master Enable); null: always. Where it does not,
    /// writes are dropped, and reads and atomics end as unsupported requests, those that wait for a tag included.
    std::function<bool()> allowed;

    /// Reads `into.length` bytes. `finished` is called once, when all have arrived or the first error is known.
    void read(std::uint64_t address, const buffer_slice& into, done finished);
    /// Writes a slice, which must not change until it has left. Posted: its arrival is not reported.
    void write(std::uint64_t address, const buffer_slice& from, bool poisoned = false);
    /// The same for the last write of something whose spans are `before`, in one TLP.
    void write_last(std::uint64_t address, const buffer_slice& from, const parent_access& of, const span_trail& before);
    /// FetchAdd, Swap (operand) or CAS (compare, then operand) of 4 or 8 bytes; the old value lands in `result`.
    void atomic(tlp_kind kind, std::uint64_t address, unsigned bytes, std::uint64_t operand, std::uint64_t compare,
                const buffer_slice& result, done finished);

    /// Reads or writes configuration space, 1, 2 or 4 bytes inside a double word. \param ecam_offset bus << 20 |
    /// device << 15 | function << 12 | register. A read without a completion leaves all ones.
    void configuration(std::uint64_t ecam_offset, bool write, const buffer_slice& data, done finished);

    /// A completion has arrived. \returns false if no request waits for it
    bool complete(tlp& completion);

    /// Reads under way plus those that wait for a tag.
    std::size_t outstanding() const { return m_busy + m_waiting.size(); }

    /// Drops all requests without calling back. Their tags rest until their completions have come, or would have timed
    /// out.
    void abandon();
    /// Power-on: nothing of before can arrive any more.
    void reset() override;

private:
    struct operation {  // what the caller asked for; may take several TLPs
        done finished;
        std::uint32_t tlps_left = 0;
        request_status status = request_status::ok;
        ticks begin = 0;
    };
    struct tagged {
        bool used = false;
        bool quarantined = false;  ///< given up: late completions must not meet another request
        std::uint32_t operation = 0;
        buffer_slice into;
        std::uint32_t received = 0;
        std::uint64_t address = 0;
        tlp_kind kind = tlp_kind::memory_read;
        ticks deadline = 0;
    };
    struct waiting {
        tlp_ptr packet;
        std::uint32_t operation;
        buffer_slice into;
    };

    std::uint32_t open_operation(done finished);
    void post(std::uint64_t address, const buffer_slice& from, const tlp_ptr& t);
    void submit(const tlp_ptr& t, std::uint32_t operation, const buffer_slice& into, std::uint8_t enabled = 0);
    void issue_next();
    bool may_request(std::uint64_t address);
    void refuse(done finished);
    void end_refused();
    void end_part(std::uint32_t operation, request_status status);
    void finish_tag(std::size_t tag, request_status status, bool more = false);
    void quarantine(std::size_t tag);
    void free_tag(std::size_t tag);
    void check_deadlines();

    transmit m_send;
    std::vector<tagged> m_tags;
    std::vector<std::uint16_t> m_free_tags;
    slot_table<operation> m_operations;
    std::deque<waiting> m_waiting;  // for a tag
    std::size_t m_busy = 0;
    std::deque<done> m_refused;  // still to be told
    calendar_event m_end_refused{method<&requester::end_refused>, this};
    calendar_event m_deadline{method<&requester::check_deadlines>, this};
};

}  // namespace fabricvp::pcie
