// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "gpu/control/command_processor.h"

namespace fabricvp {

/// Firmware for a GPU's command processor, from an ELF file that is linked as firmware/cp/cp.ld says.
/// \param named a path, or `firmware:NAME` for one of the project's own
/// \throws input_error if it cannot be read, or is no program for the command processor
gpu::processor_firmware read_processor_firmware(const std::string& named);

}  // namespace fabricvp
