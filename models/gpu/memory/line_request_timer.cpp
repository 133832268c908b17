// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/line_request_timer.h"

#include <vector>

#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

line_request_ptr line_request_timer::taken() { return {static_cast<line_request*>(this), false}; }

void line_request_timer::respond() {
    const line_request_ptr request = taken();
    if (request->client) request->client->line_done(*request);
}

line_request::~line_request() { line_request_scheduler::unlink(*this); }

void line_request_scheduler::unlink(line_request& r) {
    line_request_timer& f = r;
    if (!f.m_scheduler) return;
    auto& l = r.m_links;
    (l.m_previous ? l.m_previous->m_links.m_next : f.m_scheduler->m_first) = l.m_next;
    if (l.m_next) l.m_next->m_links.m_previous = l.m_previous;
    f.m_scheduler = nullptr;
}

void line_request_scheduler::adopt(line_request& r) {
    unlink(r);
    static_cast<line_request_timer&>(r).m_scheduler = this;
    r.m_links.m_previous = nullptr;
    r.m_links.m_next = m_first;
    if (m_first) m_first->m_links.m_previous = &r;
    m_first = &r;
}

line_request_timer& line_request_scheduler::timer_of(const line_request_ptr& request) {
    line_request_timer& f = *request;
    if (f.m_scheduler != this) adopt(*request);
    intrusive_ptr_add_ref(request.get());
    return f;
}

void line_request_scheduler::launch(line_request_timer& f, ticks when) {
    f.m_arrival_time = when;
    calendar::current().schedule(f.m_timer, when);
}

void line_request_scheduler::respond(const line_request_ptr& request, ticks when) {
    if (!request->client) return;
    line_request_timer& f = timer_of(request);
    f.m_timer.set_method<line_request_timer>(method<&line_request_timer::respond>);
    launch(f, when);
}

void line_request_scheduler::cancel() {
    std::vector<line_request_ptr> dropped;  // giving one back may destroy others of the list
    while (m_first) {
        line_request& r = *m_first;
        unlink(r);
        line_request_timer& f = r;
        if (!f.m_timer.scheduled()) continue;
        calendar::current().cancel(f.m_timer);
        dropped.emplace_back(&r, false);
    }
}

}  // namespace fabricvp::gpu
