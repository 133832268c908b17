// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fabricvp {

/// Images of one node. Empty paths are absent.
struct image_set {
    std::string firmware;  ///< ELF or raw binary at the reset address (OpenSBI, own firmware)
    std::string kernel;    ///< ELF at its addresses, or raw `Image` at the firmware's jump address
    std::string initrd;
    std::string append;   ///< kernel command line (/chosen bootargs)
    bool tohost = false;  ///< watch the ELF's `tohost` symbol (riscv-tests)
};

}  // namespace fabricvp
