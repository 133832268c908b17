// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/wire_unit.h"

namespace fabricvp::fabric::netcrafter {

wire_unit_ptr make_wire_unit() {
    static pool<wire_unit> units;
    return units.make();
}

}  // namespace fabricvp::fabric::netcrafter
