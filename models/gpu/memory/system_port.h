// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "base/model.h"
#include "base/statistics.h"
#include "gpu/memory/memory_types.h"
#include "pcie/requester.h"

namespace fabricvp::gpu {

/// The way from a GPU's caches and command processor to system addresses: line requests become PCIe requests. A write is
/// acknowledged at the posting point, when it has been handed to the link in order.
class system_port final : public model, public line_target {
public:
    counter reads{*this, "reads", "1", "reads of system memory"};
    counter writes{*this, "writes", "1", "writes to system memory"};
    counter atomics{*this, "atomics", "1", "AtomicOps"};
    counter refused{*this, "refused", "1", "requests that PCIe has no transaction for"};

    histogram read_latency{*this, "read_latency", "ps", "from the request to its data"};
    histogram atomic_latency{*this, "atomic_latency", "ps", "from the request to the old value"};

    system_port(const sc_core::sc_module_name& name, pcie::requester& dma);

    void send(const line_request_ptr& request) override;
    void reset() override;

private:
    void read(const line_request_ptr& request);
    void write(const line_request_ptr& request);
    void atomic(const line_request_ptr& request);
    void answer_later(const line_request_ptr& request, memory_fault fault);
    void answer();

    span_stage m_trip_span{*this, "round_trip"};
    pcie::requester& m_dma;
    std::deque<line_request_ptr> m_answers;  // due at the present time
    calendar_event m_answer{method<&system_port::answer>, this};
};

}  // namespace fabricvp::gpu
