// SPDX-License-Identifier: Apache-2.0
// A run as a page or a program beside it sees and steers it. Other threads ask for frames and send commands; both are
// served on the simulation thread between two events, so that nothing happens otherwise in simulated time. Texts are
// JSON:
//
//     description: {"topology": …, "links": [{"link": "PATH OF GRAPH/NUMBER", "from", "to", "port", "bytes_per_second",
//                   "unit": of the queue}], "nodes": [name], "faults": [{"target", "kind", "help", "arguments": […]}]}
//     frame: {"time_ps", "wall_s", "state": "running", "paused" or "stopped", "outcome", "speed_ps",
//             "links": [[bytes, busy in ps, queue, up]], "consoles": [text], "nodes": […], "harts": […], "gpus": […],
//             "queue_pairs": […], "waits": […], "replies": [{"id", "error"}]}
//     command: {"id": 1, "do": "pause"}, "continue", {"do": "step", "time": "10 us"}, {"do": "speed", "time": "1 ms"}
//              (of simulated time a second, at most; null: no limit), {"do": "type", "node": 0, "text": "ls\n"},
//              {"do": "inject", "target": "node0.gpu0.link", "kind": "link_down", "arguments": {"lasting": "1 us"}}
//
// Text of consoles has a character for each byte (Latin-1). The "id" of a command is a number, or a text of at most 100
// bytes.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/time.h"
#include "platform/run_subject.h"

namespace fabricvp {

class run_monitor {
public:
    /// On the simulation thread.
    explicit run_monitor(std::unique_ptr<run_subject> subject);
    ~run_monitor();

    // Of any thread.

    const std::string& description() const { return m_description; }
    /// Asks for a frame. \returns the next one, nothing if none is made within `timeout` (no run is going on)
    std::optional<std::string> frame(std::chrono::milliseconds timeout);
    /// The command is performed soon; the next frame has a reply.
    void send(std::string command);
    /// Whether there are onlookers, who may type.
    void set_watched(bool on) { m_watched = on; }
    bool watched() const { return m_watched; }
    /// The last onlooker is gone: nothing holds or slows runs any more, and commands that wait are dropped.
    void leave();

    // Of the simulation thread.

    /// Performs commands and makes a frame if one is wanted. To be called between slices and where the calendar was
    /// interrupted. \returns true if the run is to stand still
    bool look();
    /// Sleeps until something is to be done, for some milliseconds at most.
    void rest();
    void pause();
    /// Makes a frame for one who has seen none, with all that consoles have printed. Not while a run goes on.
    void show_again();
    void run_begins();
    /// Makes a last frame. \param outcome one line
    void run_ended(const std::string& outcome);
    /// The platform is gone; what is asked for from now on is not answered.
    void close();

private:
    using wall_clock = std::chrono::steady_clock;

    void wake();
    nlohmann::ordered_json perform(const std::string& text);
    void perform(const nlohmann::ordered_json& command);
    void step(ticks time);
    void restart_pacing();
    bool is_too_fast();
    void arm();
    void publish();

    std::unique_ptr<run_subject> m_subject;  // until the platform is gone
    std::string m_description;

    std::mutex m_mutex;  // of what stands below, up to m_pending
    std::condition_variable m_woken, m_arrived;
    std::deque<std::string> m_commands;
    bool m_frame_wanted = false, m_left = false, m_closed = false;
    std::optional<std::string> m_ready;  // a frame that is not taken
    std::atomic<bool> m_pending{false}, m_watched{false};

    // Of the simulation thread.
    bool m_paused = false, m_running = false;
    ticks m_step_end = never;
    ticks m_speed = 0;  // in a second of wall time, at most; 0: no limit
    ticks m_paced_from = 0;
    wall_clock::time_point m_paced_since;
    const wall_clock::time_point m_began = wall_clock::now();
    std::string m_outcome;
    std::unique_ptr<nlohmann::ordered_json> m_replies;
};

}  // namespace fabricvp
