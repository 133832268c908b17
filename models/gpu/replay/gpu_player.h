// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/clock_domain.h"
#include "base/model.h"
#include "base/statistics.h"
#include "fabric/terminal.h"
#include "gpu/gpu_core.h"
#include "gpu/replay/recording.h"

namespace fabricvp::gpu::replay {

class replica;
class gpu_player;
class wavefront_player;

/// An access that is being played.
struct access_player {
    wavefront_player* wavefront = nullptr;
    access_player* next_free = nullptr;
    std::uint32_t ordinal = 0;  ///< among the accesses of its wavefront
    unsigned open = 0;          ///< needs that have not come
    bool loads = false, code = false;
    ticks earliest = 0;  ///< when its part inside of the GPU is done
    access_player() = default;
    void finish();
    calendar_event due{method<&access_player::finish>, this};
};

/// A need of an access on its way to the fabric.
struct pending_dependency {
    access_player* access = nullptr;
    transaction_id what = 0;
};

/// A work-group that is alive.
struct group_player {
    struct run_player* run = nullptr;
    struct unit_player* unit = nullptr;
    unsigned live = 0, arrived = 0;
    std::vector<wavefront_player*> members;
};

/// A launch on one GPU.
struct run_player {
    std::uint32_t number = 0;
    const launch* what = nullptr;
    std::uint32_t started = 0, finished = 0, areas = 0;
    std::uint32_t first_stream = 0;  ///< of the next work-group
};

/// A compute unit: the caches and units that it shares.
struct unit_player {
    std::vector<ticks> simd_free;
    std::vector<unsigned> simd_live;
    unsigned number = 0, free_slots = 0;
    std::uint64_t free_lds = 0;
    unsigned accesses = 0;                ///< under way
    std::deque<wavefront_player*> held;   ///< whose accesses find too many
    bool resuming = false;                ///< they are being let go on
    unsigned fetches = 0, bypasses = 0;   ///< under way
    std::deque<pending_dependency> port;  ///< what waits for an MSHR or a place bypassing L1, in order
    ticks port_free = 0;
};

/// What has become of the recording's transactions and walks; one table for all GPUs of a tile.
struct replay_state {
    static constexpr std::uint32_t completed = ~0u;
    std::vector<std::uint32_t> transactions;  ///< 0: not asked for; slot + 1: under way; `here`
    std::vector<bool> walks;                  ///< done
};

/// A GPU as the fabric sees it.
class gpu_player final : public model, private fabric::terminal_client {
public:
    counter requests{*this, "requests", "1", "transactions begun"};
    counter responses{*this, "responses", "1", "transactions that have ended"};
    counter incoming_requests{*this, "incoming_requests", "1", "requests of others answered"};
    counter failed{*this, "failed", "1", "transactions that the fabric reported as failed"};
    counter corrupt{*this, "corrupt", "1", "lines that did not arrive as they were sent"};
    counter unexpected{*this, "unexpected", "1", "unexpected responses: duplicated or misrouted"};
    counter walks{*this, "walks", "1", "page-table walks with reads of other GPUs' memory"};
    counter work_groups{*this, "work_groups", "1", "work-groups started"};
    histogram latency{*this, "latency", "ps", "of a transaction, from the port to the fabric and back to it"};

    const gpu_core_params params;
    const clock_domain clock;

    gpu_player(const sc_core::sc_module_name& name, replica& owner, unsigned number, const gpu_core_params& params,
               fabric::terminal& at);
    ~gpu_player() override;

    void launch_kernel(std::uint32_t number);
    /// Transactions that have been sent and not answered.
    unsigned in_flight() const { return m_in_flight; }
    void reset() override;

    /// The transaction of a request that this GPU has under way. 0: none has this tag
    transaction_id transaction_with_tag(std::uint32_t tag) const;

