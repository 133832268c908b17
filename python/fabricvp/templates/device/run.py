# SPDX-License-Identifier: Apache-2.0
"""A stock machine with the device on its bus, and the driver as its firmware."""

import pathlib
import sys

import fabricvp
from @NAME@ import Device

HERE = pathlib.Path(__file__).parent


def main():
    platform = fabricvp.Platform.from_config("bare")
    Device(platform).attach(platform.nodes[0])
    platform.load_images(firmware=HERE / "driver.elf")
    result = platform.run("100 ms")
    print(platform.nodes[0].console.output.replace("\r", ""), end="")
    print(f"{result.outcome} after {result.time * 1e6:.0f} us of simulated time")
    return 0 if result.outcome == "power_off" else 1


if __name__ == "__main__":
    sys.exit(main())
