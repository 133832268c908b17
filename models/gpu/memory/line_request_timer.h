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
    ~line_request_timer() { unlink(); }

private:
    friend class line_request_scheduler;
    using delivery = void (*)(void* target, const boost::intrusive_ptr<line_request>& request);
    void arrive();
    void unlink();

    calendar_event m_timer{method<&line_request_timer::arrive>, this};
    ticks m_arrival_time = 0;
    line_request_scheduler* m_scheduler = nullptr;  // where it was launched last
    line_request_timer* m_next = nullptr;           // of all that were launched there
    line_request_timer* m_previous = nullptr;
    delivery m_arrive = nullptr;
    void* m_target = nullptr;
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
        schedule(
            request, when,
            [](void* p, const boost::intrusive_ptr<line_request>& r) { (static_cast<Place*>(p)->*Method)(r); },
            &target);
    }
    /// Tells the request's client, if it has one, at `when` that the response is there.
    void respond(const boost::intrusive_ptr<line_request>& request, ticks when);
    /// Drops everything, without responses.
    void cancel();

private:
    friend class line_request_timer;
    void schedule(const boost::intrusive_ptr<line_request>& request, ticks when, line_request_timer::delivery arrive,
                  void* target);

    void adopt(line_request_timer& f);

    line_request_timer* m_first = nullptr;
};

}  // namespace fabricvp::gpu
