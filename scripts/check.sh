#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh [--fix] [--all] [PART...]: what has to hold before a commit, one line a violation. Parts: format, lint,
# architecture, types, tidy, units (all by default). --fix formats in place; --all: tidy looks at all C++ sources, not only
# at those that differ from origin/main. tidy and units need a build.
set -uo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin build=build/release fix="" all=""
while [[ "${1:-}" == --* ]]; do
    case $1 in
    --fix) fix=1 ;;
    --all) all=1 ;;
    *) echo "check: no option $1; there are --fix and --all" >&2; exit 2 ;;
    esac
    shift
done
parts=(format lint architecture types tidy units)
[ $# -gt 0 ] || set -- "${parts[@]}"
for part in "$@"; do
    [[ " ${parts[*]} " == *" $part "* ]] || { echo "check: no part $part; there are: ${parts[*]}" >&2; exit 2; }
done

# Where this branch left the shared one; else the commit before.
base() { git merge-base HEAD origin/main 2>/dev/null || git rev-parse -q --verify HEAD~1 || git hash-object -t tree /dev/null; }
changed() { { git diff --name-only --diff-filter=d "$(base)" -- "$@"; git ls-files -o --exclude-standard -- "$@"; } | sort -u; }
c_files() { git ls-files -co --exclude-standard '*.c' '*.h' '*.cpp' | grep -v '^python/fabricvp/templates/' | while read -r f; do [ -f "$f" ] && echo "$f"; done; }

check_format() {
    if [ -n "$fix" ]; then
        c_files | xargs -P "$(nproc)" -n 64 "$bin/clang-format" -i
        "$bin/ruff" format -q .
        return
    fi
    # One line a file: its first difference.
    local wrong
    wrong=$(c_files | xargs -P "$(nproc)" -n 64 "$bin/clang-format" --dry-run 2>&1 | sed -n 's/^\([^ :]*:[0-9]*\):.*\[-Wclang-format-violations\]$/\1/p' | sort -t: -u -k1,1)
    [ -z "$wrong" ] || sed 's/$/: not formatted; make format/' <<<"$wrong"
    "$bin/ruff" format --check -q --output-format concise . && [ -z "$wrong" ]
}
check_lint() { "$bin/ruff" check -q --output-format concise .; }
check_architecture() {
    local status=0 check
    for check in includes files mentions modules words links; do "$bin/python" -B "tests/architecture/$check.py" . >build/check.out || { cat build/check.out; status=1; }; done
    return $status
}
check_types() { "$bin/mypy" --no-error-summary --config-file pyproject.toml; }
check_tidy() {
    local files
    [ -f "$build/compile_commands.json" ] || { echo "check: tidy needs a build: make build"; return 1; }
    command -v clang-tidy >/dev/null || { echo "check: clang-tidy is missing: scripts/setup.sh check"; return 1; }
    mapfile -t files < <(if [ -n "$all" ]; then git ls-files '*.cpp'; else changed '*.cpp'; fi | grep -E '^(models|platform)/')
    [ ${#files[@]} -gt 0 ] || return 0
    "$bin/python" -B scripts/tidy_commands.py "$build" || return 1
    printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 nice clang-tidy --quiet -p "$build/tidy" 2>/dev/null
}
# Unit tests of changed modules; a change of what all know, or of the tests' own bench, runs those of its folder.
check_units() {
    local modules
    modules=$(changed models tests/unit platform | sed -nE 's#^(models|tests/unit)/([^/]+)/.*#\2#p; s#^platform/.*#platform#p' | sort -u | paste -sd '|')
    [ -n "$modules" ] || return 0
    [ -f "$build/CTestTestfile.cmake" ] || { echo "check: units need a build: make build"; return 1; }
    ctest --test-dir "$build" --parallel "$(nproc)" -L '^unit$' -R "^unit\\.($modules)" --output-on-failure -Q || { ctest --test-dir "$build" --rerun-failed --output-on-failure | tail -n 40; return 1; }
}

mkdir -p build
git rev-parse -q --verify origin/main >/dev/null || [[ " $* " != *" tidy "* || -n "$all" ]] || echo "check: there is no origin/main; what differs from the commit before is looked at"
failed=()
for part in "$@"; do
    start=$SECONDS
    "check_$part" && printf 'check: %-12s ok %4d s\n' "$part" $((SECONDS - start)) || failed+=("$part")
done
[ ${#failed[@]} -eq 0 ] || { echo "check: failed: ${failed[*]}"; exit 1; }
