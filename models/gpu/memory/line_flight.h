// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/calendar.h"

#include <boost/smart_ptr/intrusive_ptr.hpp>

namespace fabricvp::gpu {

class line_request;
class line_flights;

/// The timer of a line request: what happens to it next, and when. A request is in one place at a time, so it needs
/// one.
class line_flight {
public:
    explicit line_flight(line_request& request) : m_request(request) {}
    ~line_flight() { unlink(); }
    /// When the last launch ended or will end.
    ticks landing() const { return m_landing; }

private:
    friend class line_flights;
    using arrival = void (*)(void* place, const boost::intrusive_ptr<line_request>& request);
    void arrive();
    void unlink();

    line_request& m_request;
    calendar_event m_timer{method<&line_flight::arrive>, this};
    ticks m_landing = 0;
    line_flights* m_home = nullptr;  // where it was launched last
    line_flight* m_next = nullptr;   // of all that were launched there
    line_flight* m_previous = nullptr;
    arrival m_arrive = nullptr;
    void* m_place = nullptr;
};

/// All line requests under way inside one GPU. Launching one costs no allocation; a reset drops them all. Requests come
/// back from their pools again and again, so they stay listed here when they have arrived.
class line_flights {
public:
    line_flights() = default;
    line_flights(const line_flights&) = delete;
    line_flights& operator=(const line_flights&) = delete;
    ~line_flights() { cancel(); }

    /// Calls `place.Method(request)` at `when`; until then the request is kept alive.
    template <auto Method, class Place>
    void launch(const boost::intrusive_ptr<line_request>& request, ticks when, Place& place) {
        launch(
            request, when,
            [](void* p, const boost::intrusive_ptr<line_request>& r) { (static_cast<Place*>(p)->*Method)(r); }, &place);
    }
    /// Tells the request's client, if it has one, at `when` that the answer is there.
    void answer(const boost::intrusive_ptr<line_request>& request, ticks when);
    /// Drops everything; nobody hears of it.
    void cancel();

private:
    friend class line_flight;
    void launch(const boost::intrusive_ptr<line_request>& request, ticks when, line_flight::arrival arrive,
                void* place);

    void adopt(line_flight& f);

    line_flight* m_first = nullptr;
};

}  // namespace fabricvp::gpu
