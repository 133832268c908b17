#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh: `pip install` of a clean clone into a virtual environment of its own, used from a folder that has
# nothing to do with the tree.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/deep/install
python=$(.venv/bin/python -c 'import sys; print(sys._base_executable)')
rm -rf "$work"
mkdir -p "$work/elsewhere"
git clone -q . "$work/clone"
"$python" -m venv "$work/venv"
[ -r "${PIP_CERT:-/dev/null}" ] || unset PIP_CERT
"$work/venv/bin/pip" install -q --disable-pip-version-check "$work/clone"
rm -rf "$work/clone"
cd "$work/elsewhere"
"$work/venv/bin/fabricvp" check uboot
"$work/venv/bin/python" -m fabricvp check linux --help >/dev/null
# Projects of every kind are built with what the package brings, and run.
for kind in $("$work/venv/bin/python" -c 'from fabricvp.new_command import KINDS; print(*KINDS)'); do
    project=my_${kind//-/_}
    "$work/venv/bin/fabricvp" new "$kind" "$project"
    make -C "$project" run
done
make -C my_device plugin
make -C my_pcie_device plugin
make -C my_service app
# The page of a run is served with all its files.
"$work/venv/bin/pip" install -q --disable-pip-version-check starlette uvicorn websockets
"$work/venv/bin/python" - <<'PY'
import urllib.request

import fabricvp
with fabricvp.Platform.from_config("hello").monitor() as monitor:
    for name in ("", "page.js", "page.css", "machine.svg", "description.json"):
        assert urllib.request.urlopen(monitor.url + name).read(), name
print("the installed package serves the page of a run")
PY
"$work/venv/bin/python" - <<'PY'
import fabricvp
assert {"uboot", "linux"} <= set(fabricvp.configs()), fabricvp.configs()
machine = fabricvp.Platform.from_config("uboot")
machine.run_until_console("Hit any key", timeout="5 s")
console = machine.nodes[0].console
console.type("\n")
console.expect("=> ")
assert "U-Boot" in console.command("version", "=> ")
print("U-Boot answers from the installed package:", machine.statistics["sim.instructions"], "instructions")
PY
