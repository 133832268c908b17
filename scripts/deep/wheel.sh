#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh JOBS: builds a wheel, and uses it on a bare Debian 12 that has Python and no compiler, and then with what its
# messages ask for. Exit status 3 where there is no such Debian to be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/deep/wheel
root=$work/root
. scripts/deep/debian_root.sh
scripts/setup.sh build wheel
scripts/wheel.sh "$1"

# Its files are those that test_installed_package.py tries, beside libraries of others, licences and what pip reads.
rm -rf "$work"
mkdir -p "$work/installed"
for component in python sdk; do
    cmake --install build/release --component "$component" --prefix "$work/installed" >/dev/null
done
.venv/bin/python - build/wheel/*.whl "$work/installed" <<'PY'
import pathlib, re, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    inside = {name for name in wheel.namelist() if not name.endswith("/")}
installed, sources = pathlib.Path(sys.argv[2]), pathlib.Path("python")
wanted = {str(p.relative_to(installed)) for p in installed.rglob("*") if p.is_file()}
wanted |= {str(p.relative_to(sources)) for p in (sources / "fabricvp").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
own = {name for name in inside if name.startswith("fabricvp/")}
others = {name for name in inside - own if name.startswith("fabricvp.libs/")}
licences = {name.rpartition("/")[2] for name in inside if ".dist-info/licenses/" in name}
# The tree's build has firmware of tests, too, which nothing of the package names.
files = [*sources.rglob("*.py"), *pathlib.Path("configs").glob("*.yaml"), *pathlib.Path("platform").rglob("*.cpp")]
named = {f"fabricvp/firmware/{name}" for file in files for name in re.findall(r"firmware:(\w+\.\w+)", file.read_text())}
missing = {name for name in wanted - own if not name.startswith("fabricvp/firmware/")} | named - own
assert not missing and own <= wanted, f"only in the wheel: {sorted(own - wanted)}; missing: {sorted(missing)}"
assert any("libsystemc" in name for name in others) and not any("mpi" in name for name in others), others
assert len(licences - {"LICENSE"}) == len(others), (licences, others)
print(f"{len(inside)} files in {sys.argv[1]}, {pathlib.Path(sys.argv[1]).stat().st_size / 1e6:.0f} MB")
PY

debian_root "$root" "$work/debootstrap.log" python3,python3-venv,ca-certificates || { echo "wheel: $debian_root_why" >&2; exit 3; }
cp build/wheel/*.whl scripts/deep/wheel_in_root.sh "$root/root/"
debian_root_run "$root" update-ca-certificates >/dev/null  # those of this machine among them
debian_root_run "$root" bash /root/wheel_in_root.sh </dev/null
