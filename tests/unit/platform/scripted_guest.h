// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "abi/memory_map.h"
#include "tiny_assembler.h"

namespace fabricvp::test {

/// Greets, then obeys letters: q powers off, f fails with 7, r resets, w waits for interrupts that never come, and
/// every other letter comes back.
inline std::string scripted_guest() {
    using a = tiny_assembler;
    a p;
    p.li(a::a0, VIRT_UART_BASE);
    for (const char c : std::string("hi\n")) {
        p.addi(a::t0, a::zero, c);
        p.sb(a::t0, a::a0, 0);
    }
    p.label("next");
    p.lbu(a::t0, a::a0, 5);
    p.andi(a::t0, a::t0, 1);
    p.beq(a::t0, a::zero, "next");
    p.lbu(a::a1, a::a0, 0);
    for (const auto& [letter, label] : {std::pair('q', "quit"), {'f', "fail"}, {'r', "reset"}, {'w', "wait"}}) {
        p.addi(a::t0, a::zero, letter);
        p.beq(a::a1, a::t0, label);
    }
    p.sb(a::a1, a::a0, 0);
    p.jump("next");
    p.label("quit");
    p.poke(VIRT_FINISHER_BASE, 0x5555);
    p.label("fail");
    p.poke(VIRT_FINISHER_BASE, 7 << 16 | 0x3333);
    p.label("reset");
    p.poke(VIRT_FINISHER_BASE, 0x7777);
    p.label("wait");
    p.wfi();
    p.jump("wait");
    return p.binary();
}

}  // namespace fabricvp::test
