// SPDX-License-Identifier: Apache-2.0
// Moves payload between memory and packets: gathers what lists of a work queue entry name, scatters what has arrived,
// reads and writes what a packet names by its key. Each part is checked and translated by its own key.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "hca/memory/bus_access.h"
#include "hca/memory/data_list.h"
#include "hca/memory/translation.h"

namespace fabricvp::hca {

/// How a transfer ended.
struct transfer_result {
    violation key_violation = violation::none;  ///< by a key
    bool failed = false;                        ///< on the bus
    bool ok() const { return key_violation == violation::none && !failed; }
};

/// Reads from one region, into all of `into`. \param finished called once with whether it could be
template <class Finished>
void read_region(bus_access& bus, translation& translation, const region_access& what, const buffer_slice& into,
                 Finished finished) {
    translation.translate(
        what, [&bus, into, finished = std::move(finished)](violation v, const bus_ranges& where) mutable {
            if (v != violation::none) return finished(false);
            auto state = std::make_shared<std::pair<unsigned, bool>>(static_cast<unsigned>(where.size()), true);
            std::size_t at = 0;
            for (const auto& r : where) {
                bus.read(r.address, into.part(at, r.bytes), [state, finished](bool ok) mutable {
                    state->second &= ok;
                    if (--state->first == 0) finished(state->second);
                });
                at += r.bytes;
            }
        });
}

class data_mover final : public model {
public:
    counter bytes_read{*this, "bytes_read", "B", "payload read from memory"};
    counter bytes_written{*this, "bytes_written", "B", "payload written to memory"};

    using done = std::function<void(transfer_result)>;

    data_mover(const sc_core::sc_module_name& name, bus_access& bus, translation& translation)
        : model(name), m_bus(bus), m_translation(translation) {}

    /// Fills `into` with bytes [from, from + into.length) of a list. \param finished called once, inside this call or
    /// later
    void gather(const data_list& list, std::uint32_t domain, std::uint64_t from, const buffer_slice& into,
                std::uint32_t rights, done finished);
    /// Writes `bytes` to [to, to + bytes.length) of a list. Nothing is written unless all of it may be. \param finished
    /// called once, when the writes have been handed over
    void scatter(const data_list& list, std::uint32_t domain, std::uint64_t to, const buffer_slice& bytes,
                 std::uint32_t rights, done finished);

    /// Bytes of a list.
    static std::uint64_t length(const data_list& list);

private:
    struct operation {
        buffer_slice bytes;
        bool write;
        done finished;
        unsigned open = 1;  // parts, and the loop that begins them
        transfer_result result;
        std::vector<std::pair<std::uint64_t, buffer_slice>> writes;  // by bus address, once all are known
    };
    using operation_ptr = std::shared_ptr<operation>;
    void begin(const operation_ptr& o, const data_list& list, std::uint32_t domain, std::uint64_t from,
               std::uint32_t rights);
    void part_ready(const operation_ptr& o, const buffer_slice& part, violation v, const bus_ranges& where);
    void close(operation& o);

    bus_access& m_bus;
    translation& m_translation;
};

}  // namespace fabricvp::hca
