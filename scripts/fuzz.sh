#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh FOLDER MINUTES [SEED]: runs every fuzzer of a sanitizer build in turn, one seed after the other, each for its
# share of the time. Without SEED the first one is random. A failure ends that fuzzer; how to repeat it is printed and
# kept with its output in build/fuzz.
set -uo pipefail
shopt -s nullglob
cd "$(dirname "$0")/.."
folder=$(cd "$1" && pwd) seconds=$(($2 * 60)) first=${3:-$((RANDOM << 15 | RANDOM))}
export FABRICVP_FIRMWARE=$PWD/build/release/firmware FABRICVP_CONFIGS=$PWD/configs
# SystemC keeps its objects until the process ends, so leaks tell nothing.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
export FUZZ_COMMAND=$folder/fabricvp FUZZ_EXAMPLES=100
out=build/fuzz
mkdir -p "$out"

# A line a fuzzer: its name, and the command of a round, which gets a seed behind it.
fuzzers() {
    local name mode
    for name in elf yaml gdb; do echo "$name $folder/fuzz_$name 3000"; done
    for mode in tables processor control kernels packets; do echo "gpu_$mode $folder/fuzz_gpu $mode 50"; done
    for name in commands packets queues; do echo "hca_$name env HCA_FUZZ=20000 $folder/test_hca_fuzz_$name --seed"; done
    for name in machines shipped_machines recordings scripts command_lines; do
        echo "$name .venv/bin/python -m pytest -q -p no:cacheprovider tests/python/test_fuzz_inputs.py -k test_$name --hypothesis-seed"
    done
}

mapfile -t all < <(fuzzers)
echo "fuzz: ${#all[@]} fuzzers, $((seconds / ${#all[@]})) s each, first seed $first"
failed=()
for line in "${all[@]}"; do
    read -r name command <<<"$line"
    end=$((SECONDS + seconds / ${#all[@]}))
    for ((seed = first; ; ++seed)); do
        case $name in
        hca_*) round=(env "HCA_FUZZ_SEED=$seed" ${command% --seed}) ;;
        *_lines | machines | shipped_machines | recordings | scripts) round=($command="$seed") ;;
        *) round=($command "$seed") ;;
        esac
        timeout 1800 "${round[@]}" >"$out/$name.log" 2>&1 || {
            tail -n 40 "$out/$name.log"
            failed+=("$name")
            echo "fuzz: $name FAILED; again with: ${round[*]}" | tee "$out/$name.failed"
            break
        }
        [ $SECONDS -lt $end ] || { printf 'fuzz: %-18s ok, seeds %d to %d\n' "$name" "$first" "$seed"; rm "$out/$name.log"; break; }
    done
done
[ ${#failed[@]} -eq 0 ] || { echo "fuzz: failed: ${failed[*]}; output and commands: $out"; exit 1; }
