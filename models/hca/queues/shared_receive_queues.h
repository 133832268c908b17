// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "abi/hca.h"
#include "abi/hca_context.h"
#include "base/model.h"
#include "base/statistics.h"
#include "hca/queues/queue_pair.h"

namespace fabricvp::hca {

/// A shared receive queue (SRQ): a list of entries through their next addresses, of which several queue pairs take.
struct shared_receive_queue {
    std::array<std::uint8_t, HCA_SRQC_SIZE> context{};
    std::uint32_t number = 0, serial = 0;
    work_queue queue;
    std::uint64_t next = 0;  ///< address of the next entry
    std::uint16_t consumed = 0, posted = 0;
    std::uint16_t limit = 0;  ///< an event when fewer are left; 0: none
    bool failed = false;
};

/// All of them, by number.
class shared_receive_queues final : public model {
public:
    explicit shared_receive_queues(const sc_core::sc_module_name& name) : model(name) {}

    void configure(unsigned log_entries) {
        m_log_entries = log_entries;
        m_queues.clear();
    }
    /// All return an enum hca_status.
    unsigned add(std::uint32_t number, const std::uint8_t* context);
    unsigned remove(std::uint32_t number, std::uint8_t* context);
    unsigned query(std::uint32_t number, std::uint8_t* context) const;
    unsigned arm(std::uint32_t number, std::uint64_t limit);

    shared_receive_queue* find(std::uint32_t number) {
        const auto found = m_queues.find(number);
        return found == m_queues.end() ? nullptr : &found->second;
    }

    void reset() override;

private:
    unsigned m_log_entries = 0;
    std::uint32_t m_serial = 0;
    std::map<std::uint32_t, shared_receive_queue> m_queues;
};

}  // namespace fabricvp::hca
