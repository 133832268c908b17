# SPDX-License-Identifier: Apache-2.0
"""Proves that the architecture checks see what they are to see, on a small tree that breaks each rule once."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import files
import includes
import links
import mentions
import modules
import words

LINE = "// SPDX-License-Identifier: Apache-2.0\n"
BAD_INCLUDES = {
    "models/base/a.h": '#include "riscv/hart.h"',
    "models/riscv/b.cpp": '#include "host/uart.h"',
    "models/host/c.cpp": '#include "platform/platform.h"',
    "models/host/d.h": "#include <yaml-cpp/yaml.h>",
    "models/fabric/e.h": '#  include "pcie/tlp.h"',
    "models/analytic/f.h": '#include "base/time.h"',
    "models/host/g.h": '#include "../riscv/hart.h"',
    "models/pcie/h.h": '#include "fabricvp/gpu/x.h"',
    "models/new_module/i.h": "",
    "python/j.cpp": '#include "host/uart.h"',
    # Inner folders.
    "models/fabric/k.h": '#include "fabric/netcrafter/settings.h"',
    "models/fabric/netcrafter/k.h": '#include "fabric/stage_kind.cpp"',
    "models/gpu/memory/k.h": '#include "gpu/lanes/compute_unit.h"',
    "models/gpu/lanes/k.h": '#include "gpu/control/sdma_engine.h"',
    "models/gpu/control/k.h": '#include "gpu/gpu_core.h"',
    "models/gpu/control/l.h": '#include "gpu/replay/recorder.h"',
    "models/gpu/replay/k.h": '#include "gpu/debugging/gpu_debugger.h"',
    "models/gpu/k.h": '#include "gpu/replay/recorder.h"',
    "models/gpu/new_part/k.h": '#include "gpu/memory/hbm.h"',
    "models/host/new_part/k.h": '#include "host/uart.h"',
    "models/hca/memory/k.h": '#include "hca/queues/queue_pair.h"',
    "models/hca/queues/k.h": '#include "hca/transport/requester.h"',
    "models/hca/transport/k.h": '#include "hca/commands/command_set.h"',
    "models/hca/commands/k.h": '#include "hca/hca_params.h"',
    "models/hca/wiring.h": '#include "hca/memory/icm.h"',
    "firmware/lib/k.c": '#include "drivers/pci/pci.h"',
    "firmware/drivers/bootstrap/k.c": '#include "drivers/gpu/gpu.h"',
    "firmware/drivers/pci/k.c": '#include "drivers/gpu/gpu.h"',
    "firmware/drivers/gpu/k.c": '#include "programs/apps/app.h"',
    "firmware/gpu/verbs/k.h": '#include "gpu/pgas/pgas.h"',
    "firmware/network/k.h": '#include "gpu/kernels/network.h"',
    "firmware/cp/k.c": '#include "lib/console.h"',
    "firmware/programs/apps/k.c": '#include "programs/cluster/iterate.h"',
    "firmware/programs/compnet/k.c": '#include "programs/apps/app.h"',
    "platform/config/k.h": '#include "platform/machine.h"',
    "platform/params/l.cpp": '#include "platform/config/config_tree.h"',
    "platform/new_part/m.h": '#include "platform/machine.h"',
}
GOOD_INCLUDES = {
    "models/host/good.h": '#include "riscv/hart.h"\n#include "base/time.h"\n#include "abi/x.h"\n#include <vector>',
    "models/gpu/good.h": '#include "fabric/x.h"\n#include "gpu/y.h"',
    "platform/good.cpp": '#include "host/uart.h"\n#include <yaml-cpp/yaml.h>',
    "platform/cli/good.cpp": '#include "platform/platform.h"\n#include "platform/config/config_tree.h"',
    "platform/ranks/good.cpp": '#include "platform/params/x.h"\n#include "platform/ranks/y.h"',
    "python/good.cpp": '#include "platform/platform.h"\n#include <pybind11/pybind11.h>',
    "models/fabric/stage_kind.cpp": '#include "fabric/netcrafter/settings.h"',
    "models/fabric/netcrafter/good.h": '#include "fabric/stage.h"',
    "models/gpu/lanes/good.h": '#include "gpu/memory/hbm.h"\n#include "gpu/lanes/lds.h"',
    "models/gpu/replay/good.h": '#include "gpu/gpu_core.h"',
    "models/hca/transport/good.h": '#include "hca/queues/queue_pair.h"\n#include "hca/wiring.h"',
    "models/hca/good.h": '#include "hca/commands/command_set.h"',
    "firmware/programs/cluster/good.c": '#include "programs/apps/app.h"\n#include "lib/console.h"\n#include "k.h"',
    "firmware/gpu/kernels/good.c": '#include "gpu.h"\n#include "gpu/pgas/pgas.h"\n#include "abi/gpu.h"',
}
BAD_FILES = {
    "models/base/long.cpp": LINE + "\n" * 600,
    "models/base/bare.cpp": "int x;\n",
    "models/base/uncounted.cpp": LINE + 'log(\n    log_level::warning, *this, "x");\n',
    "models/base/wide.h": LINE + "// " + "µ" * 118 + "\n",
    "tests/unit/base/test_calendar.cpp": LINE,
    "scripts/host.sh": "# SPDX-License-Identifier: Apache-2.0\nm=http://" + ".".join(("deb", "debian", "org")) + "\n",
}


BAD_MENTIONS = {
    "models/fabric/switch.h": '#include "fabric/netcrafter/parameters.h"',
    "models/gpu/control/a.cpp": "c.get(GPU_LINK_NETCRAFTER);",
    "models/fabric/netcrafter.h": "",
    "platform/machine.cpp": "// as NetCrafter has them",
}
GOOD_MENTIONS = {
    "models/fabric/netcrafter/a.h": "namespace netcrafter {}",
    "models/fabric/stage_kind.cpp": 'make_stage_kind<netcrafter::settings>("netcrafter", "");',
    "models/fabric/README.md": "`netcrafter/` is one",
    "platform/good.cpp": "stage->settings();",
    "abi/gpu_links.h": "GPU_LINK_NETCRAFTER",
}

PAGE = "# {0}\n\nWhat it is.\n\n- **In:** a.\n- **Out:** b.\n- **Read first:** `a.h`.\n- **Tests:** `tests/unit`.\n"
GOOD_MODULES = {
    "models/README.md": PAGE.format("models"),
    "models/a.h": "",
    "models/base/README.md": PAGE.format("models/base"),
    "models/base/a.h": "",
    "tests/unit/a.cpp": "",
}
BAD_MODULES = {
    "models/link/a.h": "",
    "models/pcie/README.md": PAGE.format("models/fabric"),
    "models/pcie/a.h": "",
    "models/host/README.md": PAGE.format("models/host"),
    "models/gpu/README.md": PAGE.format("models/gpu").replace("- **Out:** b.\n", ""),
    "models/gpu/a.h": "",
    "models/gpu/lanes/a.h": "",
}
BAD_PICTURES = {"docs/heavy.svg": "<path/>" * 6000, "docs/a/heavy.png": "x" * 250_001}


def named(check, contents):
    """The files that the check complains about in a tree of these contents."""
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        for path, text in contents.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        return sorted({line.split(":")[0] for line in check(tree)})


assert named(includes.violations, BAD_INCLUDES | GOOD_INCLUDES) == sorted(BAD_INCLUDES)
includes.PARTS["models/host"] = {"": {"a"}, "a": {"b"}, "b": {""}}
assert len(list(includes.circles())) == 3
del includes.PARTS["models/host"]
assert named(
    files.violations,
    BAD_FILES | {"models/base/fine.cpp": LINE + "\n" * 598 + "// " + "µ" * 117, "tests/unit/a_test.cpp": LINE},
) == sorted(BAD_FILES)
assert named(mentions.violations, BAD_MENTIONS | GOOD_MENTIONS) == sorted(BAD_MENTIONS)
assert named(files.plots, BAD_PICTURES | {"docs/light.svg": "<svg/>", "docs/light.png": "x" * 1000}) == sorted(
    BAD_PICTURES
)
assert named(modules.violations, GOOD_MODULES | BAD_MODULES) == sorted(
    [
        "models/link/README.md",
        "models/pcie/README.md",
        "models/host/README.md",
        "models/gpu/README.md",
        "models/gpu/lanes/README.md",
    ]
)


def in_tree(contents, check=words.violations):
    """What the check prints of a tree of these contents."""
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        for path, text in contents.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        return list(check(tree))


for row in words.ROWS:
    for number, planted in enumerate(row.planted):
        for path in ("models/base/planted.h", f"docs/page{number}.md", "firmware/a/b.c", "configs/a.yaml", "README.md"):
            reports = in_tree({path: f"first line\n  {planted}\n"})
            assert any(r.startswith(f"{path}:2: ") and row.write in r for r in reports), (row.name, planted, reports)
    for use in row.allowed:
        assert not in_tree({"models/base/right.h": f"// {use.example}\n"}), (row.name, use)
        assert use.reason

PLANTED = {"models/base/a.h": "int most_bytes, least_lanes;\n", "tests/architecture/standing.txt": "1 most, least\n"}
assert len(in_tree(PLANTED)) == 3 and not in_tree(PLANTED | {"models/base/a.h": "int most_bytes;\n"})
LONG = "A sentence" + " of many words" * 19
assert in_tree({"docs/a.md": f"# A page\n\n{LONG}. Next.\n"}) == ["docs/a.md:3: a sentence of 59 words; at most 55"]
assert not in_tree({"docs/a.md": f"```\n{LONG}\n```\n| {LONG} |\n\n{LONG[:200]}. {LONG[:200]}.\n"})

PAGES = {
    "README.md": "# Top\n\n[a](docs/a.md#a--b) [gone](docs/gone.md)\n\n```\n[code](none.md)\n```\n`[code](none.md)`\n",
    "docs/a.md": "# A × B\n\n[up](../README.md#top) [here](#a--b) [none](#none) ![p](gone.png) [far](https://x.y/z)\n"
    "[`code`](../README.md#none)\n",
}
with tempfile.TemporaryDirectory() as folder:
    tree = pathlib.Path(folder)
    for path, text in PAGES.items():
        (tree / path).parent.mkdir(exist_ok=True)
        (tree / path).write_text(text)
    assert list(links.dead_links(tree, links.pages(tree))) == [
        "README.md:3: there is no docs/gone.md",
        "docs/a.md:3: this page has no heading #none",
        "docs/a.md:3: there is no gone.png",
        "docs/a.md:4: ../README.md has no heading #none",
    ]

print("the architecture checks see what they are to see")
