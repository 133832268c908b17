// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/line_flight.h"

#include <vector>

#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

void line_flight::arrive() {
    const line_request_ptr request(&m_request, false);  // takes over the reference of launch()
    m_arrive(m_place, request);
}

void line_flight::unlink() {
    if (!m_home) return;
    (m_previous ? m_previous->m_next : m_home->m_first) = m_next;
    if (m_next) m_next->m_previous = m_previous;
    m_home = nullptr;
}

void line_flights::adopt(line_flight& f) {
    f.unlink();
    f.m_home = this;
    f.m_previous = nullptr;
    f.m_next = m_first;
    if (m_first) m_first->m_previous = &f;
    m_first = &f;
}

void line_flights::launch(const line_request_ptr& request, ticks when, line_flight::arrival arrive, void* place) {
    line_flight& f = request->flight;
    if (f.m_home != this) adopt(f);
    intrusive_ptr_add_ref(request.get());
    f.m_arrive = arrive;
    f.m_place = place;
    f.m_landing = when;
    calendar::current().schedule(f.m_timer, when);
}

void line_flights::answer(const line_request_ptr& request, ticks when) {
    if (!request->client) return;
    launch(
        request, when,
        [](void*, const line_request_ptr& r) {
            if (r->client) r->client->line_done(*r);
        },
        nullptr);
}

void line_flights::cancel() {
    std::vector<line_request_ptr> dropped;  // giving one back may destroy others of the list
    while (m_first) {
        line_flight& f = *m_first;
        f.unlink();
        if (!f.m_timer.scheduled()) continue;
        calendar::current().cancel(f.m_timer);
        dropped.emplace_back(&f.m_request, false);
    }
}

}  // namespace fabricvp::gpu
