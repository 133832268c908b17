// SPDX-License-Identifier: Apache-2.0
#include "platform/ranked_subject.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/common/input_error.h"
#include "platform/topology.h"

namespace fabricvp {
namespace {

using json = nlohmann::ordered_json;

constexpr ticks max_period = 100'000'000;                      // 100 us
constexpr ticks min_period = 1'000;                            // 1 ns
constexpr std::chrono::duration<double> wanted_period{0.05};   // of wall time, between looks
constexpr const char* single_parts[] = {"consoles", "nodes"};  // of frames: one entry a node
constexpr const char* joined_parts[] = {"links", "harts", "gpus", "queue_pairs", "waits"};

void put(ranks::bytes& to, const json& j) {
    const auto text = j.dump(-1, ' ', false, json::error_handler_t::replace);
    to.assign(text.begin(), text.end());
}

json json_of(const ranks::bytes& from) { return json::parse(from.begin(), from.end()); }

void append(json& to, const json& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

ranked_look::ranked_look(ranks::communicator& comm, const ranks::partition& parts, std::unique_ptr<run_subject> own)
    : m_comm(comm),
      m_parts(parts),
      m_own(std::move(own)),
      m_to(comm.count()),
      m_from(comm.count()),
      m_period(max_period) {}

ranked_look::~ranked_look() = default;

void ranked_look::tell(const json& order) {
    for (auto& to : m_to) put(to, order);
    m_comm.all_to_all(m_to, m_from);
}

std::vector<json> ranked_look::ask(const json& order) {
    tell(order);
    std::vector<json> said(m_comm.count());
    said[0] = perform(order);
    for (auto& to : m_to) to.clear();
    m_comm.all_to_all(m_to, m_from);
    for (unsigned r = 1; r < m_comm.count(); ++r) said[r] = json_of(m_from[r]);
    return said;
}

void ranked_look::go_on(ticks when, bool watched, bool stop) {
    const auto now = m_own->now();
    if (now > m_went_at) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - m_went;
        const auto share = std::clamp(wanted_period / passed, 0.001, 2.0);
        m_period = std::clamp(static_cast<ticks>(static_cast<double>(now - m_went_at) * share), min_period, max_period);
    }
    const json going = {
        {"next", std::max(now + 1, std::min(when, now + m_period))}, {"watched", watched}, {"stop", stop}};
    tell(going);
    apply(going);
    m_went_at = now;
    m_went = std::chrono::steady_clock::now();
}

void ranked_look::apply(const json& going) {
    m_next = going.at("next");
    m_watched = going.at("watched");
    m_stopped = going.at("stop");
}

void ranked_look::follow() {
    for (auto& to : m_to) to.clear();
    while (true) {
        m_comm.all_to_all(m_to, m_from);
        const auto order = json_of(m_from[0]);
        if (order.contains("next")) return apply(order);
        put(m_to[0], perform(order));
        m_comm.all_to_all(m_to, m_from);
        m_to[0].clear();
    }
}

json ranked_look::perform(const json& order) {
    const auto what = order.at("do").get<std::string>();
    auto said = json::object();
    if (what == "describe") return m_own->description();
    if (what == "frame") m_own->add_to(said);
    if (what == "restart consoles") m_own->restart_consoles();
    if (what == "type" && m_parts.of_node(order.at("node")) == m_comm.rank())
        m_own->type(order.at("node"), order.at("text"));
    if (what == "inject" && order.at("rank") == m_comm.rank()) try {
            m_own->inject(order.at("target"), order.at("kind"), order.at("arguments"));
        } catch (const input_error& e) {
            said["error"] = e.what();
        }
    return said;
}

json ranked_subject::description() {
    const auto all = m_look.ask({{"do", "describe"}});
    auto whole = all.front();
    std::vector<json> topologies;
    for (std::size_t r = 0; r < all.size(); ++r) {
        topologies.push_back(all[r].at("topology"));
        for (std::size_t i = 0; i < whole["nodes"].size(); ++i)
            if (m_look.parts().of_node(i) == r) whole["nodes"][i] = all[r].at("nodes").at(i);
        if (r == 0) continue;
        append(whole["links"], all[r].at("links"));
        append(whole["faults"], all[r].at("faults"));
    }
    whole["topology"] = merged_topology(topologies);
    return whole;
}

/// Parts follow each other in the order of ranks, as in the description.
void ranked_subject::add_to(json& frame) {
    const auto all = m_look.ask({{"do", "frame"}});
    frame.update(all.front());
    for (std::size_t r = 1; r < all.size(); ++r) {
        for (const auto* part : single_parts)
            for (std::size_t i = 0; i < frame[part].size(); ++i)
                if (m_look.parts().of_node(i) == r) frame[part][i] = all[r].at(part).at(i);
        for (const auto* part : joined_parts) append(frame[part], all[r].at(part));
    }
}

void ranked_subject::restart_consoles() { m_look.ask({{"do", "restart consoles"}}); }

void ranked_subject::type(std::size_t node, const std::string& text) {
    if (node >= m_look.parts().nodes()) throw input_error(fmt::format("there is no node{}", node));
    m_look.ask({{"do", "type"}, {"node", node}, {"text", text}});
}

void ranked_subject::inject(const std::string& target, const std::string& kind, const arguments& given) {
    const auto rank = m_look.parts().of_block(target);
    const auto said =
        m_look.ask({{"do", "inject"}, {"rank", rank}, {"target", target}, {"kind", kind}, {"arguments", given}});
    if (said.at(rank).contains("error")) throw input_error(said[rank]["error"].get<std::string>());
}

}  // namespace fabricvp
