// SPDX-License-Identifier: Apache-2.0
#include "pcie/device_kind.h"

#include "pcie/copy_engine.h"
#include "pcie/virtio_blk.h"
#include "pcie/virtio_net.h"

namespace fabricvp::pcie {

std::vector<device_kind>& device_settings::kinds() {
    static std::vector<device_kind> all = {
        make_device_kind<copy_engine, copy_engine_params>("copy_engine", "a DMA copy engine"),
        make_device_kind<virtio_blk, virtio_blk_params>("virtio_blk", "a virtio block device"),
        make_device_kind<virtio_net, virtio_net_params>("virtio_net", "a virtio network adapter"),
    };
    return all;
}

void add_device_kind(const device_kind& kind) { device_settings::kinds().push_back(kind); }

}  // namespace fabricvp::pcie
