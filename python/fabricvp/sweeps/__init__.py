# SPDX-License-Identifier: Apache-2.0
"""Sweeps: many points of one measurement, each in a process of its own, as one table.

`sweep()` is the interface of Python, `fabricvp sweep STUDY.yaml` that of the command line (command.py)."""

from __future__ import annotations

from .api import sweep
from .process import Limits

__all__ = ["Limits", "sweep"]
