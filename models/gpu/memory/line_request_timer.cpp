// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/line_request_timer.h"

#include <vector>

#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

void line_request_timer::arrive() {
    const line_request_ptr request(static_cast<line_request*>(this), false);  // takes over the reference of launch()
    m_arrive(m_target, request);
}

void line_request_timer::unlink() {
    if (!m_scheduler) return;
    (m_previous ? m_previous->m_next : m_scheduler->m_first) = m_next;
    if (m_next) m_next->m_previous = m_previous;
    m_scheduler = nullptr;
}

void line_request_scheduler::adopt(line_request_timer& f) {
    f.unlink();
    f.m_scheduler = this;
    f.m_previous = nullptr;
    f.m_next = m_first;
    if (m_first) m_first->m_previous = &f;
    m_first = &f;
}

void line_request_scheduler::schedule(const line_request_ptr& request, ticks when, line_request_timer::delivery arrive,
                                      void* target) {
    line_request_timer& f = *request;
    if (f.m_scheduler != this) adopt(f);
    intrusive_ptr_add_ref(request.get());
    f.m_arrive = arrive;
    f.m_target = target;
    f.m_arrival_time = when;
    calendar::current().schedule(f.m_timer, when);
}

void line_request_scheduler::respond(const line_request_ptr& request, ticks when) {
    if (!request->client) return;
    schedule(
        request, when,
        [](void*, const line_request_ptr& r) {
            if (r->client) r->client->line_done(*r);
        },
        nullptr);
}

void line_request_scheduler::cancel() {
    std::vector<line_request_ptr> dropped;  // giving one back may destroy others of the list
    while (m_first) {
        line_request_timer& f = *m_first;
        f.unlink();
        if (!f.m_timer.scheduled()) continue;
        calendar::current().cancel(f.m_timer);
        dropped.emplace_back(static_cast<line_request*>(&f), false);
    }
}

}  // namespace fabricvp::gpu
