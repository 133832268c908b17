// SPDX-License-Identifier: Apache-2.0
#include "pcie/tlp.h"

namespace fabricvp::pcie {

void tlp::recycle() {
    static_cast<tlp_fields&>(*this) = tlp_fields{};
    spans.clear();
}

void tlp::account(const span_stage& stage, span_kind kind, ticks until) {
    if (until <= accounted) return;
    spans.add(stage, kind, accounted, until);
    accounted = until;
}

tlp_ptr make_tlp() {
    static pool<tlp> packets;
    return packets.make();
}

}  // namespace fabricvp::pcie
