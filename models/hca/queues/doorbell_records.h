// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "abi/hca_queues.h"
#include "base/model.h"
#include "base/statistics.h"
#include "hca/memory/bus_access.h"
#include "hca/memory/icm.h"

namespace fabricvp::hca {

/// Doorbell records: counters that software keeps in the contexts of user access regions (UARs). They are read when one
/// is wanted, and never kept.
class doorbell_records final : public model {
public:
    counter reads{*this, "reads", "1", "doorbell records read"};
    counter failures{*this, "failures", "1", "doorbell records that could not be read"};

    doorbell_records(const sc_core::sc_module_name& name, bus_access& bus, const icm& icm)
        : model(name), m_bus(bus), m_icm(icm) {}

    /// \param base ICM address of UAR 0's context \param log_bytes of one context
    void configure(std::uint64_t base, unsigned log_bytes, unsigned log_uars) {
        m_base = base;
        m_log_bytes = log_bytes;
        m_log_uars = log_uars;
    }
    bool valid_uar(std::uint32_t uar) const { return uar >> m_log_uars == 0; }
    /// Records of one UAR.
    std::uint32_t records_per_uar() const { return 1u << (m_log_bytes - 3); }

    /// \param finished called once with (whether it could be read, its first word), inside this call or later
    template <class Finished>
    void read(std::uint32_t uar, std::uint32_t record, Finished finished) {
        ++reads;
        const auto where =
            valid_uar(uar) && record < records_per_uar()
                ? m_icm.bus_address(m_base + (std::uint64_t{uar} << m_log_bytes) + HCA_DBR_SIZE * std::uint64_t{record})
                : std::nullopt;
        if (!where) {
            ++failures;
            return finished(false, 0);
        }
        const auto word = allocate_slice(4);
        m_bus.read(*where, word, [this, word, finished = std::move(finished)](bool ok) mutable {
            if (!ok) ++failures;
            finished(ok, ok ? hca_get32(word.data()) : 0);
        });
    }

private:
    bus_access& m_bus;
    const icm& m_icm;
    std::uint64_t m_base = 0;
    unsigned m_log_bytes = 12, m_log_uars = 0;
};

}  // namespace fabricvp::hca
