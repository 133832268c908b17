// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "pcie/function.h"
#include "pcie/requester.h"

namespace fabricvp::hca {

/// What all parts of an HCA reach memory by, at bus addresses. A function that may not master the bus reads nothing and
/// writes nothing.
class bus_access {
public:
    bus_access(pcie::requester& dma, const pcie::function& config) : m_dma(dma), m_config(config) {}

    /// \param finished called once with whether all bytes came, inside this call or later
    template <class Finished>
    void read(std::uint64_t address, const buffer_slice& into, Finished finished) {
        if (!m_config.bus_master() || into.length == 0) return finished(into.length == 0);
        m_dma.read(address, into, [finished = std::move(finished)](pcie::request_status s) mutable {
            finished(s == pcie::request_status::ok);
        });
    }
    /// Posted: what is written later arrives later.
    void write(std::uint64_t address, const buffer_slice& from) {
        if (m_config.bus_master()) m_dma.write(address, from);
    }
    /// The same for the last write of something, in one TLP.
    void write_last(std::uint64_t address, const buffer_slice& from, const pcie::parent_access& of,
                    const span_trail& before) {
        if (m_config.bus_master()) m_dma.write_last(address, from, of, before);
    }
    /// Drops everything that is under way, without calling back.
    void abandon() { m_dma.abandon(); }

private:
    pcie::requester& m_dma;
    const pcie::function& m_config;
};

}  // namespace fabricvp::hca
