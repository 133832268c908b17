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

}  // namespace fabricvp::pcie
