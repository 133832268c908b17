# SPDX-License-Identifier: Apache-2.0
"""Where a region's time went: `explain("results")`, and the command `fabricvp explain`.

resources.py lists what may bound a region, as data: which statistics tell how busy it was, which queue stands before
it, which parameter moves it. machine.py finds parameters of blocks, ranking.py applies the list, report.py writes it.
"""

from .ranking import Explanation, Finding, explain

__all__ = ["Explanation", "Finding", "explain"]
