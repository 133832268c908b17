#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh FOLDER: runs every fuzzer (fuzz_*, called with rounds and seed) of a build for FUZZ_SECONDS (default: 600)
# with one seed after the other. A fuzzer that fails ends it; its seed is printed, so that the round can be repeated.
set -euo pipefail
shopt -s nullglob
seconds=${FUZZ_SECONDS:-600}
fuzzers=("$1"/fuzz_*)
[ ${#fuzzers[@]} -gt 0 ] || { echo "no fuzzers in $1" >&2; exit 1; }
for fuzzer in "${fuzzers[@]}"; do
    end=$((SECONDS + seconds))
    for ((seed = 1; SECONDS < end; ++seed)); do
        timeout 600 "$fuzzer" 3000 "$seed" >build/deep/fuzz.out 2>&1 || { tail -n 60 build/deep/fuzz.out; echo "FAILED: ${fuzzer##*/} 3000 $seed"; exit 1; }
    done
    echo "${fuzzer##*/}: $((seed - 1)) seeds of 3000 rounds"
done
