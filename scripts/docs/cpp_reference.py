# SPDX-License-Identifier: Apache-2.0
"""The reference of the C++ headers that users include. Doxygen reads them; this writes a page for each folder of what
it found."""

import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
#: Beside those that the examples, the templates and the pages include.
HEADERS = """
base/bus.h base/calendar.h base/clock_domain.h base/fault.h base/foreign_initiator.h base/foreign_target.h base/kinds.h
base/model.h base/parameters.h base/quantity.h base/random_streams.h base/registers.h base/sparse_memory.h base/spans.h
base/statistics.h base/time.h base/trace.h base/wire.h fabric/packet.h fabric/stage.h host/device_kind.h
host/host_device.h host/register_target.h link/lane_policy.h pcie/device_kind.h pcie/endpoint.h pcie/function.h
platform/console/console.h platform/machine.h platform/params/machine_params.h platform/platform.h platform/plugin.h
platform/results/results.h
""".split()
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:fabricvp/)?[a-z_/0-9]+/[a-z_0-9]+\.h)"', re.MULTILINE)
DOXYFILE = """
INPUT = {input}
OUTPUT_DIRECTORY = {output}
STRIP_FROM_PATH = {models} {repository}
GENERATE_XML = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
AUTOLINK_SUPPORT = NO
ENABLE_PREPROCESSING = YES
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_IF_DOC_ERROR = YES
WARN_IF_INCOMPLETE_DOC = NO
"""
PUBLIC = ("public-type", "public-static-func", "public-func", "public-static-attrib", "public-attrib")
FREE = ("define", "enum", "typedef", "var", "func")


def headers() -> list[Path]:
    """Existing files of models/ and platform/, those of a folder together.

    Raises FileNotFoundError for one of HEADERS that has moved.
    """
    names = set(HEADERS)
    moved = [name for name in HEADERS if not any((REPOSITORY / top / name).is_file() for top in ("models", "."))]
    if moved:
        raise FileNotFoundError(f"HEADERS names {', '.join(moved)}")
    for top in ("examples", "python/fabricvp/templates", "docs"):
        for file in (REPOSITORY / top).rglob("*"):
            if file.suffix in (".h", ".cpp", ".md"):
                names |= {name.removeprefix("fabricvp/") for name in INCLUDE.findall(file.read_text())}
    found = [path for name in names for path in (REPOSITORY / "models" / name, REPOSITORY / name) if path.is_file()]
    return sorted(path for path in found if path.relative_to(REPOSITORY).parts[0] in ("models", "platform"))


def write(folder: Path, scratch: Path) -> None:
    """cpp.md, and cpp/FOLDER.md for each folder of headers. Shows what Doxygen has to say of comments."""
    paths = headers()
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "Doxyfile").write_text(
        DOXYFILE.format(
            input=" ".join(map(str, paths)), output=scratch, models=REPOSITORY / "models", repository=REPOSITORY
        )
    )
    subprocess.run(["doxygen", scratch / "Doxyfile"], check=True)
    compounds = _compounds(scratch / "xml")
    files = {c.find("location").get("file"): c for c in compounds.values() if c.get("kind") == "file"}
    index = "# C++\n\nInclude these headers in devices, stages and programs of your own; [add a device]"
    index += "(../../howto/add_a_device.md) shows some at work.\n\n| header | what it declares |\n|---|---|\n"
    modules: dict[str, str] = {}
    for path in paths:
        name = str(path.relative_to(REPOSITORY)).removeprefix("models/")
        module = name.split("/")[0]
        file = files[name]
        classes = [compounds[inner.get("refid")] for inner in file.findall("innerclass")]
        names = [c.findtext("compoundname").removeprefix("fabricvp::") for c in classes if _is_shown(c)]
        index += (
            f"| [{name}](cpp/{module}.md#{re.sub(r'[^a-z0-9_-]', '', name)}) | {', '.join(f'`{n}`' for n in names)} |\n"
        )
        modules.setdefault(module, f"# {module}\n\nDeclarations of the headers `{module}/*.h` that programs include.\n")
        modules[module] += f"\n## {name}\n\n{_introduction(path)}{_members(file, FREE)}{_free(compounds, file)}"
        modules[module] += "".join(_class(c) for c in classes if _is_shown(c))
    (folder / "cpp").mkdir()
    (folder / "cpp.md").write_text(index)
    for module, text in modules.items():
        (folder / "cpp" / f"{module}.md").write_text(text)


def _compounds(xml: Path) -> dict[str, ElementTree.Element]:
    found = {}
    for file in sorted(xml.glob("*.xml")):
        for compound in ElementTree.parse(file).getroot().findall("compounddef"):
            found[compound.get("id")] = compound
    return found


def _is_shown(compound: ElementTree.Element) -> bool:
    return compound.get("prot") in (None, "public") and "@" not in compound.findtext("compoundname")


def _introduction(path: Path) -> str:
    """The comment on top of a header, without the licence line. What is indented in it is code."""
    lines = []
    for line in path.read_text().splitlines()[1:]:
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return _prose("\n".join(lines)) + "\n\n" if lines else ""


