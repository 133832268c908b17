# SPDX-License-Identifier: Apache-2.0
"""A page that shows a run while it goes on, and steers it."""
