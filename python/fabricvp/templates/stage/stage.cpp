// SPDX-License-Identifier: Apache-2.0
// A stage of the GPU fabric, as a plug-in: writes for one cache line leave as one packet, with one header and one line.
// At the far end of the link they are packets of their own again. docs/howto/add_a_stage.md explains each part.
#include "base/parameters.h"
#include "base/statistics.h"
#include "base/trace.h"
#include "fabric/queued_egress.h"
#include "platform/plugin.h"

using namespace fabricvp;
using namespace fabricvp::fabric;

namespace {

struct settings : stage_settings_of<settings> {
    duration window{20'000};  // in picoseconds
    std::uint64_t max_writes = 8;
    void describe(parameter_visitor& v) override {
        v.field("window", window, between{0, 1e9}, "time that a write waits for others to its line");
        v.field("max_writes", max_writes, between{2, 16}, "writes that leave as one");
    }
    hold longest_hold(ticks) const override { return {window, "window"}; }
};

class egress final : public queued_egress {
public:
    counter combined{*this, "combined", "1", "writes that left in the packet of another one"};
    counter saved{*this, "saved", "B", "bytes that the link did not carry, without padding"};

    egress(const char* name, const settings& s, const stage_place& at) : queued_egress(name, at), m_settings(s) {}

private:
    static bool is_write(const packet& p) {
        return p.type == packet_class::write_request && p.kind == access_kind::write;
    }
    ticks hold_time(const packet& p) const override { return is_write(p) ? m_settings.window.value : 0; }

    /// Later writes to the line of the first one. Accesses to one line keep their order.
    bool choose(const queue& waiting, selection& leaving) const override {
        const auto& first = *waiting[0];
        for (std::size_t i = 1; is_write(first) && i < waiting.size() && leaving.size() < m_settings.max_writes; ++i) {
            const auto& p = *waiting[i];
            if (p.line != first.line || p.destination != first.destination) continue;
            if (!is_write(p) || !leaving.add(i)) break;
        }
        return leaving.size() == m_settings.max_writes;
    }

    /// One line, and for each further write the header that says to whom its response goes.
    packet_ptr join(port& out, const packet_list& packets) override {
        const auto bytes = packets[0]->bytes + (packets.size() - 1) * place.format.header.bytes;
        std::size_t alone = 0;
        for (const auto& p : packets) alone += p->bytes;
        saved += alone - bytes;
        combined += packets.size() - 1;
        trace::instant(*this, "combined", now());
        return make_bundle(out, packets, static_cast<std::uint32_t>(bytes));
    }

    const settings m_settings;
};

}  // namespace

FABRICVP_PLUGIN() {
    add_stage_kind(make_egress_kind<settings, egress>("@NAME@", "writes for one line leave as one packet"));
}
