// SPDX-License-Identifier: Apache-2.0
// The disks of a node, for what exchanges files with its software.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/machine.h"
#include "virtio/disk_image.h"

namespace fabricvp {

/// Disks of a node's PCIe tree with their names, in the order of their description.
std::vector<std::pair<std::string, virtio::disk_image*>> node_disks(node& n);

/// To be called before anything uses what is on the disks. \throws input_error for an image that is not there
void require_disk_images(const node& n);

}  // namespace fabricvp
