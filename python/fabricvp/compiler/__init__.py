# SPDX-License-Identifier: Apache-2.0
"""Kernels from OpenCL C: a distribution's clang compiles, and what is specific to lanes is added to its IR."""

from .kernels import Kernel, Parameter
from .pipeline import Image, build
from .sources import Options

__all__ = ["Image", "Kernel", "Options", "Parameter", "build"]
