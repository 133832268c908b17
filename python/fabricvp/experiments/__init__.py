# SPDX-License-Identifier: Apache-2.0
"""Experiments: each measures something on the simulated hardware and puts it beside what was published.

`fabricvp experiment --help` lists them; `registry.EXPERIMENTS` is where a new one is entered.
"""

from .._renamed import renamed_attributes
from .frame import Check, Experiment, Figure, Missing, Report, Row, Run
from .machines import record_machine
from .points import PointFailed
from .tables import read_tables

__all__ = [
    "Check",
    "Experiment",
    "Figure",
    "Missing",
    "PointFailed",
    "Report",
    "Row",
    "Run",
    "read_tables",
    "record_machine",
]

__getattr__ = renamed_attributes(__name__, {"use": "record_machine", "Picture": "frame.SvgFigure"})
