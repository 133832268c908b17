// SPDX-License-Identifier: Apache-2.0
#include "base/fault.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace fabricvp {

namespace {

std::vector<fault*>& registry() {
    static auto* all = new std::vector<fault*>;  // outlives every model, static ones too
    return *all;
}

auto place(const fault& f) {
    auto& all = registry();
    return std::lower_bound(all.begin(), all.end(), f, [](const fault* a, const fault& b) {
        return std::tie(a->target(), a->kind()) < std::tie(b.target(), b.kind());
    });
}

}  // namespace

fault::fault(const sc_core::sc_object& owner, const char* kind, const char* help)
    : injected(owner, std::string("faults.") + kind, "1", std::string("injected: ") + help),
      m_target(owner.name()),
      m_kind(kind),
      m_help(help) {
    registry().insert(place(*this), this);
}

fault::~fault() { registry().erase(place(*this)); }

const std::vector<fault*>& all_faults() { return registry(); }

}  // namespace fabricvp
