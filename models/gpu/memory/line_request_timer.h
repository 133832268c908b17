// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/calendar.h"

#include <boost/smart_ptr/intrusive_ptr.hpp>

namespace fabricvp::gpu {

class line_request;
class line_request_scheduler;

/// The timer of a line request, which is its base: what happens to it next, and when. A request is in one place at a
/// time, so it needs one.
class line_request_timer {
public:
    /// When the last launch ended or will end.
    ticks arrival_time() const { return m_arrival_time; }

protected:
    line_request_timer() = default;

private:
    friend class line_request_scheduler;
    /// Takes over the reference of the launch.
    boost::intrusive_ptr<line_request> taken();
    template <auto Method, class Place>
    void arrive() {
        (static_cast<Place*>(m_target)->*Method)(taken());
    }
    void respond();

    calendar_event m_timer{method<&line_request_timer::respond>, this};
    ticks m_arrival_time = 0;
    line_request_scheduler* m_scheduler = nullptr;  // where it was launched last
    void* m_target = nullptr;
};

/// The neighbours of a line request among all that were launched at its scheduler. Apart from its timer, since
/// launches do not touch them.
class line_request_links {
    friend class line_request_scheduler;
    line_request* m_next = nullptr;
    line_request* m_previous = nullptr;
};

/// All line requests under way inside one GPU. Launching one costs no allocation; a reset drops them all. Requests come
/// back from their pools again and again, so they stay listed here when they have arrived.
class line_request_scheduler {
public:
    line_request_scheduler() = default;
    line_request_scheduler(const line_request_scheduler&) = delete;
    line_request_scheduler& operator=(const line_request_scheduler&) = delete;
    ~line_request_scheduler() { cancel(); }

    /// Calls `place.Method(request)` at `when`; until then the request is kept alive.
    template <auto Method, class Place>
    void schedule(const boost::intrusive_ptr<line_request>& request, ticks when, Place& target) {
        line_request_timer& f = timer_of(request);
        f.m_timer.template set_method<line_request_timer>(method<&line_request_timer::arrive<Method, Place>>);
        f.m_target = &target;
        launch(f, when);
    }
    /// Tells the request's client, if it has one, at `when` that the response is there.
    void respond(const boost::intrusive_ptr<line_request>& request, ticks when);
    /// Drops everything, without responses.
    void cancel();

private:
    friend class line_request;
    /// The timer, with a reference to its request and listed here.
    line_request_timer& timer_of(const boost::intrusive_ptr<line_request>& request);
    static void launch(line_request_timer& f, ticks when);
    static void unlink(line_request& r);
    void adopt(line_request& r);

    line_request* m_first = nullptr;
};

}  // namespace fabricvp::gpu
