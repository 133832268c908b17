// SPDX-License-Identifier: Apache-2.0
#include "gpu/line_flight.h"

#include "gpu/memory_types.h"

namespace fabricvp::gpu {

void line_flight::arrive() {
    (m_previous ? m_previous->m_next : m_home->m_first) = m_next;
    if (m_next) m_next->m_previous = m_previous;
    m_home = nullptr;
    const line_request_ptr request(&m_request, false);  // takes over the reference of launch()
    m_arrive(m_place, request);
}

void line_flights::launch(const line_request_ptr& request, ticks when, line_flight::arrival arrive, void* place) {
    line_flight& f = request->flight;
    intrusive_ptr_add_ref(request.get());
    f.m_arrive = arrive;
    f.m_place = place;
    f.m_home = this;
    f.m_landing = when;
    f.m_previous = nullptr;
    f.m_next = m_first;
    if (m_first) m_first->m_previous = &f;
    m_first = &f;
    calendar::current().schedule(f.m_timer, when);
}

void line_flights::answer(const line_request_ptr& request, ticks when) {
    if (!request->client) return;
    launch(request, when, [](void*, const line_request_ptr& r) { if (r->client) r->client->line_done(*r); }, nullptr);
}

void line_flights::cancel() {
    while (m_first) {
        line_flight& f = *m_first;
        m_first = f.m_next;
        if (m_first) m_first->m_previous = nullptr;
        if (auto* c = calendar::find()) c->cancel(f.m_timer);
        f.m_home = nullptr;
        const line_request_ptr request(&f.m_request, false);
    }
}

}  // namespace fabricvp::gpu
