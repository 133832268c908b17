// SPDX-License-Identifier: Apache-2.0
#include "platform/fault_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/log.h"
#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/config/config_listing.h"
#include "platform/platform.h"

namespace fabricvp {
namespace {

std::string hint(const std::string& word, const std::vector<std::string>& known) {
    const auto nearest = nearest_name(word, known);
    return nearest.empty() ? "" : fmt::format(", did you mean '{}'?", nearest);
}

bool lies_in(const std::string& path, const std::string& outer) {
    return path.size() > outer.size() && path.compare(0, outer.size(), outer) == 0 && path[outer.size()] == '.';
}

/// \param prefix of a target that is written relative to its node ("node0."); messages do without it
/// \param where stand before a message about the target and about the kind
fault& find_fault(const std::string& prefix, const std::string& target, const std::string& kind,
                  const std::string& where_target, const std::string& where_kind) {
    const auto whole = prefix + target;
    const auto starts = [&](const std::string& path) { return path.compare(0, prefix.size(), prefix) == 0; };
    const auto shown = [&](const std::string& path) { return starts(path) ? path.substr(prefix.size()) : path; };
    std::vector<fault*> inside;
    for (auto* f : all_faults()) {
        if (f->target() == whole && f->kind() == kind) return *f;
        if (f->target() == whole || lies_in(f->target(), whole)) inside.push_back(f);
    }
    if (inside.empty()) {
        std::set<std::string> targets;
        for (const auto* f : all_faults())
            if (starts(f->target())) targets.insert(shown(f->target()));
        if (targets.empty())
            throw input_error(
                fmt::format("{}: nothing in this {} offers faults", where_target, prefix.empty() ? "machine" : "node"));
        const std::vector<std::string> known(targets.begin(), targets.end());
        throw input_error(fmt::format(
            "{}: no fault can happen to '{}'{} (allowed: {})", where_target, target, hint(shown(target), known),
            known.size() > 12 ? "see `fabricvp describe CONFIG --faults`" : fmt::format("{}", fmt::join(known, ", "))));
    }
    std::vector<std::string> kinds, places;
    fault* found = nullptr;
    for (auto* f : inside) {
        if (std::find(kinds.begin(), kinds.end(), f->kind()) == kinds.end()) kinds.push_back(f->kind());
        if (f->kind() != kind) continue;
        found = f;
        places.push_back(shown(f->target()));
    }
    if (!found)
        throw input_error(fmt::format("{}: '{}' is no fault of {}{} (allowed: {})", where_kind, kind, target,
                                      hint(kind, kinds), fmt::join(kinds, ", ")));
    if (places.size() > 1)
        throw input_error(fmt::format("{}: {} has several places for {}: give one of {}", where_target, target, kind,
                                      fmt::join(places, ", ")));
    return *found;
}

/// Fills described arguments from texts.
class argument_reader final : public parameter_visitor {
public:
    argument_reader(const std::vector<unparsed_value>& given, std::string path)
        : m_given(given), m_path(std::move(path)) {}

    /// Rejects arguments that the fault does not have.
    void finish() const {
        for (const auto& g : m_given)
            if (std::find(m_known.begin(), m_known.end(), g.key) == m_known.end())
                throw input_error(fmt::format(
                    "{}: unknown key '{}' in {}{} (allowed: {})", g.origin, g.key, m_path, hint(g.key, m_known),
                    m_known.empty() ? "no arguments" : fmt::format("{}", fmt::join(m_known, ", "))));
    }

private:
    void visit(parameter& p) override {
        m_known.emplace_back(p.name);
        for (const auto& g : m_given)
            if (g.key == p.name) try {
                    p.parse(g.text);
                } catch (const std::invalid_argument& e) {
                    throw input_error(fmt::format("{}: {}.{}: {}", g.origin, m_path, g.key, e.what()));
                }
    }
    bool enter(const char*, const char*) override { return true; }
    void leave() override {}
    std::size_t enter_list(const char*, const char*, std::size_t size) override { return size; }
    void enter_item(std::size_t) override {}
    void leave_list() override {}

