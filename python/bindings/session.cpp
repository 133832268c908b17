// SPDX-License-Identifier: Apache-2.0
#include "bindings/session.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include <poll.h>

#include <fmt/format.h>

#include "platform/common/input_error.h"
#include "platform/common/terminal.h"
#include "platform/console/console.h"
#include "platform/loader/image_paths.h"
#include "platform/machine.h"
#include "platform/results/results.h"

namespace fabricvp::python {
namespace {

constexpr std::chrono::milliseconds poll_period{20};  // of wall time: how soon Ctrl-C is seen

}  // namespace

session* session::s_session = nullptr;

session& session::from_config(const std::string& path, const platform::overrides& set) {
    return adopt(platform::from_config(path, set));
}

session& session::from_text(const std::string& yaml, const std::string& name, const platform::overrides& set) {
    return adopt(platform::from_text(yaml, name, set));
}

session& session::from_recording(const std::string& recording, const std::string& path, const platform::overrides& set,
                                 const std::string& replica_placement) {
    return adopt(platform::from_recording(recording, path, set, replica_placement));
}

session& session::adopt(std::unique_ptr<platform> machine) {
    // Never destroyed: Python objects hold on to it in any order at exit, and SystemC cannot start again anyway.
    s_session = new session(std::move(machine));
    return *s_session;
}

session::session(std::unique_ptr<platform> machine)
    : m_platform(std::move(machine)), m_nodes(m_platform->node_count()) {
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        auto& n = m_nodes[i];
        auto& hardware = *m_platform->hardware().nodes[i];
        n.host = &hardware.host;
        for (auto& hart : n.host->harts) n.harts.push_back(hart.get());
        find_devices(n, hardware);
        n.stops = std::make_unique<stop_listener>(
            n.harts, [this](const std::string& detail) { m_platform->stop_with(run_outcome::breakpoint, detail); });
    }
    m_platform->add_service([this] { poll(); });
}

void session::find_devices(node& into, const sc_core::sc_object& under) {
    for (auto* child : under.get_child_objects()) {
        if (auto* device = dynamic_cast<host::register_target*>(child)) into.devices.push_back(device);
        find_devices(into, *child);
    }
}

session::node& session::at(std::size_t index) {
    if (index >= m_nodes.size())
        throw std::out_of_range(fmt::format("there is no node {}: the machine has {}", index, m_nodes.size()));
    return m_nodes[index];
}

void session::check_not_running() const {
    if (m_running) throw std::runtime_error("the machine is running: this cannot be called from within a callback");
}

std::tuple<std::string, int, std::string> session::run_until(ticks limit, const py::object& progress) {
    check_not_running();
    m_failure = nullptr;
    m_last_poll = {};
    if (progress.is(py::bool_(true))) {
        status_line::share_with_log();
        m_progress_line.emplace(*m_platform, limit);
    } else if (!progress.is_none()) {
        m_progress_meter.emplace(*m_platform, limit);
        m_on_progress = progress;
        if (const auto text = m_progress_meter->forecast()) m_on_progress("begins", *text);
    }
    run_result result;
    {
        struct running {
            bool& flag;
            explicit running(bool& f) : flag(f) { flag = true; }
            ~running() { flag = false; }
        } guard(m_running);
        struct shown {
            session& s;
            ~shown() {
                s.m_progress_line.reset();
                s.m_progress_meter.reset();
            }
        } shown{*this};
        py::gil_scoped_release nogil;
        result = m_platform->run_until(limit);
    }
    m_on_progress = py::object();
    const auto done = [](const std::shared_ptr<python_timer>& t) { return !t->active(); };
    m_timers.erase(std::remove_if(m_timers.begin(), m_timers.end(), done), m_timers.end());
    if (m_failure) std::rethrow_exception(std::exchange(m_failure, nullptr));
    return {name_of(result.outcome), result.guest_status, result.detail};
}

void session::fail(std::exception_ptr error) {
    if (!m_failure) m_failure = std::move(error);
    m_platform->stop_with(run_outcome::interrupted, "an exception was raised");
}

void session::tell_progress() {
    const auto text = m_progress_meter->poll();
    if (!text || m_progress_meter->idle()) return;
    const auto warning = m_progress_meter->warning();
    py::gil_scoped_acquire gil;
    try {
        m_on_progress(*text, warning ? py::object(py::str(*warning)) : py::none());
    } catch (py::error_already_set&) {
        fail(std::current_exception());
    }
}

void session::poll() {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_last_poll < poll_period) return;
    m_last_poll = now;
    if (m_parent >= 0) {
        pollfd parent{m_parent, 0, 0};
        if (::poll(&parent, 1, 0) > 0 && (parent.revents & (POLLHUP | POLLERR))) m_platform->request_stop();
    }
    if (!m_running) return;
    if (m_progress_line) m_progress_line->poll();
    if (m_progress_meter) tell_progress();
    py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return;
    try {
        throw py::error_already_set();
    } catch (py::error_already_set&) {
        fail(std::current_exception());
    }
}

/// Images take effect at a reset, which the machine has behind it once it has run.
void session::check_not_begun() const {
    check_not_running();
    if (m_platform->now() != 0) throw input_error("images are loaded before the first run()");
}

void session::load_images(std::size_t node, const image_set& images) {
    check_not_begun();
    auto& files = at(node).elf_files;
    m_platform->load_images(node, images);
    for (const auto& path : {images.firmware, images.kernel})
        if (!path.empty()) files.push_back(find_image(path, {}));
}

void session::load_app(std::size_t node, const std::string& name, const app_options& options) {
    check_not_begun();
    at(node);
    fabricvp::load_app(*m_platform, node, name, options);
    at(node).elf_files.push_back(find_image(images_of_app(name, options).firmware, {}));
}

std::uint64_t session::load_elf(std::size_t node, const std::string& path) {
    check_not_running();
    at(node);
    const auto entry = m_platform->load_elf(node, path);
    at(node).elf_files.push_back(path);
    return entry;
}

void session::reset(std::optional<std::size_t> node) {
    check_not_running();
    if (node)
        at(*node), m_platform->reset(*node);
    else
        m_platform->reset();
}

std::tuple<std::string, int, std::string, ticks> session::outcome(std::size_t node) {
    at(node);
    const auto& o = m_platform->outcome(node);
    return {name_of(o.state), o.status, o.detail, o.at};
}

std::shared_ptr<python_timer> session::call_at(ticks when, py::function function) {
    auto timer = std::make_shared<python_timer>(*this, std::move(function));
    timer->schedule(when);
    m_timers.push_back(timer);
    return timer;
}

void session::before_fork() {
    check_not_running();
    std::fflush(nullptr);
}

void session::after_fork_in_child() { m_platform->detach_after_fork(); }

void session::close() {
    for (std::size_t i = 0; i < m_nodes.size(); ++i) m_platform->serial(i).attach("none");
    std::fflush(nullptr);
}

}  // namespace fabricvp::python
