#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_deep.sh [PART...]: the tests that take long. Runs the parts named (all by default), keeps each one's output in
# build/deep/PART.log, and ends with a table. Status 0 when none failed; a part that cannot be run here is skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}

all=(sanitize fuzz hca_fuzz polls differential systemc3 linux install wheel browser slurm soak coverage tidy bare)
declare -A about=(
    [sanitize]="all C++ tests under address and undefined-behaviour sanitizers"
    [fuzz]="an hour of all fuzzers under the sanitizers, from seed 1 on"
    [hca_fuzz]="10^8 rounds (HCA_FUZZ) of invalid commands, packets and queues for the RDMA adapter under the sanitizers"
    [polls]="20,000 random programs and longer networking programs, with polls skipped and executed"
    [differential]="10^8 random instructions on our hart and on QEMU"
    [systemc3]="all C++ tests on SystemC 3.0"
    [linux]="Linux to a shell, on one hart and on four, and 1,000 starts of programs with GPUs"
    [install]="pip install and find_package from an installed tree"
    [wheel]="a wheel, on a bare Debian 12 without compilers"
    [browser]="the page of a run, the pages of make demo and of fabricvp reproduce, and the documentation's site and its search, in a headless browser"
    [slurm]="sweeps on a Slurm cluster of one node"
    [soak]="random machines, programs, networks and faults for SOAK_MINUTES (60), from round SOAK_SEED (1) on"
    [coverage]="lines and branches of models and platform that ctest and Python tests (COVERAGE_TESTS) execute"
    [tidy]="clang-tidy on all C++ sources"
    [bare]="make demo and make test from a clone on a bare Debian 12"
)

# A sanitizer build for the parts that use it, of the targets named or all.
sanitizer_build() {
    cmake --preset sanitize -DFABRICVP_TESTS=ON >build/deep/sanitize.configure.log 2>&1 || { cat build/deep/sanitize.configure.log; return 1; }
    cmake --build build/sanitize --parallel "$jobs" ${1:+--target "$@"}
}

# SystemC keeps its objects until the process ends, so leaks tell nothing.
export ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1

part_sanitize() { sanitizer_build && ctest --test-dir build/sanitize --output-on-failure --no-tests=error --parallel "$jobs"; }
part_fuzz() { scripts/build.sh "$jobs" && sanitizer_build fuzzers && scripts/fuzz.sh build/sanitize/bin 60 1; }
part_hca_fuzz() { sanitizer_build test_hca_fuzz_{commands,packets,queues} && scripts/deep/hca_fuzz.sh build/sanitize/bin "$jobs"; }
part_polls() {
    scripts/build.sh "$jobs" -DFABRICVP_TESTS=ON && FABRICVP_POLL_PROGRAMS=20000 build/release/bin/test_riscv_polls &&
        FABRICVP_POLL_PROGRAMS=20000 build/release/bin/test_host_memory_polls &&
        FABRICVP_POLLS=deep .venv/bin/python -m pytest -q tests/python/test_polls.py
}
part_differential() {
    scripts/build.sh "$jobs" -DFABRICVP_TESTS=ON &&
        build/release/bin/differential --runtime build/release/firmware/differential_runtime.elf --instructions 100000000 --seed 1000
}
part_systemc3() { scripts/deep/systemc3.sh "$jobs"; }
part_linux() {
    scripts/setup.sh build linux && scripts/linux.sh && scripts/build.sh "$jobs" &&
        FABRICVP_PROGRAM_STARTS=1000 .venv/bin/python -m pytest -k linux
}
part_install() { scripts/build.sh "$jobs" -DFABRICVP_TESTS=ON && scripts/deep/install.sh; }
part_wheel() { scripts/build.sh "$jobs" && scripts/deep/wheel.sh "$jobs"; }
part_browser() {
    scripts/setup.sh build test docs browser && scripts/build.sh "$jobs" && .venv/bin/python scripts/docs/build.py &&
        .venv/bin/python -m pytest tests/python/test_demo.py tests/python/test_site.py tests/python/test_reproduce.py \
            tests/python/test_monitor_browser.py
}
part_slurm() {
    scripts/setup.sh build test slurm && scripts/build.sh "$jobs" &&
        scripts/deep/slurm.sh .venv/bin/python -m pytest tests/python/test_sweep_slurm.py
}
part_soak() {
    scripts/build.sh "$jobs" &&
        .venv/bin/python tests/soak/soak.py --minutes "${SOAK_MINUTES:-60}" --seed "${SOAK_SEED:-1}"
}
part_coverage() {
    scripts/setup.sh build test coverage && scripts/build.sh "$jobs" -DFABRICVP_TESTS=ON &&
        scripts/deep/coverage.sh "$jobs" ${COVERAGE_TESTS:-}
}
part_tidy() { scripts/setup.sh build test check && scripts/build.sh "$jobs" -DFABRICVP_TESTS=ON && scripts/check.sh --all tidy; }
part_bare() { scripts/deep/bare_debian.sh demo test; }

if [ "${1:-}" = list ]; then
    for part in "${all[@]}"; do printf '%-14s %s\n' "$part" "${about[$part]}"; done
    exit 0
fi
[ $# -gt 0 ] || set -- "${all[@]}"
for part in "$@"; do
    [ -n "${about[$part]:-}" ] || { echo "test-deep: no part '$part'; there are: ${all[*]}" >&2; exit 2; }
done

mkdir -p build/deep
rows=()
failed=0
for part in "$@"; do
    printf '\n== %s: %s\n' "$part" "${about[$part]}"
    start=$SECONDS
    "part_$part" </dev/null 2>&1 | tee "build/deep/$part.log"
    case ${PIPESTATUS[0]} in
    0) result=passed ;;
    3) result="skipped: $(tail -n 1 "build/deep/$part.log")" ;;
    *) result=FAILED failed=$((failed + 1)) ;;
    esac
    rows+=("$(printf '%-14s %6d s   %s' "$part" $((SECONDS - start)) "$result")")
done

printf '\n%-14s %8s   %s\n' part time result
printf '%s\n' "${rows[@]}"
echo "output of each part: build/deep/PART.log"
[ "$failed" = 0 ]
