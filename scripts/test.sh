#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh JOBS: runs ctest, then pytest, always both; prints the 20 slowest tests; their own summaries are the last lines printed.
set -uo pipefail
cd "$(dirname "$0")/.."
log=build/test
mkdir -p "$log"

ctest --test-dir build/release --output-on-failure --no-tests=error --parallel "$1" 2>&1 | tee "$log/ctest.log"
ctest_status=${PIPESTATUS[0]}
.venv/bin/python -m pytest -n "$1" --dist loadfile --durations=20 --durations-min=0 2>&1 | tee "$log/pytest.log"
pytest_status=${PIPESTATUS[0]}

# The 20 slowest of both: "  12.3 s  name".
echo
echo "slowest tests:"
{
    sed -nE 's/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*$/\2 \1/p' "$log/ctest.log"
    sed -nE 's/^([0-9.]+)s (call|setup|teardown) +(.*)$/\1 \3/p' "$log/pytest.log"
} | sort -rn | head -n 20 | while read -r seconds name; do printf '%8.1f s  %s\n' "$seconds" "$name"; done
echo
sed -n '/tests passed, .* tests\? failed/,$p' "$log/ctest.log"
tail -n 1 "$log/pytest.log"
[ "$ctest_status" = 0 ] && [ "$pytest_status" = 0 ]
