// SPDX-License-Identifier: Apache-2.0
#include "base/model.h"

#include <algorithm>

namespace fabricvp {

model::model(const sc_core::sc_module_name& name) : sc_module(name), m_calendar(calendar::current()) {
    for (sc_core::sc_object* o = get_parent_object(); o && !m_outer; o = o->get_parent_object())
        m_outer = dynamic_cast<model*>(o);
    if (m_outer) m_outer->m_inner.push_back(this);
}

model::~model() {
    for (model* m : m_inner) m->m_outer = nullptr;
    if (!m_outer) return;
    auto& siblings = m_outer->m_inner;
    siblings.erase(std::find(siblings.begin(), siblings.end(), this));
}

void model::reset() {
    for (model* m : m_inner) m->reset();
}

}  // namespace fabricvp
