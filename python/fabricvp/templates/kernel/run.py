# SPDX-License-Identifier: Apache-2.0
"""Launches the kernel of @NAME@.c on one simulated GPU, and compares with numpy."""

import ctypes
import pathlib

import fabricvp
import numpy

HERE = pathlib.Path(__file__).parent


def main():
    n = 10_000
    random = numpy.random.default_rng(1)
    a, b = random.random((2, n), dtype=numpy.float32)
    c = numpy.zeros(n, numpy.float32)

    platform = fabricvp.Platform.from_config("gpu")
    gpu = platform.nodes[0].gpus[0]
    done = gpu.launch(HERE / "@NAME@.elf", grid=n, group=256,
                      args=["a", "b", "c", ctypes.c_float(2.5), ctypes.c_uint64(n)], buffers={"a": a, "b": b, "c": c})
    print(f"@NAME@ took {done.time * 1e6:.1f} us of simulated time, "
          f"{done.statistics['wavefront_instructions']:.0f} wavefront-instructions")
    numpy.testing.assert_allclose(done.buffers["c"], numpy.float32(2.5) * a + b, rtol=1e-6)
    print("the result is right")


if __name__ == "__main__":
    main()
