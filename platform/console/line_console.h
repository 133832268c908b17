// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "platform/console/console.h"
#include "platform/console/console_backend.h"

namespace fabricvp {

/// The console of one node's serial line.
class line_console final : public console {
public:
    /// \param send hands typed bytes to the line
    line_console(std::string name, std::function<void(std::string_view)> send, std::function<ticks()> now);

    const std::string& output() const override { return m_output; }
    void type(std::string_view text) override;
    void on_output(std::function<void(char)> sink) override { m_sinks.push_back(std::move(sink)); }
    void attach(const std::string& where) override;
    std::string recorded_input() const override;
    void replay(const std::string& recording, const std::string& name) override;
    void configure(const console_options& options) override { m_options = options; }
    std::uint16_t port() const override { return m_backend.end ? m_backend.end->port() : 0; }

    /// What is piped in goes to the line once the guest reads: before, it would be lost. While `queued` bytes wait, no
    /// more is taken.
    void hold_piped_input(std::function<bool()> guest_reads, std::function<std::size_t()> queued);
    /// When replay() wants to type next; `never` if it does not.
    ticks next_input() const { return m_replay.empty() ? never : m_replay.front().when; }

    /// Writes what is printed into a file as it comes, beginning with what was printed before. \throws input_error
    void log_into(const std::string& path);
    /// Completes the log. \returns whether there is one \throws input_error
    bool end_log();
    /// From now on what the other end types is ignored, since a script does.
    void mute_input() { m_replaying = true; }

    /// In a forked child: releases the other end without touching it.
    void abandon();

    /// The guest printed a byte.
    void printed(char c);
    /// Moves data between the line and the outside; on the simulation thread, between slices.
    void poll();
    /// The same while the run stands still, where input counts that a person or a program types now.
    void serve_person();
    bool may_type() const { return m_backend.end && m_backend.end->may_type() && !m_replaying; }
    bool wants_quit() const { return m_backend.end && m_backend.end->wants_quit(); }

private:
    struct chunk {
        ticks when;
        std::string text;
    };

    std::string m_name;
    console_options m_options;
    std::function<void(std::string_view)> m_send;
    std::function<ticks()> m_now;
    /// Where text goes, and what is on its way there.
    struct outlet {
        std::unique_ptr<console_backend> end;
        std::string pending;
        void flush();
    };
    void take_input();

    std::string m_output;
    bool m_output_full = false;
    std::vector<std::function<void(char)>> m_sinks;
    std::vector<chunk> m_typed;
    std::deque<chunk> m_replay;
    bool m_replaying = false;
    outlet m_backend, m_log;
    std::function<bool()> m_guest_reads;
    std::function<std::size_t()> m_queued;
    std::string m_held;  ///< piped in before the guest reads
};

}  // namespace fabricvp