    // For wavefronts.
    access_player& take_access();
    void issue(unit_player& unit, access_player& access, const std::vector<dependency>& dependencies);
    /// Whether it is an instruction cache's: these have queues of their own.
    bool fetches_code(const std::vector<dependency>& dependencies) const;
    /// Gives it back; wavefronts that were held up because of it go on.
    void done(access_player& a);
    void ended(wavefront_player& w);

private:
    /// A transaction under way, found by its tag.
    struct slot {
        explicit slot(gpu_player& g, std::uint32_t n) : owner(g), number(n) {}
        void send_request() { owner.send_request(*this); }
        gpu_player& owner;
        const std::uint32_t number;
        std::uint32_t tag = no_tag;
        transaction_id what = 0;
        unit_player* unit = nullptr;
        bool fetch = false, scalar = false, code = false;
        access_player* access = nullptr;  ///< bypassing L1: whose it is
        walk_id walk = 0;                 ///< whose read it is
        std::vector<pending_dependency> waiting;
        calendar_event departure{method<&slot::send_request>, this};
    };
    /// A request of another GPU's.
    struct service {
        explicit service(gpu_player& g) : owner(g) {}
        void due() { owner.respond(*this); }
        gpu_player& owner;
        fabric::packet_ptr packet;
        calendar_event end{method<&service::due>, this};
    };
    static constexpr std::uint32_t no_tag = ~0u;
    static constexpr unsigned slot_bits = 20;
    struct active_walk {
        explicit active_walk(gpu_player& g) : owner(g) {}
        void act() { owner.step_walk(*this); }
        gpu_player& owner;
        walk_id what = 0;
        std::size_t step = 0;
        std::vector<std::pair<unit_player*, pending_dependency>> waiting;
        calendar_event next{method<&active_walk::act>, this};
    };
    struct order {
        access_player* access = nullptr;
        unsigned writes = 0;
        std::vector<pending_dependency> parked;
    };

    void packet_received(const fabric::packet_ptr& p) override;
    void finish(const fabric::packet_ptr& p);
    void serve(const fabric::packet_ptr& p);
    void respond(service& s);

    void place();
    void start(run_player& run, unit_player& unit);

    void request_dependency(unit_player& unit, const pending_dependency& n, ticks lead);
    bool try_send(unit_player& unit, const pending_dependency& n, ticks lead);
    void drain_port(unit_player& unit);
    void dependency_arrived(access_player& a, ticks ready);
    slot& begin_transaction(transaction_id what, unit_player* unit, ticks departure);
    void send_request(slot& s);
    void request_after_walk(unit_player& unit, const pending_dependency& n, walk_id walk);
    void begin_walk(active_walk& w);
    void step_walk(active_walk& w);
    void end_walk(active_walk& w);
    unsigned& fetches_of(const unit_player& u, bool scalar);
    bool is_scalar(const transaction& t) const { return t.cache >= params.compute_units; }
    bool is_code(const transaction& t) const {
        return t.fetch && t.cache >= params.compute_units + m_scalar_fetches.size();
    }
    bool in_order(const pending_dependency& n, const transaction& t);
    void leave_order(unit_player& unit, access_player& a, const transaction& t);

    replica& m_owner;
    const unsigned m_number;  // of its terminal
    fabric::terminal& m_terminal;
    ticks m_lead, m_lookup, m_fill, m_cycle,
        m_code;  // from issue to request, from L1 to request, from line to registers

    std::deque<std::unique_ptr<run_player>> m_runs;
    std::vector<std::unique_ptr<unit_player>> m_units;
    std::vector<unsigned> m_scalar_fetches;  // under way, by scalar cache
    std::vector<std::unique_ptr<group_player>> m_groups;
    std::vector<group_player*> m_free_groups;
    std::vector<std::unique_ptr<wavefront_player>> m_wavefronts;
    std::vector<wavefront_player*> m_free_wavefronts;
    std::uint32_t m_started = 0;  // wavefronts
    std::size_t m_next_unit = 0;
    ticks m_next_start = 0;
    calendar_event m_place{method<&gpu_player::place>, this};

    std::unordered_map<walk_id, std::unique_ptr<active_walk>> m_walks;
    std::vector<std::unique_ptr<active_walk>> m_free_walks;
    std::deque<active_walk*> m_walk_queue;
    unsigned m_walkers = 0;  // busy
    std::unordered_map<std::uint64_t, order> m_order;

    std::vector<std::unique_ptr<slot>> m_slots;
    std::vector<slot*> m_free_slots;
    std::uint32_t m_uses = 0;
    std::uint64_t m_epoch = 0;
    unsigned m_in_flight = 0;
    std::vector<std::unique_ptr<service>> m_services;
    std::vector<service*> m_free_services;
    std::vector<std::unique_ptr<access_player>> m_accesses;
    access_player* m_free_access = nullptr;
};

}  // namespace fabricvp::gpu::replay
