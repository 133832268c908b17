// SPDX-License-Identifier: Apache-2.0
// A stage of the GPU fabric, as a plug-in: writes for one cache line leave as one packet, with one header and one line.
// At the far end of the link they are packets of their own again. docs/howto/add_a_stage.md explains each part.
#include <algorithm>
#include <array>
#include <deque>

#include "base/parameters.h"
#include "base/statistics.h"
#include "fabric/port.h"
#include "fabric/stage_kind.h"
#include "platform/plugin.h"

using namespace fabricvp;
using namespace fabricvp::fabric;

namespace {

struct settings final : stage_settings_of<settings> {
    duration window{20'000};  // in picoseconds
    std::uint64_t max_writes = 8;
    void describe(parameter_visitor& v) override {
        v.field("window", window, between{0, 1e9}, "time that a write waits for others to its line");
        v.field("max_writes", max_writes, between{2, 16}, "writes that leave as one");
    }
    hold longest_hold(ticks) const override { return {window, "window"}; }
    std::unique_ptr<egress_stage> make_egress(const char* name, const stage_place& at) const override;
};

class egress final : public egress_stage {
public:
    counter combined{*this, "combined", "1", "writes that left in the packet of another one"};
    counter saved{*this, "saved", "B", "bytes that the link did not carry, without padding"};
    span_stage window{*this, "window"};  // waiting for more writes to the line

    egress(const char* name, const settings& s, const stage_place& at) : egress_stage(name), m_settings(s), m_at(at) {}

    bool has_room(virtual_channel c, unsigned flits, unsigned /*destination*/) const override {
        const auto capacity = (is_data(c) ? m_at.entries : m_at.page_table_entries) / 2;  // half of them for responses
        return capacity == 0 || m_flits[static_cast<unsigned>(c)] + flits <= capacity;
    }
    void push(const packet_ptr& p) override {
        const auto c = static_cast<unsigned>(p->channel());
        m_flits[c] += p->flits;
        m_queues[c].push_back({p, now() + (is_write(*p) ? m_settings.window.value : 0)});
    }
    bool empty() const override {
        return std::all_of(m_queues.begin(), m_queues.end(), [](const auto& q) { return q.empty(); });
    }
    packet_ptr next(port& out) override {
        for (unsigned tried = 0; tried < virtual_channels; ++tried) {
            const auto c = (m_next_grant + tried) % virtual_channels;
            auto& q = m_queues[c];
            if (q.empty() || !out.has_credit(static_cast<virtual_channel>(c), q.front().packet->flits)) continue;
            const auto together = writes_to_line(q, out);
            if (q.front().until > now() && together.size() < m_settings.max_writes) {
                out.call_at(q.front().until);
                continue;
            }
            m_next_grant = (c + 1) % virtual_channels;
            return leave(q, together, out);
        }
        return nullptr;
    }
    packet_ptr drain() override {
        for (auto& q : m_queues)
            if (!q.empty()) return take(q, 0);
        return nullptr;
    }
    void reset() override {
        for (auto& q : m_queues) q.clear();
        m_flits.fill(0);
        m_next_grant = 0;
        egress_stage::reset();
    }

private:
    struct entry {
        packet_ptr packet;
        ticks until;  // then it waits no longer for others
    };
    using queue = std::deque<entry>;
    using numbers = boost::container::small_vector<std::size_t, 16>;  // of packets in a queue

    static bool is_write(const packet& p) {
        return p.type == packet_class::write_request && p.kind == access_kind::write;
    }

    /// The first packet and the writes that may leave with it: accesses to one line keep their order.
    numbers writes_to_line(const queue& q, port& out) const {
        numbers together = {0};
        const auto& first = *q.front().packet;
        unsigned flits = first.flits;
        for (std::size_t i = 1; is_write(first) && i < q.size() && together.size() < m_settings.max_writes; ++i) {
            const auto& p = *q[i].packet;
            if (p.line != first.line || p.destination != first.destination) continue;
            flits += p.flits;
            if (!is_write(p) || !out.covers(p.channel(), flits)) break;
            together.push_back(i);
        }
        return together;
    }
    packet_ptr take(queue& q, std::size_t number) {
        const auto at = q.begin() + static_cast<std::ptrdiff_t>(number);
        auto p = std::move(at->packet);
        p->pass(window, span_kind::queueing, std::min(now(), at->until));
        m_flits[static_cast<unsigned>(p->channel())] -= p->flits;
        q.erase(at);
        return p;
    }
    packet_ptr leave(queue& q, const numbers& together, port& out) {
        if (together.size() == 1) return take(q, 0);
        packet_list packets;
        std::uint64_t alone = 0;
        for (std::size_t i = 0; i < together.size(); ++i) {
            packets.push_back(take(q, together[i] - i));
            alone += packets.back()->bytes;
        }
        // One line, and for each further write the header that says to whom its response goes.
        const auto bytes = packets[0]->bytes + (packets.size() - 1) * m_at.format.header.bytes;
        combined += packets.size() - 1;
        saved += alone - bytes;
        return make_bundle(out, packets, static_cast<std::uint32_t>(bytes));
    }

    const settings m_settings;
    const stage_place m_at;
    std::array<queue, virtual_channels> m_queues;
    std::array<std::uint64_t, virtual_channels> m_flits{};
    unsigned m_next_grant = 0;
};

std::unique_ptr<egress_stage> settings::make_egress(const char* name, const stage_place& at) const {
    return std::make_unique<egress>(name, *this, at);
}

}  // namespace

FABRICVP_PLUGIN() { add_stage_kind(make_stage_kind<settings>("@NAME@", "writes for one line leave as one packet")); }
