# SPDX-License-Identifier: Apache-2.0
"""All experiments of the published systems, one after the other, and one page of what came out.

`fabricvp reproduce all --out DIR` runs each as `fabricvp experiment` does, in a process of its own (process.py), and
writes DIR/report.html after each (report.py). Results of the same version are found again (plan.py)."""
