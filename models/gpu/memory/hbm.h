// SPDX-License-Identifier: Apache-2.0
// Timing of high-bandwidth memory, in closed form: an access asks once and learns when its data have passed. A channel
// has a data bus and banks with one open row each. Its controller is taken for a good one, with a window of requests to
// choose from: banks prepare rows while others transfer (the bus loses nothing to a bank that is not ready), and a
// request for the row that a bank has just closed, made before it was closed, is served before that closing. A refresh
// stops its channel and closes all rows there; channels refresh in turns. Not modelled: write recovery and
// read-to-write turn-around.
#pragma once

#include <vector>

#include "base/busy_time.h"
#include "base/clock_domain.h"
#include "base/large_pages.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/spans.h"
#include "base/statistics.h"
#include "gpu/memory/interleaving.h"
#include "gpu/memory/memory_errors.h"

namespace fabricvp::gpu {

struct hbm_params {
    std::uint64_t channels = 16;
    frequency clock{500'000'000};
    std::uint64_t bus_bytes = 16;    ///< a transfer, of which there are two a clock
    std::uint64_t burst_length = 4;  ///< transfers
    std::uint64_t banks = 16;        ///< a channel
    byte_size row{2048};
    byte_size interleave{128};     ///< bytes after which the next channel takes over
    bool hashed = false;           ///< see interleaving
    cycles column_latency{7};      ///< tCL
    cycles row_to_column{7};       ///< tRCD
    cycles row_precharge{7};       ///< tRP
    cycles row_active{17};         ///< tRAS
    duration refresh_interval{0};  ///< tREFI; 0: no refresh
    duration refresh_time{0};      ///< tRFC
    bool ecc = false;              ///< see memory_errors
    cycles ecc_latency{1};         ///< of a read with ECC
    void describe(parameter_visitor& v);
};

class hbm final : public model {
public:
    const hbm_params params;

    counter reads{*this, "reads", "1", "lines read"};
    counter writes{*this, "writes", "1", "lines written"};
    counter bytes{*this, "bytes", "B", "bytes transferred"};
    counter row_hits{*this, "row_hits", "1", "accesses to an open row"};
    counter row_opens{*this, "row_opens", "1", "accesses to a bank without an open row"};
    counter row_conflicts{*this, "row_conflicts", "1", "accesses for which another row had to be closed"};
    memory_errors errors{*this, params.ecc};
    busy_time busy;
    time_series load{*this, "load", "B", "bytes transferred in each window"};

    /// \throws std::invalid_argument if sizes are no powers of two or a row is shorter than the interleave
    hbm(const sc_core::sc_module_name& name, const hbm_params& params);

    /// Transfers the line at `address` (an offset in the memory), asked for at `at`.
    /// \returns when the last byte of it has passed the bus
    ticks access(std::uint64_t address, bool write, ticks at);

    /// Of the last access: how long it would have taken without any other access, in the row's present state.
    ticks last_service() const { return m_last_service; }
    span_stage access_span{*this, "access"};

    /// Bytes a second of all channels together.
    double peak() const;
    /// Time of one line on a data bus.
    ticks line_time() const { return m_burst; }
    std::uint64_t channel_of(std::uint64_t address) const { return m_interleaving.unit_of(address); }

    void reset() override;

private:
    static constexpr std::uint64_t closed = ~std::uint64_t{0};
    struct bank {
        std::uint64_t row = closed, previous_row = closed;
        ticks activated = 0;
        ticks ready = 0;           // for the next column command
        ticks previous_until = 0;  // when the row before this one was closed
    };

    ticks column_command(bank& b, std::uint64_t row, ticks at);
    /// How long ago the channel's last refresh began. Channels begin theirs at even distances.
    ticks since_refresh(std::uint64_t channel, ticks at) const {
        return (at + params.refresh_interval - m_refresh_phase * channel) % params.refresh_interval;
    }
    ticks after_refresh(std::uint64_t channel, ticks at) const {
        if (!params.refresh_interval) return at;
        const ticks since = since_refresh(channel, at);
        return since < params.refresh_time ? at + params.refresh_time - since : at;
    }
    void close_refreshed(bank& b, std::uint64_t channel, ticks at) const;

    interleaving m_interleaving;
    unsigned m_interleave_bits = 0, m_row_bits = 0, m_bank_bits = 0;  // all are powers of two
    ticks m_read_latency;                                             // of ECC
    ticks m_cl, m_rcd, m_rp, m_ras, m_burst;
    ticks m_refresh_phase;  // from one channel's refresh to the next one's
    ticks m_last_service = 0;
    large_page_vector<ticks> m_bus;   // by channel: when what is waiting will have passed
    large_page_vector<bank> m_banks;  // by channel, then bank
};

}  // namespace fabricvp::gpu
