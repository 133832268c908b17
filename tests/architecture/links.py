# SPDX-License-Identifier: Apache-2.0
"""Links between pages: `links.py TREE` prints links of Markdown files that lead nowhere, to a file or to a heading;
status 1 if any. Addresses outside of the tree are not asked for."""

import collections
import os
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^\s)>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")


def prose(text):
    """A page without its code, as many lines as before."""
    return FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)


def slug(heading):
    """The name that sites give a heading: small letters, no punctuation, a hyphen for each blank."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text):
    found, seen = set(ANCHOR.findall(text)), collections.Counter()
    for heading in HEADING.findall(prose(text)):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def dead_links(tree, pages):
    """`page:line: why` of each link that leads nowhere."""
    known = {}
    for page in pages:
        for number, line in enumerate(prose((tree / page).read_text(encoding="utf-8")).splitlines(), 1):
            for target in LINK.findall(CODE.sub("", line)):
                if re.match(r"[a-z][a-z0-9+.-]*:", target):
                    continue
                path, _, name = target.partition("#")
                file = pathlib.Path(os.path.normpath((tree / page).parent / path)) if path else tree / page
                if path.startswith("/") or not file.exists():
                    yield f"{page}:{number}: there is no {target}"
                elif name and file.suffix == ".md":
                    if file not in known:
                        known[file] = anchors(file.read_text(encoding="utf-8"))
                    if name not in known[file]:
                        yield f"{page}:{number}: {path or 'this page'} has no heading #{name}"


def pages(tree):
    """Those that Git knows or would add; where there is no Git, all but what was built."""
    listed = subprocess.run(
        ["git", "-C", str(tree), "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True
    )
    if listed.returncode == 0:
        return sorted(pathlib.Path(name) for name in listed.stdout.splitlines() if (tree / name).exists())
    return sorted(
        file.relative_to(tree)
        for file in tree.rglob("*.md")
        if not {"build", ".venv", ".git", "node_modules"} & set(file.relative_to(tree).parts)
    )


def main():
    tree = pathlib.Path(sys.argv[1])
    lines = list(dead_links(tree, pages(tree)))
    print("\n".join(lines) or "every link leads somewhere")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
