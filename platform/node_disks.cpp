// SPDX-License-Identifier: Apache-2.0
#include "platform/node_disks.h"

#include "platform/loader/made_images.h"
#include "virtio/virtio_blk.h"

namespace fabricvp {

std::vector<std::pair<std::string, virtio::disk_image*>> node_disks(node& n) {
    std::vector<std::pair<std::string, virtio::disk_image*>> disks;
    if (!n.pcie) return disks;
    for (const auto& e : n.pcie->endpoints)
        if (auto* const disk = dynamic_cast<virtio::virtio_blk*>(e.get()))
            disks.emplace_back(disk->basename(), &disk->disk);
    return disks;
}

void require_disk_images(const node& n) {
    auto pcie = n.params.pcie;
    for (auto& e : pcie.endpoints)
        for (const auto* path : e.device.settings().files()) require_made_image(*path);
}

}  // namespace fabricvp
