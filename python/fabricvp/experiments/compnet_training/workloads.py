# SPDX-License-Identifier: Apache-2.0
"""The six workloads of ComP-Net's slides: what was published of them, and their parameter tensors as Microsoft's
Cognitive Toolkit (CNTK) has them in the examples that it came with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """A network and its training."""

    name: str
    blocked: float  #: share of time that it waits for the network, published
    reductions: int  #: published
    tensors: tuple[int, ...]  #: parameters of each; none where the network is not known
    source: str

    @property
    def bound(self) -> float:
        """Speed-up with a network that takes no time."""
        return 1 / (1 - self.blocked)


def _dense(inputs: int, outputs: int) -> tuple[int, int]:
    return inputs * outputs, outputs


def _convolution(size: int, inputs: int, outputs: int) -> tuple[int, int]:
    return size * size * inputs * outputs, outputs


def _lstm(inputs: int, cell: int = 1024, projection: int = 512) -> tuple[int, ...]:
    """With peepholes and a projection: four gates in one matrix."""
    return 4 * cell * inputs, 4 * cell * projection, 4 * cell, cell, cell, cell, cell * projection


WORKLOADS = (
    Workload(
        "AlexNet",
        0.14,
        4672,
        _convolution(11, 3, 64)
        + _convolution(5, 64, 192)
        + _convolution(3, 192, 384)
        + _convolution(3, 384, 256)
        + _convolution(3, 256, 256)
        + _dense(256 * 6 * 6, 4096)
        + _dense(4096, 4096)
        + _dense(4096, 1000),
        "AlexNet.ndl",
    ),
    Workload("AN4 LSTM", 0.50, 131192, _lstm(363) + _lstm(512) + _lstm(512) + _dense(512, 132), "lstmp-3layer-opt"),
    Workload(
        "CIFAR",
        0.04,
        939820,
        _convolution(5, 3, 32)
        + _convolution(5, 32, 32)
        + _convolution(5, 32, 64)
        + _dense(64 * 3 * 3, 64)
        + _dense(64, 10),
        "CIFAR-10/01_Conv",
    ),
    Workload("Large Synth", 0.28, 52800, (), "not public"),
    Workload(
        "MNIST Conv",
        0.12,
        900000,
        _convolution(5, 1, 16) + _convolution(5, 16, 32) + _dense(32 * 4 * 4, 128) + _dense(128, 10),
        "MNIST/02_Convolution",
    ),
    Workload("MNIST Hidden", 0.29, 900000, _dense(28 * 28, 200) + _dense(200, 10), "MNIST/01_OneHidden"),
)
