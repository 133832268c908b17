# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed or full, and hosts with little memory: one line and status 2."""

import os
import pathlib
import subprocess
import unittest

import command
from command import CommandTest, finish, print_text

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])


class Streams(CommandTest):
    def shell(self, line):
        result = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=command.TIMEOUT_S,
            env={**os.environ, "FABRICVP": command.FABRICVP},
        )
        return result.returncode, result.stderr

    def test_output_that_cannot_be_written(self):
        self.machine(print_text("hello") + finish())
        for line in (
            '"$FABRICVP" describe hello {}',
            '"$FABRICVP" apps {}',
            '"$FABRICVP" reference {}',
            '"$FABRICVP" --help {}',
            '"$FABRICVP" run machine.yaml --quiet {}',
        ):
            for where, why in (">/dev/full", "No space left on device"), (">&-", "Bad file descriptor"):
                with self.subTest(line=line, where=where):
                    self.assertEqual(
                        self.shell(line.format(where)), (2, f"fabricvp: standard output: cannot write: {why}\n")
                    )

    def test_a_closed_stream_is_not_taken_by_a_file(self):
        self.machine(print_text("hello") + finish())
        status, _ = self.shell('"$FABRICVP" run machine.yaml --out out --console file:log <&- >&- 2>&-')
        self.assertEqual(status, 0)
        self.assertEqual((self.folder / "log").read_text(), "hello")
        self.assertNotIn("fabricvp:", (self.folder / "out/stats.json").read_text())

    def test_readers_that_leave(self):
        self.assertEqual(self.shell('"$FABRICVP" reference | head -1; exit ${PIPESTATUS[0]}'), (0, ""))

    @unittest.skipIf(os.environ.get("FABRICVP_SANITIZED"), "sanitizers need terabytes of addresses")
    def test_little_memory(self):
        """Whatever the limit, the end is a run or one line."""
        self.machine(print_text("hello") + finish())
        refused = 0
        for config, more in ("machine.yaml", ""), (CONFIGS / "gpu.yaml", "--app reduction --size 1024"):
            for kilobytes in 40_000, 80_000, 200_000, 400_000, 1_000_000, 2_000_000:
                status, errors = self.shell(
                    f'ulimit -v {kilobytes}; "$FABRICVP" run {config} {more} --quiet --console none'
                )
                if status == 127:
                    continue  # not even the program could be loaded
                with self.subTest(config=config, kilobytes=kilobytes):
                    self.assertIn(status, (0, 2), errors)
                    self.assertEqual(len(errors.splitlines()), 1 if status else 0, errors)
                    refused += status == 2
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    command.main()
