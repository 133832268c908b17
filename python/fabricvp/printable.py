# SPDX-License-Identifier: Apache-2.0
"""Text that users gave, which may hold anything, where it is printed or drawn."""


def printable(text: str) -> str:
    """Text with what a terminal would not print as `\\xNN`: control characters, and bytes that are not UTF-8."""
    return "".join(
        c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in c.encode(errors="surrogateescape")) for c in text
    )
