# SPDX-License-Identifier: Apache-2.0
"""Experiments: each measures something on the simulated hardware and puts it beside what was published.

`fabricvp experiment --help` lists them; `registry.EXPERIMENTS` is where a new one is entered.
"""

from .frame import Check, Experiment, Report, Row, Run
from .points import PointFailed

__all__ = ["Check", "Experiment", "PointFailed", "Report", "Row", "Run"]
