#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh JOBS: runs ctest, then pytest, always both; their own summaries are the last lines printed.
set -uo pipefail
cd "$(dirname "$0")/.."
log=build/test
mkdir -p "$log"

ctest --test-dir build/release --output-on-failure --no-tests=error --parallel "$1" 2>&1 | tee "$log/ctest.log"
ctest_status=${PIPESTATUS[0]}
.venv/bin/python -m pytest -n "$1" --dist loadfile 2>&1 | tee "$log/pytest.log"
pytest_status=${PIPESTATUS[0]}

echo
sed -n '/tests passed, .* tests\? failed/,$p' "$log/ctest.log"
tail -n 1 "$log/pytest.log"
[ "$ctest_status" = 0 ] && [ "$pytest_status" = 0 ]
