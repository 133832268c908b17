// SPDX-License-Identifier: Apache-2.0
#include "platform/run_monitor.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parameters.h"
#include "base/quantity.h"
#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

using json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds nap{10};       // while the run stands still
constexpr double pacing_period = 0.02;             // seconds of wall time between looks at the speed
constexpr std::chrono::milliseconds max_lag{200};  // a run that was slower does not make up for more
constexpr std::size_t max_untaken = 128 << 10;     // characters of a console
constexpr std::size_t max_id = 100;                // bytes of a command's number, where that is a text

std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

/// What replies repeat, as frames do for all clients: nothing large, and nothing that is nested.
/// \throws input_error
void check_id(const json& id) {
    if (id.is_null() || id.is_number() || (id.is_string() && id.get_ref<const std::string&>().size() <= max_id)) return;
    throw input_error(fmt::format("id: must be a number or a text of at most {} bytes", max_id));
}

/// What a frame that was not taken told, and a newer one does not.
void add_untaken(json& frame, const json& before) {
    for (std::size_t i = 0; i < frame["consoles"].size(); ++i) {
        auto text = before["consoles"][i].get<std::string>() + frame["consoles"][i].get<std::string>();
        if (text.size() > max_untaken) {
            auto from = text.size() - max_untaken;
            while (from < text.size() && (text[from] & 0xc0) == 0x80) ++from;  // not inside a character
            text.erase(0, from);
        }
        frame["consoles"][i] = std::move(text);
    }
    auto replies = before["replies"];
    replies.insert(replies.end(), frame["replies"].begin(), frame["replies"].end());
    frame["replies"] = std::move(replies);
}

ticks time_of(const json& command) {
    duration value;
    parameter p("time", "", parameter_kind::duration, &value);
    try {
        p.parse(command.at("time").get<std::string>());
    } catch (const std::invalid_argument& e) {
        throw input_error(fmt::format("time: {}", e.what()));
    }
    if (value.value == 0) throw input_error("time: must be above 0");
    return value.value;
}

}  // namespace

run_monitor::run_monitor(std::unique_ptr<run_subject> subject)
    : m_subject(std::move(subject)),
      m_description(text_of(m_subject->description())),
      m_replies(std::make_unique<json>(json::array())) {
    publish();
}

run_monitor::~run_monitor() = default;

std::optional<std::string> run_monitor::frame(std::chrono::milliseconds timeout) {
    std::unique_lock lock(m_mutex);
    if (!m_ready) {
        m_frame_wanted = true;
        wake();
        m_arrived.wait_for(lock, timeout, [this] { return m_ready.has_value(); });
    }
    return std::exchange(m_ready, std::nullopt);
}

void run_monitor::send(std::string command) {
    const std::lock_guard lock(m_mutex);
    m_commands.push_back(std::move(command));
    m_frame_wanted = true;
    wake();
}

void run_monitor::leave() {
    const std::lock_guard lock(m_mutex);
    m_commands.clear();
    m_left = true;
    wake();
}

/// With the mutex held.
void run_monitor::wake() {
    if (m_closed) return;
    m_pending = true;
    m_subject->look_soon();
    m_woken.notify_one();
}

void run_monitor::close() {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_subject.reset();
}

bool run_monitor::look() {
    if (m_pending.exchange(false)) {
        std::deque<std::string> commands;
        bool wanted, left;
        {
            const std::lock_guard lock(m_mutex);
            commands.swap(m_commands);
            wanted = std::exchange(m_frame_wanted, false);
            left = std::exchange(m_left, false);
        }
        if (left) {
            m_paused = false;
            m_step_end = never;
            m_speed = 0;
        }
        for (const auto& c : commands) m_replies->push_back(perform(c));
        if (wanted) publish();
    }
    if (m_subject->now() >= m_step_end) pause();
    const bool holds = m_paused || is_too_fast();
    arm();
    return holds;
}

