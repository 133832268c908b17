// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "pcie/requester.h"

namespace fabricvp::hca {

/// What all parts of an HCA reach memory by, at bus addresses.
class bus_access {
public:
    explicit bus_access(pcie::requester& dma) : m_dma(dma) {}

    /// \param finished called once with whether all bytes came, inside this call or later
    template <class Finished>
    void read(std::uint64_t address, const buffer_slice& into, Finished finished) {
        if (into.length == 0) return finished(true);
        m_dma.read(address, into, [finished = std::move(finished)](pcie::request_status s) mutable {
            finished(s == pcie::request_status::ok);
        });
    }
    /// Posted: what is written later arrives later.
    void write(std::uint64_t address, const buffer_slice& from) { m_dma.write(address, from); }
    /// The same for the last write of something, in one TLP.
    void write_last(std::uint64_t address, const buffer_slice& from, const pcie::parent_access& of,
                    const span_trail& before) {
        m_dma.write_last(address, from, of, before);
    }
    /// Drops everything that is under way, without calling back.
    void abandon() { m_dma.abandon(); }

private:
    pcie::requester& m_dma;
};

}  // namespace fabricvp::hca
