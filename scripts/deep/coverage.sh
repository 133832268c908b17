#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# coverage.sh JOBS [PYTEST ARGUMENT...]: which lines and branches of models/ and platform/ the tests execute. A build with
# counters in build/coverage runs ctest and those Python tests that run machines in their own process (others with arguments);
# prints a table by folder and the files with most lines left, and writes build/coverage/index.html. Status 1 if a test fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/coverage
jobs=$1
shift
[ $# -gt 0 ] || set -- $(sed 's|^|tests/python/test_|; s|$|.py|' <<'TESTS'
device
ethernet
fabric
fabric_faults
fault_resets
faults
gpu
memory_faults
network
network_queue
nodes
pcie
pcie_device
pcie_transfer
profile
rdma_mtu
spans
streams
topology
virtio_blk
TESTS
)
mkdir -p build/deep
cmake --preset coverage -DFABRICVP_TESTS=ON -DFABRICVP_PYTHON=ON "-DPython_EXECUTABLE=$PWD/.venv/bin/python" \
    >build/deep/coverage.configure.log 2>&1 || { cat build/deep/coverage.configure.log; exit 1; }
cmake --build $build --parallel "$jobs"
# What earlier runs have counted, objects that are there no more among it.
find $build -name '*.gcda' -delete

failed=0
# Checks of sources count nothing; programs built by others cannot link what has counters.
ctest --test-dir $build --output-on-failure --no-tests=error --parallel "$jobs" \
    --exclude-regex '^architecture|install_consumer' || failed=1
# The package, with this build's module before the release's, which .venv names.
package=$build/package/fabricvp
rm -rf $build/package
mkdir -p $package
find "$PWD/build/release/python/fabricvp" -mindepth 1 -maxdepth 1 ! -name '_fabricvp*.so' -exec ln -s -t $package {} +
ln -s "$PWD"/$build/python/fabricvp/_fabricvp*.so $package/
PYTHONPATH=$PWD/$build/package .venv/bin/python -m pytest -n "$jobs" --dist loadfile --timeout 12000 "$@" || failed=1

.venv/bin/python scripts/deep/coverage_report.py $build "$jobs"
exit $failed