/// Sets when the calendar is interrupted next.
void run_monitor::arm() {
    auto next = m_step_end;
    if (m_speed && !m_paused) {
        const auto period = static_cast<ticks>(static_cast<double>(m_speed) * pacing_period);
        next = std::min(next, m_subject->now() + std::max<ticks>(period, 1));
    }
    m_subject->look_at(next);
    if (m_pending) m_subject->look_soon();  // it came meanwhile
}

void run_monitor::rest() {
    std::unique_lock lock(m_mutex);
    m_woken.wait_for(lock, nap, [this] { return m_pending.load(); });
}

void run_monitor::pause() {
    {
        const std::lock_guard lock(m_mutex);
        m_left = false;  // of those who looked before
    }
    m_paused = true;
    m_step_end = never;
}

void run_monitor::show_again() {
    m_subject->restart_consoles();
    {
        const std::lock_guard lock(m_mutex);
        m_ready.reset();
    }
    publish();
}

void run_monitor::restart_pacing() {
    m_paced_from = m_subject->now();
    m_paced_since = wall_clock::now();
}

bool run_monitor::is_too_fast() {
    if (m_speed == 0) return false;
    const std::chrono::duration<double> wall = wall_clock::now() - m_paced_since;
    const double ahead = static_cast<double>(m_subject->now() - m_paced_from) / static_cast<double>(m_speed);
    if (wall.count() - ahead > std::chrono::duration<double>(max_lag).count()) restart_pacing();
    return ahead > wall.count();
}

json run_monitor::perform(const std::string& text) {
    json reply = {{"id", nullptr}};
    try {
        const auto command = json::parse(text);
        if (command.contains("id")) {
            check_id(command["id"]);
            reply["id"] = command["id"];
        }
        perform(command);
    } catch (const json::exception&) {
        reply["error"] = "not a command: see platform/run_monitor.h";
    } catch (const std::exception& e) {
        reply["error"] = e.what();
    }
    return reply;
}

void run_monitor::perform(const json& command) {
    const auto what = command.at("do").get<std::string>();
    if (what == "pause") {
        pause();
    } else if (what == "continue") {
        m_paused = false;
        m_step_end = never;
        restart_pacing();
    } else if (what == "step") {
        m_step_end = m_subject->now() + time_of(command);
        m_paused = false;
        restart_pacing();
    } else if (what == "speed") {
        m_speed = command.at("time").is_null() ? 0 : time_of(command);
        restart_pacing();
    } else if (what == "type") {
        if (!command.at("node").is_number_unsigned()) throw input_error("node: must be a whole number from 0 on");
        m_subject->type(command["node"].get<std::size_t>(), command.at("text").get<std::string>());
    } else if (what == "inject") {
        run_subject::arguments arguments;
        if (command.contains("arguments"))
            for (const auto& [key, value] : command["arguments"].items())
                arguments.emplace_back(key, value.get<std::string>());
        m_subject->inject(command.at("target").get<std::string>(), command.at("kind").get<std::string>(), arguments);
    } else {
        throw input_error(fmt::format("there is no command '{}': pause, continue, step, speed, type, inject", what));
    }
}

void run_monitor::publish() {
    json f = {{"time_ps", m_subject->now()},
              {"wall_s", std::chrono::duration<double>(wall_clock::now() - m_began).count()},
              {"state", !m_running ? "stopped"
                        : m_paused ? "paused"
                                   : "running"},
              {"outcome", m_outcome},
              {"speed_ps", m_speed}};
    m_subject->add_to(f);
    f["replies"] = std::exchange(*m_replies, json::array());
    const std::lock_guard lock(m_mutex);
    if (m_ready) add_untaken(f, json::parse(*m_ready));
    m_ready = text_of(f);
    m_arrived.notify_all();
}

void run_monitor::run_begins() {
    m_running = true;
    m_outcome.clear();
    restart_pacing();
}

void run_monitor::run_ended(const std::string& outcome) {
    m_running = false;
    m_outcome = outcome;
    m_step_end = never;
    m_subject->look_at(never);
    publish();
}

}  // namespace fabricvp
