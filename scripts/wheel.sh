#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh JOBS: the package as a wheel for .venv's Python, in build/wheel. It has the libraries inside that the simulator is
# linked with, and their licences, so that it runs on any Linux with a C library as new as Debian 12's.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/wheel
rm -rf "$out"
mkdir -p "$out/plain"
[ -r "${PIP_CERT:-/dev/null}" ] || unset PIP_CERT
CMAKE_BUILD_PARALLEL_LEVEL=$1 .venv/bin/python -m pip wheel -q --disable-pip-version-check --no-deps -w "$out/plain" .

# What Debian says of the licences of libraries that come along. Those of the C and C++ run-times stay where they are.
.venv/bin/python - "$out"/plain/*.whl <<'PY'
import pathlib, re, subprocess, sys, tempfile, zipfile

wheel = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel, "a") as archive:
    own = [name for name in archive.namelist() if name.endswith(".so") and "libfabricvp_mpi" not in name]
    texts = (subprocess.run(["ldd", archive.extract(name, folder)], capture_output=True, text=True).stdout for name in own)
    found = {path for text in texts for path in re.findall(r"=> (/\S+)", text)}
    for path in sorted(found):
        real = str(pathlib.Path(path).resolve()).removeprefix("/usr")  # packages may name it with or without
        package = subprocess.run(["dpkg-query", "-S", f"*{real}"], capture_output=True, text=True).stdout.partition(":")[0]
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright")
        info = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")).partition("/")[0]
        name = f"{info}/licenses/{package}"
        if package and not re.match("lib(c6|gcc|stdc)|zlib1g", package) and name not in archive.namelist():
            archive.writestr(name, text.read_bytes(), zipfile.ZIP_DEFLATED)
PY

# MPI is this machine's or none: its parts must be of one version, and `--transport mpi` says so where it is missing.
PATH=$PWD/.venv/bin:$PATH .venv/bin/auditwheel repair --plat "manylinux_2_36_$(uname -m)" --only-plat --exclude 'libmpi.so.*' \
    -w "$out" "$out"/plain/*.whl >"$out/auditwheel.log" 2>&1 ||
    { cat "$out/auditwheel.log" >&2; exit 1; }
rm -rf "$out/plain"
echo "build/wheel/$(basename "$out"/*.whl)"
