# SPDX-License-Identifier: Apache-2.0
"""Locality of kernels by analysis of their index expressions, as LADM (Khairy et al., MICRO 2020) has it: a table says
for each buffer of a kernel where pages and work-groups go."""

from .analysis import KernelLocality, locality_of, locality_of_c
from .table import ROWS, Classified, Row, dominant

__all__ = ["ROWS", "Classified", "KernelLocality", "Row", "dominant", "locality_of", "locality_of_c"]
