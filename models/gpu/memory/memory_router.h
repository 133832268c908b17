// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "gpu/memory/coherent_port.h"
#include "gpu/memory/l2_cache.h"
#include "gpu/memory/system_fence.h"

namespace fabricvp::gpu {

struct memory_router_params {
    cycles request_latency{10};
    cycles response_latency{10};
    cycles system_latency{10};
    void describe(parameter_visitor& v);
};

/// What a crossbar works with.
struct memory_router_wiring {
    const clock_domain& clock;
    l2_cache& l2;
    gpu_memory& memory;
    line_request_scheduler& scheduler;
};

/// The crossbar between everything in a GPU that asks for lines and where they are: the banks of its own L2, or the
/// blocks that reach memory elsewhere. What peers and the host send into this GPU comes in here too. Requests to one
/// line of this GPU that come from one client stay in order.
class memory_router final : public model, public line_target {
public:
    const memory_router_params params;

    counter requests{*this, "requests", "1", "requests routed"};
    counter remote{*this, "remote", "1", "requests to memory elsewhere"};
    counter reads{*this, "reads", "1", "reads of this GPU's memory, page tables apart"};
    counter page_table_reads{*this, "page_table_reads", "1", "reads of page tables in this GPU's memory"};
    counter errors{*this, "errors", "1", "requests to addresses without a target"};

    /// \param where this GPU's aperture (GPU_PA_GPU0 + n)
    memory_router(const sc_core::sc_module_name& name, const memory_router_params& params, unsigned where,
                  const memory_router_wiring& to);

    /// The target of requests to an aperture that is not this GPU's: another GPU's (fabric), or GPU_PA_SYSTEM (PCIe).
    /// It may reorder them; vector memory units keep order themselves (remote_order). Null: none.
    void set_aperture(unsigned where, line_target* target) {
        m_apertures[where] = target;
        if (where != GPU_PA_SYSTEM) m_reaches_gpus = true;
    }
    /// Whether requests to different lines may come to other GPUs in another order than they are sent in.
    bool reaches_gpus() const { return m_reaches_gpus; }

    /// The port to system addresses over a bus that acknowledges no writes, system_time() away: target of their
    /// aperture, and what releases of system scope wait for.
    void set_system_port(line_target& port, system_fence& fence) {
        m_apertures[GPU_PA_SYSTEM] = &port;
        m_fence = &fence;
    }
    bool flush_system(system_fence_client& client, std::uint64_t cookie) {
        return !m_fence || m_fence->flush(client, cookie);
    }
    /// Time of the way to the port of system addresses, and of the way back.
    ticks system_time() const { return m_system_latency; }
    /// Answers a request to a system address: its client hears of it after the way back.
    void respond_from_system(const line_request_ptr& request) {
        m_scheduler.respond(request, now() + m_system_latency);
    }

    /// Requests to lines that this port holds go to L2, from now on.
    void attach_coherent_port(coherent_port& port) { m_shared = &port; }
    coherent_port* shared() const { return m_shared; }

    void send(const line_request_ptr& request) override { send_at(request, now()); }
    /// The same for a request that leaves its client at `departure`, not before now(). Clients need no event of their
    /// own.
    void send_at(const line_request_ptr& request, ticks departure);

    unsigned where() const { return m_where; }
    bool is_local(std::uint64_t physical) const { return gpu::where(physical) == m_where; }
    /// Whether requests of one client to a line stay in order: L2 serves it.
    bool keeps_order(std::uint64_t physical) const {
        return is_local(physical) || (m_shared && m_shared->holds(physical));
    }
    /// Whether writes to a line are posted: behind the port they stay in order, and reads stay behind them.
    bool posts_writes(std::uint64_t physical) const {
        return gpu::where(physical) == GPU_PA_SYSTEM && m_fence && !keeps_order(physical);
    }
    /// Whether there is such a line in this GPU's memory.
    bool holds(std::uint64_t physical) const;

    void reset() override;

private:
    void leave(const line_request_ptr& request);
    void reject(const line_request_ptr& request, memory_fault fault, ticks departure);

    unsigned m_where;
    bool m_reaches_gpus = false;
    ticks m_request_latency, m_response_latency, m_system_latency;
    l2_cache& m_l2;
    gpu_memory& m_memory;
    line_request_scheduler& m_scheduler;
    coherent_port* m_shared = nullptr;
    system_fence* m_fence = nullptr;
    span_stage m_span{*this, "request"};
    std::array<line_target*, 256> m_apertures{};
};

}  // namespace fabricvp::gpu
