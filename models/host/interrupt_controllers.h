// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/parameters.h"

namespace fabricvp::host {

/// What takes interrupts of devices to the harts: a PLIC; an APLIC that signals them directly; or an APLIC that
/// forwards them as MSIs to the harts' IMSICs, which PCI Express devices then reach with MSI-X.
enum class interrupt_controllers { plic, aplic, aplic_imsic };

}  // namespace fabricvp::host

namespace fabricvp {
template <>
struct choice_traits<host::interrupt_controllers> {
    static constexpr std::pair<host::interrupt_controllers, const char*> names[] = {
        {host::interrupt_controllers::plic, "plic"},
        {host::interrupt_controllers::aplic, "aplic"},
        {host::interrupt_controllers::aplic_imsic, "aplic_imsic"}};
};
}  // namespace fabricvp
