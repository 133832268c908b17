// SPDX-License-Identifier: Apache-2.0
#include "network/capture.h"

#include <vector>

#include <fmt/format.h>

#include "network/wire.h"

namespace fabricvp::network {

namespace {

constexpr std::uint32_t pcap_nanoseconds = 0xa1b23c4d, linktype_erf = 197, snap_length = 65535;
constexpr std::uint8_t erf_infiniband = 21, erf_varying_length = 4;
constexpr std::size_t erf_header_bytes = 16;

void put_little(std::vector<std::uint8_t>& to, std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

void put_big(std::vector<std::uint8_t>& to, std::uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

}  // namespace

packet_capture::packet_capture(file_sink to) : m_to(std::move(to)) {
    std::vector<std::uint8_t> head;
    put_little(head, pcap_nanoseconds, 4);
    put_little(head, 2, 2);  // version 2.4
    put_little(head, 4, 2);
    put_little(head, 0, 8);  // time zone, accuracy
    put_little(head, snap_length, 4);
    put_little(head, linktype_erf, 4);
    m_to(head.data(), head.size());
}

void packet_capture::packet_sent(const port&, const packet& p, ticks begin) {
    const auto bytes = encode(p);
    const auto length = erf_header_bytes + bytes.size();
    std::vector<std::uint8_t> record;
    record.reserve(16 + length);
    const auto seconds = begin / ticks_per_second, rest = begin % ticks_per_second;
    put_little(record, seconds, 4);
    put_little(record, rest / 1000, 4);
    put_little(record, length, 4);
    put_little(record, length, 4);
    put_little(record, (static_cast<unsigned __int128>(rest) << 32) / ticks_per_second,
               4);  // a fixed-point number of seconds
    put_little(record, seconds, 4);
    record.push_back(erf_infiniband);
    record.push_back(erf_varying_length);
    put_big(record, length, 2);
    put_big(record, 0, 2);  // none lost between
    put_big(record, bytes.size(), 2);
    record.insert(record.end(), bytes.begin(), bytes.end());
    m_to(record.data(), record.size());
    ++m_packets;
}

const char* const packet_table::heading =
    "time_ps,port,vl,sl,dlid,slid,length,opcode,pkey,destination_qp,ack_request,psn,qkey,source_qp,address,rkey,dma_"
    "length,syndrome,msn,"
    "immediate,payload,corrupted";

packet_table::packet_table(file_sink to) : m_to(std::move(to)) {
    const auto line = std::string(heading) + "\n";
    m_to(line.data(), line.size());
}

void packet_table::packet_sent(const port& by, const packet& p, ticks begin) {
    const auto e = p.extensions();
    const auto field = [](bool there, std::uint64_t value) { return there ? fmt::format("{}", value) : std::string(); };
    const bool remote = e & (has_reth | has_atomic);
    const auto line =
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", begin, by.name(), p.lrh.vl,
                    p.lrh.sl & 15, p.lrh.dlid, p.lrh.slid, p.packet_bytes() / 4, p.bth.opcode, p.bth.pkey,
                    p.bth.destination_qp & 0xffffff, p.bth.ack_request ? 1 : 0, p.bth.psn & psn_mask,
                    field(e & has_deth, p.deth.qkey), field(e & has_deth, p.deth.source_qp & 0xffffff),
                    field(remote, e & has_atomic ? p.atomic.address : p.reth.address),
                    field(remote, e & has_atomic ? p.atomic.rkey : p.reth.rkey), field(e & has_reth, p.reth.length),
                    field(e & has_aeth, p.aeth.syndrome), field(e & has_aeth, p.aeth.msn & 0xffffff),
                    field(e & has_immediate, p.immediate), p.payload.length, static_cast<unsigned>(p.corrupted));
    m_to(line.data(), line.size());
}

}  // namespace fabricvp::network