def _prose(text: str) -> str:
    """Markdown with what HTML would take for tags escaped, outside of code."""
    parts = re.split(r"(`[^`]*`|^    .*$)", text, flags=re.MULTILINE)
    return "".join(p if n % 2 else p.replace("<", "&lt;") for n, p in enumerate(parts))


def _text(element: ElementTree.Element | None) -> str:
    """A description as Markdown."""
    if element is None:
        return ""
    paragraphs = [
        _inline(paragraph).strip() for paragraph in element.iter("para") if not _is_nested(element, paragraph)
    ]
    return "\n\n".join(p for p in paragraphs if p)


def _is_nested(root: ElementTree.Element, paragraph: ElementTree.Element) -> bool:
    return any(paragraph in list(other.iter("para"))[1:] for other in root.iter("para"))


def _inline(element: ElementTree.Element) -> str:
    text = (element.text or "").replace("<", "&lt;")
    for child in element:
        if child.tag in ("computeroutput", "verbatim"):
            text += f"`{''.join(child.itertext()).strip()}`"
        elif child.tag == "emphasis":
            text += f"*{_inline(child)}*"
        elif child.tag == "itemizedlist":
            text += "".join(f"\n- {_inline(item).strip()}" for item in child.findall("listitem")) + "\n"
        elif child.tag == "parameterlist":
            for item in child.findall("parameteritem"):
                name = " ".join("".join(n.itertext()) for n in item.iter("parametername"))
                head = "Throws" if child.get("kind") == "exception" else "Parameter"
                text += f"\n\n{head} `{name}`: {_inline(item.find('parameterdescription')).strip()}"
        else:
            text += _inline(child)
        text += (child.tail or "").replace("<", "&lt;")
    return text


def _class(compound: ElementTree.Element) -> str:
    name = compound.findtext("compoundname").removeprefix("fabricvp::")
    text = f"\n### {compound.get('kind')} {name.replace('<', '&lt;')}\n\n"
    bases = ", ".join(f"`{base.text}`" for base in compound.findall("basecompoundref") if base.get("prot") == "public")
    described = [_text(compound.find("briefdescription")), _text(compound.find("detaileddescription"))]
    text += "\n\n".join(part for part in (*described, f"Derived from {bases}." if bases else "") if part) + "\n\n"
    return text + _members(compound, PUBLIC)


def _free(compounds: dict[str, ElementTree.Element], file: ElementTree.Element) -> str:
    """What a header declares in a namespace, outside of classes."""
    path, text = file.find("location").get("file"), ""
    for reference in file.findall("innernamespace"):
        text += _members(compounds[reference.get("refid")], FREE, path)
    return text


def _members(compound: ElementTree.Element, kinds: tuple[str, ...], path: str | None = None) -> str:
    """Members that are described, each with its description; then the others, in one block."""
    described, bare = "", []
    for section in compound.findall("sectiondef"):
        if section.get("kind") not in (*kinds, "user-defined"):
            continue
        for member in section.findall("memberdef"):
            if member.get("prot") != "public" or path and member.find("location").get("file") != path:
                continue
            words = [_text(member.find(part)) for part in ("briefdescription", "detaileddescription")]
            words += [
                f"`{value.findtext('name')}`: {_text(value.find('briefdescription'))}"
                for value in member.findall("enumvalue")
                if _text(value.find("briefdescription"))
            ]
            text = "\n\n".join(word for word in words if word)
            if text:
                described += f"```cpp\n{_signature(member)}\n```\n\n{text}\n\n"
            else:
                bare.append(_signature(member))
    return described + ("```cpp\n" + "\n".join(bare) + "\n```\n\n" if bare else "")


def _signature(member: ElementTree.Element) -> str:
    def plain(tag: str) -> str:
        found = member.find(tag)
        return "" if found is None else " ".join("".join(found.itertext()).split())

    kind, name = member.get("kind"), plain("name")
    template = member.find("templateparamlist")
    prefix = ""
    if template is not None:
        arguments = [" ".join("".join(p.itertext()).split()) for p in template.findall("param")]
        prefix = f"template <{', '.join(arguments)}>\n"
    if kind == "enum":
        values = ", ".join(value.findtext("name") for value in member.findall("enumvalue"))
        return f"enum class {name} {{ {values} }};" if member.get("strong") == "yes" else f"enum {name} {{ {values} }};"
    if kind == "typedef":
        return f"{prefix}using {name} = {plain('type')};"
    if kind == "define":
        return f"#define {name} {plain('initializer')}"
    static = "static " if member.get("static") == "yes" else ""
    virtual = "virtual " if member.get("virt") in ("virtual", "pure-virtual") else ""
    kept = f"{plain('type')} {name}{plain('argsstring')}".strip()
    value = plain("initializer") if kind == "variable" else ""
    return f"{prefix}{static}{virtual}{kept}{' ' + value if len(value) < 60 and value else ''};"
