// SPDX-License-Identifier: Apache-2.0
#include "pcie/tlp.h"

namespace fabricvp::pcie {

void tlp::recycle() {
    static_cast<tlp_fields&>(*this) = tlp_fields{};
    spans.clear();
}

tlp_ptr make_tlp() {
    static pool<tlp> packets;
    return packets.make();
}

void end_write(tlp& t, ticks when, const sc_core::sc_object& at) {
    if (!span_recorder::on() || t.spans.empty()) return;
    auto& recorder = span_recorder::current();
    if (const auto& m = t.parent_write; m.who)
        recorder.finish(t.spans, t.spans.spans().front().begin, when, m.who, m.what, m.number);
    else
        recorder.finish(t.spans, t.injected_at, when, &at, "write", t.address);
}

}  // namespace fabricvp::pcie
