// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fabric/netcrafter/unstitcher.h"
#include "fabric/stage.h"

namespace fabricvp::fabric::netcrafter {

/// The far end of a controller's link. A packet that is alone in its flits goes on as others do. Stitched ones are
/// taken apart when all of them have come.
class ingress final : public ingress_stage {
public:
    ingress(const sc_core::sc_module_name& name, const packet_format& format, ticks latency)
        : ingress_stage(name), m_unstitcher(format), m_latency(latency) {}

    arrival_plan announced(const packet& p) override;
    const char* take(const packet_ptr& p, packet_list& complete) override;
    void add_terminal(unsigned terminal) override { m_unstitcher.add_destination(terminal); }
    void reset() override;

private:
    unstitcher m_unstitcher;
    const ticks m_latency;
};

}  // namespace fabricvp::fabric::netcrafter
