// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/hbm.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/invalid_parameter.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

namespace {

invalid_parameter invalid_parameter_of(const hbm_params& p) {
    const std::pair<const char*, std::uint64_t> powers[] = {
        {"channels", p.channels}, {"bus_bytes", p.bus_bytes},  {"burst_length", p.burst_length}, {"banks", p.banks},
        {"row", p.row},           {"interleave", p.interleave}};
    for (const auto& [key, n] : powers)
        if (!is_power_of_two(n)) return {key, fmt::format("{} is {}: give a power of two", key, n)};
    if (p.row < p.interleave)
        return {"row",
                fmt::format("row of {} bytes is shorter than the interleave of {}", p.row.bytes, p.interleave.bytes)};
    if (p.refresh_interval && 2 * p.refresh_time > p.refresh_interval)
        return {"refresh_time", "refresh_time is more than half of refresh_interval"};
    return {};
}

const hbm_params& valid(const hbm_params& p) {
    reject("hbm", invalid_parameter_of(p));
    return p;
}

}  // namespace

void hbm_params::describe(parameter_visitor& v) {
    v.field("channels", channels, between{1, 256}, "independent channels; a power of two");
    v.field("clock", clock, between{1e6, 1e11}, "memory clock; data move on both edges");
    v.field("bus_bytes", bus_bytes, between{1, 64}, "width of a channel's data bus in bytes; a power of two");
    v.field("burst_length", burst_length, between{2, 64}, "transfers of one burst; a power of two");
    v.field("banks", banks, between{1, 256}, "banks of a channel, with one open row each; a power of two");
    v.field("row", row, between{64, 1 << 20}, "bytes of a row; a power of two");
    v.field("interleave", interleave, between{64, 1 << 20},
            "bytes after which the next channel takes over; a power of two");
    v.field("hashed", hashed,
            "the channel is chosen by a hash of the address (Rau, ISCA 1991), so that strides of any power of two use "
            "all channels; otherwise channels take turns");
    v.field("column_latency", column_latency, between{1, 1000}, "tCL, column command to first data, in memory clocks");
    v.field("row_to_column", row_to_column, between{0, 1000},
            "tRCD, opening a row to its first column command, in memory clocks");
    v.field("row_precharge", row_precharge, between{0, 1000}, "tRP, closing a row, in memory clocks");
    v.field("row_active", row_active, between{0, 1000}, "tRAS, least time that a row stays open, in memory clocks");
    v.field("refresh_interval", refresh_interval, between{0, 1e9},
            "tREFI, from one refresh of all banks of a channel to the next; 0: no refresh");
    v.field("refresh_time", refresh_time, between{0, 1e9},
            "tRFC, how long such a refresh takes; its channel does nothing else, and rows are closed behind it");
    v.field(
        "ecc", ecc,
        "words of 64 bits have a code that corrects one wrong bit and detects two (SECDED); its bits lie beside the "
        "data, so that it takes no bandwidth");
    v.field("ecc_latency", ecc_latency, between{0, 1000}, "more for a read where there is ECC, in memory clocks");
    reject(v, invalid_parameter_of(*this));
}

hbm::hbm(const sc_core::sc_module_name& name, const hbm_params& p)
    : model(name),
      params(valid(p)),
      busy(*this, "busy", "ps", "time in which data buses transferred, summed over channels", p.channels),
      m_interleaving(p.channels, p.interleave, p.hashed),
      m_bus(p.channels),
      m_banks(p.channels * p.banks) {
    const auto bits = [](std::uint64_t n) { return static_cast<unsigned>(__builtin_ctzll(n)); };
    m_interleave_bits = bits(p.interleave);
    m_row_bits = bits(p.row);
    m_bank_bits = bits(p.banks);
    const clock_domain clock(p.clock);
    m_cl = clock.span(p.column_latency);
    m_rcd = clock.span(p.row_to_column);
    m_rp = clock.span(p.row_precharge);
    m_ras = clock.span(p.row_active);
    m_read_latency = p.ecc ? clock.span(p.ecc_latency) : 0;
    m_refresh_phase = p.refresh_interval / p.channels;
    const std::uint64_t burst_bytes = p.bus_bytes * p.burst_length;
    const std::uint64_t bursts = (line_bytes + burst_bytes - 1) / burst_bytes;
    m_burst = clock.span(bursts * p.burst_length / 2);
}

double hbm::peak() const {
    return static_cast<double>(params.channels) * line_bytes * ticks_per_second / static_cast<double>(m_burst);
}

ticks hbm::column_command(bank& b, std::uint64_t row, ticks at) {
    m_last_service = m_cl + m_burst;
    if (b.row == row) {
        ++row_hits;
        return std::max(at, b.ready);
    }
    if (b.previous_row == row && at <= b.previous_until) {
        ++row_hits;  // served before that row was closed; what came after it moves back by its length
        b.ready += m_burst;
        return at;
    }
    ticks open = std::max(at, b.ready);
    m_last_service += m_rcd;
    if (b.row == closed) {
        ++row_opens;
    } else {
        ++row_conflicts;
        m_last_service += m_rp;
        open = std::max(open, b.activated + m_ras);
        b.previous_until = open;
        open += m_rp;
    }
    b.previous_row = b.row;
    b.row = row;
    b.activated = open;
    b.ready = open + m_rcd;
    return b.ready;
}

/// A refresh has closed the bank's row, unless that will be opened behind it.
void hbm::close_refreshed(bank& b, std::uint64_t channel, ticks at) const {
    const ticks since = since_refresh(channel, at);
    if (b.row == closed || since > at || b.activated >= at - since) return;
    b.row = b.previous_row = closed;
    b.ready = std::max(b.ready, at - since + params.refresh_time);
}

ticks hbm::access(std::uint64_t address, bool write, ticks at) {
    const std::uint64_t channel = channel_of(address);
    const std::uint64_t local =
        m_interleaving.round_of(address) << m_interleave_bits | (address & (params.interleave - 1));
    const std::uint64_t row = local >> m_row_bits;
    // Rows at power-of-two distances would meet in one bank: the upper bits choose it too.
    bank& b =
        m_banks[channel << m_bank_bits | ((row ^ row >> m_bank_bits ^ row >> 2 * m_bank_bits) & (params.banks - 1))];
    if (params.refresh_interval) {
        at = after_refresh(channel, at);
        close_refreshed(b, channel, at);
    }
    const ticks command = after_refresh(channel, column_command(b, row, at));
    b.ready = std::max(b.ready, command + m_burst);
    ticks& bus = m_bus[channel];
    const ticks data = after_refresh(channel, std::max(command + m_cl, bus));
    bus = after_refresh(channel, std::max(bus, at + m_cl)) + m_burst;
    ++(write ? writes : reads);
    bytes += line_bytes;
    busy.book(channel, bus - m_burst, bus);
    load.add(at, line_bytes);
    return data + m_burst + (write ? 0 : m_read_latency);
}

void hbm::reset() {
    busy.drop();
    std::fill(m_bus.begin(), m_bus.end(), 0);
    std::fill(m_banks.begin(), m_banks.end(), bank{});
    model::reset();
}

}  // namespace fabricvp::gpu
