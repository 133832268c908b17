// SPDX-License-Identifier: Apache-2.0
#include "pcie/configuration_access.h"

#include <cstring>

#include "pcie/completion.h"

namespace fabricvp::pcie {

namespace {

/// Enabled bytes are written run by run, so that a register's hook sees it whole.
void write_enabled(configuration_space& space, const tlp& t) {
    const auto reg = static_cast<std::size_t>(t.address & 0xffc);
    for (unsigned b = 0; b < 4;) {
        unsigned run = 0;
        while (b + run < 4 && t.first_be >> (b + run) & 1) ++run;
        if (run == 0) {
            ++b;
            continue;
        }
        std::uint32_t value = 0;
        std::memcpy(&value, t.data.data() + b, run);
        space.write(reg + b, run, value);
        b += run;
    }
}

}  // namespace

tlp_ptr access_configuration(configuration_space& space, const tlp& t, std::uint16_t id) {
    const auto reg = static_cast<std::size_t>(t.address & 0xffc);
    if (t.kind == tlp_kind::configuration_read) {
        auto data = allocate_slice(4);
        const auto value = space.read(reg, 4);
        std::memcpy(data.data(), &value, 4);
        return make_data_completion(t, id, data);
    }
    write_enabled(space, t);
    return make_completion(t, id, completion_status::successful);
}

unsigned debug_access(configuration_space& space, tlp& t) {
    if (t.kind == tlp_kind::configuration_read) {
        const auto value = static_cast<std::uint32_t>(space.get(t.address & 0xffc, 4));
        std::memcpy(t.data.data(), &value, 4);
    } else {
        write_enabled(space, t);
    }
    return 4;
}

}  // namespace fabricvp::pcie
