#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hca_fuzz.sh FOLDER JOBS: the three fuzzers of the RDMA adapter of a build, HCA_FUZZ rounds (default: 10^8) between them, in
# shards of SHARD rounds (default: 250,000), each with a seed of its own, from FIRST_SEED (default: 1) on. One that fails ends it;
# how to repeat it is printed.
set -euo pipefail
folder=$1 jobs=$2
rounds=${HCA_FUZZ:-100000000} shard=${SHARD:-250000} first=${FIRST_SEED:-1}
out=build/deep/hca_fuzz
mkdir -p "$out"

one() {
    local part=$1 seed=$2
    if ! HCA_FUZZ=$shard HCA_FUZZ_SEED=$seed timeout 7200 "$folder/test_hca_fuzz_$part" >"$out/$part.$seed" 2>&1; then
        tail -n 60 "$out/$part.$seed"
        echo "FAILED: HCA_FUZZ=$shard HCA_FUZZ_SEED=$seed ${folder##*/}/test_hca_fuzz_$part"
        exit 255  # ends xargs
    fi
    rm "$out/$part.$seed"
}
export -f one
export folder shard out
shards=$(((rounds + shard - 1) / shard))
for ((n = 0; n < shards; ++n)); do
    parts=(commands packets queues)
    echo "${parts[n % 3]} $((n / 3 + first))"
done | xargs -P "$jobs" -L 1 bash -c 'one "$@"' one
echo "$shards shards of $shard rounds: commands, packets, queues in turn"
