// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fabricvp::riscv {

/// Whether each access to memory that devices touch ends its slice, also where it need not wait for the calendar: then
/// where slices end, and with it when interrupts are seen, follows from what happens in the hart's own node alone.
/// Otherwise events of other nodes, which are in the calendar or in another process's, would have a say. One for all
/// harts of the process; to be set before they run.
void separate_accesses(bool on);
bool accesses_are_separate();

/// Whether harts sleep over rounds of a loop that provably do nothing but count (hart_polls.cpp). Results are the same.
/// Not where accesses are not separate and some hart's memory is timed: there, events of one hart end slices of
/// another. One for all harts of the process; to be set before they run.
void skip_polls(bool on);
bool polls_are_skipped();

/// Entries of a block of a hart's code after which it is translated into code of the host (translator.h); 0: never.
/// Results are the same. One for all harts of the process; to be set before they run.
void translate_after(unsigned entries);

}  // namespace fabricvp::riscv
