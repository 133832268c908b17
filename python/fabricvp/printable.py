# SPDX-License-Identifier: Apache-2.0
"""Text that users gave, which may hold anything, where it is printed or drawn."""


def printable(text: str) -> str:
    """Text with what a terminal would not print as `\\xNN`: control characters, bytes that are not UTF-8, and halves of
    surrogate pairs."""
    return "".join(c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in _bytes_of(c)) for c in text)


def _bytes_of(character: str) -> bytes:
    is_byte = "\udc80" <= character <= "\udcff"  # as Python has what is not UTF-8 in names of files
    return character.encode(errors="surrogateescape" if is_byte else "surrogatepass")
