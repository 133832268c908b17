// SPDX-License-Identifier: Apache-2.0
#include "hca/memory/data_mover.h"

#include <algorithm>
#include <utility>

namespace fabricvp::hca {

std::uint64_t data_mover::length(const data_list& list) {
    std::uint64_t sum = 0;
    for (const auto& s : list) sum += s.bytes;
    return sum;
}

void data_mover::gather(const data_list& list, std::uint32_t domain, std::uint64_t from, const buffer_slice& into,
                        std::uint32_t rights, done finished) {
    auto o = std::make_shared<operation>();
    o->bytes = into;
    o->write = false;
    o->finished = std::move(finished);
    begin(o, list, domain, from, rights);
}

void data_mover::scatter(const data_list& list, std::uint32_t domain, std::uint64_t to, const buffer_slice& bytes,
                         std::uint32_t rights, done finished) {
    auto o = std::make_shared<operation>();
    o->bytes = bytes;
    o->write = true;
    o->finished = std::move(finished);
    begin(o, list, domain, to, rights);
}

void data_mover::begin(const operation_ptr& o, const data_list& list, std::uint32_t domain, std::uint64_t from,
                       std::uint32_t rights) {
    std::size_t at = 0;
    for (const auto& s : list) {
        if (at == o->bytes.length) break;
        if (from >= s.bytes) {
            from -= s.bytes;
            continue;
        }
        const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(s.bytes - from, o->bytes.length - at));
        const auto part = o->bytes.part(at, bytes);
        ++o->open;
        m_translation.translate(
            {s.key, domain, s.address + from, bytes, rights},
            [this, o, part](violation v, const bus_ranges& where) { part_ready(o, part, v, where); });
        at += bytes;
        from = 0;
    }
    if (at < o->bytes.length && o->result.ok()) o->result.key_violation = violation::bounds;
    close(*o);
}

void data_mover::part_ready(const operation_ptr& o, const buffer_slice& part, violation v, const bus_ranges& where) {
    if (v != violation::none && o->result.key_violation == violation::none) o->result.key_violation = v;
    std::size_t at = 0;
    for (const auto& r : where) {
        const auto piece = part.part(at, r.bytes);
        at += r.bytes;
        if (o->write) {
            o->writes.emplace_back(r.address, piece);
            continue;
        }
        bytes_read += r.bytes;
        ++o->open;
        m_bus.read(r.address, piece, [this, o](bool ok) {
            o->result.failed |= !ok;
            close(*o);
        });
    }
    close(*o);
}

void data_mover::close(operation& o) {
    if (--o.open) return;
    if (o.result.ok())
        for (const auto& [address, piece] : o.writes) {
            bytes_written += piece.length;
            m_bus.write(address, piece);
        }
    const auto finished = std::move(o.finished);
    finished(o.result);
}

}  // namespace fabricvp::hca
