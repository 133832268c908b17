// SPDX-License-Identifier: Apache-2.0
// A run with ranks as rank 0 sees and steers it. Where all ranks stand at one time, rank 0 asks the others, which
// follow, for what it wants (their parts of a frame, a key typed, a fault), as often as it likes, then lets all go on
// to the next such time. Where those times lie has no influence on what happens in the simulation.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "platform/ranks/communicator.h"
#include "platform/ranks/partition.h"
#include "platform/run_subject.h"

namespace fabricvp {

/// One rank's part in it. All ranks make it.
class ranked_look {
public:
    /// \param own what this rank has; all must live as long
    ranked_look(ranks::communicator& comm, const ranks::partition& parts, std::unique_ptr<run_subject> own);
    ~ranked_look();

    const ranks::partition& parts() const { return m_parts; }
    run_subject& own() { return *m_own; }

    /// When all ranks stand still next.
    ticks next() const { return m_next; }
    /// A run begins, with a look.
    void run_begins() { m_next = 0; }
    /// Whether there are onlookers.
    bool watched() const { return m_watched; }
    /// Whether the run is to end.
    bool stopped() const { return m_stopped; }

    // Of rank 0.

    /// Has all ranks do something, this one as well. \returns what each has to say, by rank
    std::vector<nlohmann::ordered_json> ask(const nlohmann::ordered_json& order);
    /// Ends the others' follow(). All ranks run on, until `when` at the latest.
    void go_on(ticks when, bool watched, bool stop);

    // Of the others.

    /// Does what rank 0 asks for, until that lets all go on.
    void follow();

private:
    nlohmann::ordered_json perform(const nlohmann::ordered_json& order);
    void tell(const nlohmann::ordered_json& order);
    void apply(const nlohmann::ordered_json& going);

    ranks::communicator& m_comm;
    const ranks::partition& m_parts;
    std::unique_ptr<run_subject> m_own;
    std::vector<ranks::bytes> m_to, m_from;
    ticks m_next = 0;
    bool m_watched = false, m_stopped = false;

    // Of rank 0: how long all ran, and for how much simulated time they run without a look.
    std::chrono::steady_clock::time_point m_went;
    ticks m_went_at = 0, m_period;
};

/// The whole machine, in rank 0.
class ranked_subject final : public run_subject {
public:
    explicit ranked_subject(ranked_look& look) : m_look(look) {}

    nlohmann::ordered_json description() override;
    void add_to(nlohmann::ordered_json& frame) override;
    void restart_consoles() override;
    ticks now() const override { return m_look.own().now(); }
    void type(std::size_t node, const std::string& text) override;
    void inject(const std::string& target, const std::string& kind, const arguments& given) override;
    void look_at(ticks when) override { m_look_at = when; }
    void look_soon() override {}  // all ranks stand still soon

    ticks look_at() const { return m_look_at; }

private:
    ranked_look& m_look;
    ticks m_look_at = never;
};

}  // namespace fabricvp