    const std::vector<unparsed_value>& m_given;
    std::string m_path;
    std::vector<std::string> m_known;
};

/// Lists described arguments.
class argument_lister final : public parameter_visitor {
public:
    std::vector<platform::fault_argument> found;

private:
    void visit(parameter& p) override { found.push_back({p.name, p.text(), p.allowed(), p.help}); }
    bool enter(const char*, const char*) override { return true; }
    void leave() override {}
    std::size_t enter_list(const char*, const char*, std::size_t size) override { return size; }
    void enter_item(std::size_t) override {}
    void leave_list() override {}
};

std::unique_ptr<fault_injection> order_of(fault& f, const std::vector<unparsed_value>& arguments,
                                          const std::string& path) {
    auto order = f.order();
    argument_reader reader(arguments, path);
    try {
        order->describe(reader);
    } catch (const std::invalid_argument& e) {  // "key: what is wrong": a value in range that means nothing
        const std::string what = e.what();
        const auto key = what.substr(0, what.find(':'));
        const auto given =
            std::find_if(arguments.begin(), arguments.end(), [&](const auto& a) { return a.key == key; });
        if (given == arguments.end()) throw;
        throw input_error(fmt::format("{}: {}.{}", given->origin, path, what));
    }
    reader.finish();
    return order;
}

/// The node that a block is in; the first one for what lies between nodes.
std::size_t node_of(const std::string& target, std::size_t nodes) {
    for (std::size_t n = 0; n < nodes; ++n) {
        const auto name = fmt::format("node{}", n);
        if (target == name || lies_in(target, name)) return n;
    }
    return 0;
}

}  // namespace

void fault_plan::add_configured() {
    const auto& p = m_hardware.params;
    m_listening.assign(p.nodes.size(), false);
    for (std::size_t i = 0; i < p.faults.size(); ++i)
        add(p.faults[i], fmt::format("faults.{}", i), node_of(p.faults[i].target, p.nodes.size()), "");
    for (std::size_t n = 0; n < p.nodes.size(); ++n)
        if (m_hardware.nodes[n])
            for (std::size_t i = 0; i < p.nodes[n].faults.size(); ++i)
                add(p.nodes[n].faults[i], fmt::format("node{}.faults.{}", n, i), n, fmt::format("node{}.", n));
}

void fault_plan::add(const fault_params& p, const std::string& path, std::size_t node, const std::string& prefix) {
    for (const auto* key : {"target", "kind"})
        if ((key == std::string("target") ? p.target : p.kind).empty())
            throw input_error(fmt::format("{}: {} needs a {}", p.origin, path, key));
    auto made = std::make_unique<planned>();
    if (!is_local || is_local(prefix + p.target)) {
        auto& f = find_fault(prefix, p.target, p.kind, fmt::format("{}: {}.target", p.target_origin, path),
                             fmt::format("{}: {}.kind", p.kind_origin, path));
        made->order = order_of(f, p.arguments, path);
    }
    made->mark = p.when;
    made->path = path;
    made->node = node;
    made->after = prefix.empty() ? std::max(p.at.value, m_lookahead) : p.at.value;  // it may happen to another node
    made->number = m_planned.size();
    made->waiting = !p.when.empty();
    if (made->waiting && m_hardware.nodes[node])
        listen(node);
    else if (made->waiting || !made->order) {
    } else
        m_hardware.timeline.schedule(made->event, p.at);
    m_planned.push_back(std::move(made));
}

void fault_plan::listen(std::size_t node) {
    if (m_listening[node]) return;
    m_listening[node] = true;
    auto& marker = m_hardware.nodes[node]->host.marker;
    marker.on_mark = [this, node, next = std::move(marker.on_mark)](host::marker::kind k, const std::string& label) {
        marked(node, label);
        if (next) next(k, label);
    };
}

void fault_plan::marked(std::size_t node, const std::string& label) {
    for (auto& p : m_planned) {
        if (!p->waiting || p->node != node || p->mark != label) continue;
        p->waiting = false;
        if (p->order)
            m_hardware.timeline.schedule_in(p->event, p->after);
        else
            forward(p->number, m_hardware.timeline.now() + p->after);
    }
}

void fault_plan::tell_waiting() const {
    for (const auto& p : m_planned)
        if (p->waiting && m_hardware.nodes[p->node])
            log_message(log_level::warning, p->path,
                        fmt::format("it has not happened: node{} has set no mark {}", p->node, quoted(p->mark)));
}

void fault_plan::order(std::size_t number, ticks when) {
    auto& p = *m_planned.at(number);
    p.waiting = false;
    if (p.order) m_hardware.timeline.schedule(p.event, when);
}

void fault_plan::inject(const std::string& target, const std::string& kind, ticks at,
                        const std::vector<unparsed_value>& arguments) {
    auto& f = find_fault("", target, kind, "target", "kind");
    auto made = std::make_unique<planned>();
    made->order = order_of(f, arguments, fmt::format("{} {}", f.target(), kind));
    if (at < m_hardware.timeline.now())
        throw input_error(fmt::format("at: {} ps is over: it is {} ps now", at, m_hardware.timeline.now()));
    m_hardware.timeline.schedule(made->event, at);
    const auto done = [](const auto& p) { return !p->waiting && !p->event.scheduled(); };
    // Faults may order faults: what is happening now must stay.
    if (!m_hardware.timeline.in_callback())
        m_planned.erase(std::remove_if(m_planned.begin(), m_planned.end(), done), m_planned.end());
    m_planned.push_back(std::move(made));
}

std::vector<platform::fault_description> describe_faults() {
    std::vector<platform::fault_description> all;
    for (auto* f : all_faults()) {
        argument_lister arguments;
        f->order()->describe(arguments);
        all.push_back({f->target(), f->kind(), f->help(), std::move(arguments.found)});
    }
    return all;
}

std::string fault_listing() {
    std::map<std::string, std::vector<fault*>> kinds;  // by all that is said of them
    for (auto* f : all_faults()) {
        config_listing arguments;
        f->order()->describe(arguments);
        auto description = fmt::format("{}  # {}\n", f->kind(), f->help());
        const auto lines = arguments.text();
        for (std::size_t at = 0; at < lines.size();) {
            const auto end = lines.find('\n', at);
            description += "    " + lines.substr(at, end - at + 1);
            at = end + 1;
        }
        kinds[description].push_back(f);
    }
    std::string text;
    for (const auto& [description, places] : kinds) {
        text += description + "    at";
        for (const auto* f : places) text += ' ' + f->target();
        text += "\n\n";
    }
    text.pop_back();
    return text;
}

}  // namespace fabricvp
