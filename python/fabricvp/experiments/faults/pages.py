# SPDX-License-Identifier: Apache-2.0
"""Tables of the page."""

from __future__ import annotations

from ..page_layout import Frames, PageTable, as_it_is


def outcomes(frames: Frames) -> PageTable:
    """Numbers by structure, kind and what became of them."""
    return as_it_is(frames["outcomes"])


def shares(frames: Frames) -> PageTable:
    """Shares with their intervals, by structure."""
    return as_it_is(frames["shares"])


def protection(frames: Frames) -> PageTable:
    """Flips in memories without and with ECC."""
    return as_it_is(frames["protection"])


def linux_outcomes(frames: Frames) -> PageTable:
    """The same of nodes with Linux."""
    return as_it_is(frames["linux_outcomes"])


def linux_shares(frames: Frames) -> PageTable:
    """Shares with their intervals, by structure, of nodes with Linux."""
    return as_it_is(frames["linux_shares"])
