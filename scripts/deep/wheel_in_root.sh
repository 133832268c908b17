#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Uses the wheel that lies beside this script, on a bare Debian with python3-venv (wheel.sh).
set -euo pipefail
cd /root
export DEBIAN_FRONTEND=noninteractive
fail() { echo "wheel: $*" >&2; exit 1; }
no_compiler() {
    local tool
    for tool in c++ g++ gcc cmake ninja; do
        ! command -v "$tool" || fail "there is $tool"
    done
}
install() { apt-get -qq -y --no-install-recommends install "$@" >apt.log 2>&1 || { tail -n 20 apt.log >&2; fail "no $*"; }; }

# missing PACKAGE COMMAND...: the command ends with status 2 and one line, which names this package among others. Installs them.
missing() {
    local package=$1 status=0 names
    shift
    "$@" >out 2>err || status=$?
    names=$(sed -nE 's/.*\(Debian( 12)?: apt install ([^;)]*)[;)].*/\2/p' err)
    [ "$status" = 2 ] && [ "$(wc -l <err)" = 1 ] && [[ " $names " == *" $package "* ]] || { cat out err >&2; fail "$*: status $status, not one line with $package"; }
    cat err
    install $names
}
apt-get -qq update >/dev/null 2>&1 || true

no_compiler
python3 -m venv venv
venv/bin/pip install -q fabricvp-*.whl
PATH=$PWD/venv/bin:$PATH

echo "== as it is installed"
fabricvp list >/dev/null
fabricvp run hello --out hello
test -s hello/stats.json
fabricvp run gpu --app spmv --size 1024 --quiet
fabricvp run rdma_pair --ranks 2 --quiet --out ranks >/dev/null
test -s ranks/stats.json
fabricvp experiment microbenchmarks --quick --out experiment
test -s experiment/index.html
cat >study.yaml <<'YAML'
config: gpu
app: vectoradd
grid: {size: [1024, 2048], node.gpus.0.compute_units: [1, 4]}
keep: ["kernels:time_s"]
YAML
fabricvp sweep study.yaml --out sweep
test -s sweep/points.parquet
fabricvp draw cluster --svg cluster.svg
fabricvp run gpu --app vectoradd --profile profile.html --coverage lines.info --quiet
test -s profile.html
grep -q '^DA:' lines.info
no_compiler

echo "== with what messages ask for"
# extra NAME COMMAND...: the command ends with status 2 and one line, which names this extra of the package. Installs it.
extra() {
    local name=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    [ "$status" = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -F "'pip install fabricvp[$name]'" err || { cat out err >&2; fail "$*: status $status, not one line with $name"; }
    pip install -q "fabricvp[$name]" 2>pip.log || { tail -n 20 pip.log >&2; fail "no $name"; }
}
extra monitor fabricvp run gpu --app vectoradd --monitor 0 --quiet
missing u-boot-qemu fabricvp run uboot_m --time 1us
fabricvp run uboot_m --time 1us --quiet || [ $? = 1 ]
missing openmpi-bin fabricvp run rdma_pair --ranks 2 --transport mpi --quiet
fabricvp run rdma_pair --ranks 2 --transport mpi --quiet --time 200us >/dev/null
echo 'kernel void twice(global float* a) { a[get_global_id(0)] *= 2; }' >twice.cl
missing clang-14 fabricvp cc twice.cl
fabricvp cc twice.cl --report
cat >add.hip <<'HIP'
#include <hip/hip_runtime.h>
__global__ void add(int *sum) { atomicAdd(sum, 1); }
int main(void) {
    int *sum;
    if (hipMalloc(&sum, sizeof *sum) != hipSuccess) return 1;
    add<<<1, 64>>>(sum);
    return hipDeviceSynchronize() != hipSuccess;
}
HIP
missing libstdc++-12-dev-riscv64-cross fabricvp cc add.hip -o add --target linux
fabricvp cc add.hip -o add --target linux
no_compiler
# A machine without clang that has make: kernels in C.
apt-get -qq -y purge clang-14 gcc-riscv64-unknown-elf >/dev/null 2>&1
install make
fabricvp new kernel saxpy
missing gcc-riscv64-unknown-elf make -C saxpy --no-print-directory run
make -C saxpy run
no_compiler

echo "== plug-ins in C++"
fabricvp new stage combine
missing libsystemc-dev make -C combine --no-print-directory run
make -C combine run
fabricvp new device square
make -C square program
# The plug-in uses the wheel's SystemC, not Debian's.
venv/bin/python - <<'PY'
import pathlib, re, subprocess

needed = subprocess.run(["readelf", "-d", "combine/build/libcombine.so"], capture_output=True, text=True, check=True).stdout
systemc = re.findall(r"\[(libsystemc[^]]*)\]", needed)
(own,) = pathlib.Path("venv").glob("lib/python*/site-packages/fabricvp.libs/libsystemc*")
assert systemc == [own.name], systemc
PY
echo "the wheel works on a bare Debian"
