// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fabricvp::gdb {

/// Name of a CSR (0 to 4095) as the privileged specification and GDB write it; `csrN` for those without one.
std::string csr_name(unsigned number);

}  // namespace fabricvp::gdb
