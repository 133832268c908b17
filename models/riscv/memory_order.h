// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tlm>

namespace fabricvp::riscv {

/// What an instruction asks of the order of memory accesses, for a bus with caches that are not coherent. Goes
/// with atomics (.aq, .rl), and makes a payload of its own, TLM_IGNORE_COMMAND without address and data, for `fence`
/// and `fence.i` (hart::order_on_bus()). Ignorable on any other bus.
struct order_extension : tlm::tlm_extension<order_extension> {
    bool fence = false;         ///< the payload is nothing else
    bool acquire = false;       ///< later loads see at least what was there before it
    bool release = false;       ///< earlier stores are seen by others before anything that follows
    bool instructions = false;  ///< acquire for instruction fetches

    tlm::tlm_extension_base* clone() const override { return new order_extension(*this); }
    void copy_from(const tlm::tlm_extension_base& from) override { *this = static_cast<const order_extension&>(from); }
};

}  // namespace fabricvp::riscv
