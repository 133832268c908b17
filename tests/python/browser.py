# SPDX-License-Identifier: Apache-2.0
"""A headless browser for tests of pages."""

import shutil
import subprocess
from pathlib import Path

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")

needs_browser = pytest.mark.skipif(
    not BROWSER, reason="there is no chromium here (Debian: chromium; `scripts/setup.sh deep` installs it)"
)


def opened(page: Path, folder: Path, *options: str) -> tuple[str, list[str]]:
    """The document as it stands after a file was opened and its scripts ran, and what was written to the console. The
    browser keeps its profile in ``folder`` and reaches no other machine."""
    done = subprocess.run(
        [
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={folder / 'profile'}",
            "--enable-logging=stderr",
            "--virtual-time-budget=20000",
            *options,
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
