// SPDX-License-Identifier: Apache-2.0
#include "fabric/stage_plan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/clock_domain.h"

namespace fabricvp::fabric {

stage_plan::stage_plan(const interconnect_params& p) : m_params(p) {
    std::map<std::string, std::size_t> switches;
    for (const auto& s : p.switches) switches.emplace(s.name, switches.size());
    const auto add = [&](const chosen_stage& stage, std::string path, const std::string& origin, ticks cycle,
                         bool of_link) {
        if (!stage.settings().enabled()) return none;
        m_uses.push_back({std::move(path), origin, stage, cycle, of_link});
        return m_uses.size() - 1;
    };
    std::vector<std::size_t> of_switch;
    for (const auto& s : p.switches)
        of_switch.push_back(add(s.stage, s.name + ".stage", s.where.of("stage"), clock_domain(s.clock).span(1), false));
    const auto of_devices = add(p.device.stage, "device.stage", p.where.of("device"), stage_place{}.cycle, false);
    m_of.resize(p.links.size(), {none, none});
    for (std::size_t i = 0; i < p.links.size(); ++i) {
        const auto& l = p.links[i];
        const auto from = switches.find(l.from), to = switches.find(l.to);
        const bool crosses = from != switches.end() && to != switches.end() &&
                             p.switches[from->second].cluster != p.switches[to->second].cluster;
        for (const bool forward : {true, false}) {
            const auto at = forward ? from : to;
            const auto* sender = at == switches.end() ? nullptr : &p.switches[at->second];
            const auto cycle = sender ? clock_domain(sender->clock).span(1) : stage_place{}.cycle;
            const auto* key = forward ? "forward_stage" : "reverse_stage";
            auto number = add(forward ? l.forward_stage : l.reverse_stage, fmt::format("links.{}.{}", i, key),
                              l.where.of(key), cycle, true);
            if (number == none)
                number = add(l.stage, fmt::format("links.{}.stage", i), l.where.of("stage"), cycle, true);
            if (number == none) number = sender ? of_switch[at->second] : of_devices;
            if (number == none) continue;
            auto& u = m_uses[number];
            const stage_place place{p.packet, cycle, crosses, sender ? sender->output_entries : 0,
                                    sender ? sender->input.page_table_entries : 0};
            if (!u.of_link && !u.settings().fits(place)) continue;
            u.places.push_back(place);
            u.at_device |= !sender;
            m_of[i][forward] = number;
        }
    }
}

void stage_plan::check() const {
    for (const auto& u : m_uses) {
        const auto fits = [&](const stage_place& at) { return u.settings().fits(at); };
        if (u.places.empty() || !std::all_of(u.places.begin(), u.places.end(), fits))
            reject_at(u.origin, fmt::format("fabric: {} of kind {} needs a {}", u.path, u.stage.kind(),
                                            u.settings().required_link()));
        if (const auto why = u.settings().problem(m_params.packet); !why.empty())
            reject_at(u.origin, fmt::format("fabric: {}.{}", u.path, why));
        if (const auto why = u.settings().format_problem(m_params.packet); !why.empty())
            reject_at(m_params.where.of("packet"),
                      fmt::format("fabric: packet.{} for {} of kind {}", why, u.path, u.stage.kind()));
        if (u.at_device && m_params.device.queues_by_destination)
            reject_at(u.origin,
                      fmt::format("fabric: {}: with device.queues_by_destination, packets of a device wait in "
                                  "a queue for each destination, not in a stage",
                                  u.path));
    }
}

const stage_plan::use* stage_plan::of(std::size_t link, bool forward) const {
    const auto number = m_of[link][forward];
    return number == none ? nullptr : &m_uses[number];
}

const stage_settings* stage_plan::ingress(std::size_t link, bool forward) const {
    const auto *sender = of(link, forward), *receiver = of(link, !forward);
    if (!sender) return nullptr;
    return receiver && receiver->stage.kind() == sender->stage.kind() ? &receiver->settings() : &sender->settings();
}

}  // namespace fabricvp::fabric
