# SPDX-License-Identifier: Apache-2.0
"""Sweeps: many points of one measurement, each in a process of its own, as one table.

`sweep()` is the interface of Python, `summarise()` gives means over seeds; `fabricvp sweep STUDY.yaml` is the command
(command.py)."""

from __future__ import annotations

from .api import sweep
from .process import Limits
from .samplers import Range, Search, Sensitivity
from .summary import summarise

__all__ = ["Limits", "Range", "Search", "Sensitivity", "summarise", "sweep"]
