# SPDX-License-Identifier: Apache-2.0
"""Whatever a person gives the command, it works or ends in one printable line and status 2. hypothesis makes the inputs
and finds a small one of each kind that goes wrong. FUZZ_EXAMPLES: how many of each (`make fuzz` makes more, from other
seeds); FUZZ_COMMAND: the executable."""

import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import zlib

import pytest
import yaml
from conftest import REPOSITORY
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

COMMAND = os.environ.get("FUZZ_COMMAND", str(REPOSITORY / "build/release/bin/fabricvp"))
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "40"))
ENVIRONMENT = {
    **os.environ,
    "FABRICVP_CONFIGS": str(REPOSITORY / "configs"),
    "FABRICVP_FIRMWARE": str(REPOSITORY / "build/release/firmware"),
}
TIMEOUT_S = 120
fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
pytestmark = pytest.mark.timeout(600 if "FUZZ_EXAMPLES" not in os.environ else 0)


def fabricvp(folder, *arguments, accepted=(0,)):
    """Runs the command in `folder`. \\returns its status; fails unless it worked or said in one line why not."""
    done = subprocess.run(
        [COMMAND, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    said = done.stderr.decode(errors="replace")
    assert done.returncode in {2, *accepted}, f"status {done.returncode}: {said[-2000:]}"
    if done.returncode == 2:
        assert len(said.splitlines()) == 1, said[-2000:]
        line = said.rstrip("\n")
        assert line.startswith("fabricvp: ") and line.isprintable() and len(line) < 2500, line
    return done.returncode


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as path:
        yield pathlib.Path(path)


@pytest.fixture(scope="module")
def small_machine(folder):
    """A machine that ends at once, by its configuration's name there."""
    (folder / "image.bin").write_bytes(bytes.fromhex("371510003755050093855505") + bytes(64))
    (folder / "machine.yaml").write_text(
        "node: {host: {harts: 1, memory: 1 MiB}, images: {firmware: image.bin}, devices: [{kind: uart, name: uart0}]}\n"
        "simulation: {watchdog: 0 ps}\n"
    )
    return "machine.yaml"


# --- YAML trees, as the schema allows them or nearly so

QUANTITIES = ["0 ps", "1 ns", "3us", "1 s", "1e30 s", "0 B", "1 B", "64 B", "4 KiB", "1 MiB", "2 GiB", "1e20 B", "0 Hz"]
QUANTITIES += ["1 Hz", "1 GHz", "1 MB/s", "16 GB/s", "4 cycles", "0 cycles", "1 pJ", "-1 s", "1 parsec", "9" * 40]
junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["", "../..", "/dev/null", "node0", "*", "\x1b[2J", "a" * 5000, [], {}, [[]], {"a": 1}, [None] * 3]
    ),
)


@st.composite
def instance(draw, schema, definitions, depth=0):
    """Something that fits the schema, but for one place in some."""
    if draw(st.integers(0, 40)) == 0:
        return draw(junk)
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return draw(instance(draw(st.sampled_from(schema[either])), definitions, depth))
    if "enum" in schema or "const" in schema:
        return draw(st.sampled_from(schema.get("enum") or [schema["const"]]))
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = draw(st.sampled_from(kind))
    if kind == "object":
        names = sorted(schema.get("properties", {}))
        chosen = draw(st.lists(st.sampled_from(names), max_size=5 - min(depth, 4), unique=True)) if names else []
        chosen += [name for name in schema.get("required", []) if name not in chosen]
        return {name: draw(instance(schema["properties"].get(name, {}), definitions, depth + 1)) for name in chosen}
    if kind == "array":
        return [draw(instance(schema.get("items", {}), definitions, depth + 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == "integer":
        around = [schema.get("minimum", 0), schema.get("minimum", 0) + 1, 1, 2, 3, 4, 8, 100]
        return draw(st.sampled_from([*around, schema.get("maximum", 64), draw(st.integers(0, 2**64))]))
    if kind == "number":
        return draw(st.one_of(st.sampled_from([0, 1, 0.5, 1e-30]), st.floats()))
    if kind == "boolean":
        return draw(st.booleans())
    if kind == "null":
        return None
    fitting = [schema["default"]] if "default" in schema else []
    return draw(st.sampled_from(fitting * 6 + QUANTITIES + ["node0", "gpu0", "switch0", "uart", "hca0", "x", "none"]))


@pytest.fixture(scope="module")
def schema():
    return json.loads(subprocess.run([COMMAND, "schema"], capture_output=True, check=True, timeout=TIMEOUT_S).stdout)


def test_machines(folder, schema):
    seen = set()

    @fuzzed
    @given(st.data())
    def machines(data):
        tree = data.draw(instance(schema, schema["$defs"]))
        (folder / "tree.yaml").write_text(yaml.safe_dump(tree, allow_unicode=True))
        seen.add(fabricvp(folder, "describe", "tree.yaml"))

    machines()
    assert seen == {0, 2}  # a fuzzer that sees only one side tests nothing


SHIPPED = sorted((REPOSITORY / "configs").glob("*.yaml"))


def test_shipped_machines_with_other_words(folder):
    """Lines of the machines that come along, with words of other lines."""
    words = sorted({word for path in SHIPPED for word in path.read_text().split() if len(word) < 30})

    @fuzzed
    @given(st.sampled_from(SHIPPED), st.lists(st.tuples(st.integers(0, 2000), st.sampled_from(words)), max_size=3))
    def machines(path, changes):
        tokens = path.read_text().split(" ")
        for at, word in changes:
            tokens[at % len(tokens)] = word
        (folder / "words.yaml").write_text(" ".join(tokens))
        fabricvp(folder, "check", "words.yaml")

    machines()


# --- recordings


@pytest.fixture(scope="module")
def recording(folder):
    subprocess.run(
        [COMMAND, *"run netcrafter_quad --app spmv --size 128 --record small.recording --quiet".split()],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    return (folder / "small.recording").read_bytes()


MAGIC = b"fabricvp recording\n"


def blocks_of(recording):
    """Letter and contents of each block of a recording (models/gpu/replay/recording_file.h)."""
    at, blocks = len(MAGIC) + 4, []
    while at < len(recording):
        letter, _, stored, _ = struct.unpack_from("<cIII", recording, at)
        blocks.append((letter, zlib.decompress(recording[at + 13 : at + 13 + stored])))
        at += 13 + stored
    return blocks


def recording_of(version, blocks):
    data = MAGIC + struct.pack("<I", version)
    for letter, contents in blocks:
        stored = zlib.compress(contents, 1)
        head = struct.pack("<cII", letter, len(contents), len(stored))
        data += head + struct.pack("<I", zlib.crc32(stored, zlib.crc32(head))) + stored
    return data


def variable_length(number):
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def test_recordings(folder, recording):
    version = struct.unpack_from("<I", recording, len(MAGIC))[0]
    blocks = blocks_of(recording)
    numbers = [0, 1, 127, 128, 255, 2**14, 2**31, 2**32 - 1, 2**33, 2**62, 2**63, 2**64 - 2, 2**64 - 1, 2**70]
    others = [variable_length(n) for n in numbers] + [b"", b"\xff", b"\xff" * 12, b"\x1b[2J", b"\n", b"\xc3\x28"]
    change = st.tuples(
        st.integers(0, len(blocks) - 1),
        st.integers(0, 2**16),
        st.sampled_from(others),
        st.sampled_from([1, 1, 1, 1, 0, 2]),
    )

    @fuzzed
    @given(st.lists(change, min_size=1, max_size=4), st.integers(0, 60))
    def recordings(changes, order):
        changed = list(blocks)
        for block, at, other, replaced in changes:
            letter, contents = changed[block]
            numbered = re.findall(rb"[\x80-\xff]*[\x00-\x7f]", contents)
            at %= len(numbered) + 1
            changed[block] = (letter, b"".join([*numbered[:at], other, *numbered[at + replaced :]]))
        if order == 0:  # seldom: a block twice, one too few, the file cut short
            changed.append(changed[0])
        elif order == 1:
            del changed[changes[0][0]]
        data = recording_of(version, changed)
        (folder / "changed.recording").write_bytes(data[: changes[0][1]] if order == 2 else data)
        arguments = ["replay", "changed.recording", "netcrafter_quad", "--quiet"]
        seen.add(fabricvp(folder, *arguments, accepted=(0, 1)))

    seen = set()
    (folder / "same.recording").write_bytes(recording_of(version, blocks))
    assert fabricvp(folder, "replay", "same.recording", "netcrafter_quad", "--quiet") == 0
    recordings()
    assert len(seen) > 1 or "FUZZ_EXAMPLES" in os.environ  # with some seeds every recording is refused


def number_at(contents, at):
    """A number of variable length. \\returns it and where the next one begins"""
    number = shift = 0
    while contents[at] & 128:
        number |= (contents[at] & 127) << shift
        shift, at = shift + 7, at + 1
    return number | contents[at] << shift, at + 1


def with_head(blocks, change):
    """Blocks with other texts in the head: `change` makes them of machine, software and label."""
    ((head, at),) = [(contents, 0) for letter, contents in blocks if letter == b"H"]
    texts = []
    for _ in range(3):
        size, at = number_at(head, at)
        texts.append(head[at : at + size])
        at += size
    other = b"".join(variable_length(len(text)) + text for text in change(*texts)) + head[at:]
    return [(letter, other if letter == b"H" else contents) for letter, contents in blocks]


@pytest.mark.parametrize("number", [str(2**64 - 1), str(2**64), "1" + "0" * 30, "4", "", "-1", "\xff"])
def test_machines_of_recordings(number, folder, recording):
    """GPUs of a recording are numbered from 0 on."""
    changed = with_head(
        blocks_of(recording), lambda m, *rest: (m.replace(b"gpus.1.", f"gpus.{number}.".encode("latin-1")), *rest)
    )
    (folder / "numbers.recording").write_bytes(recording_of(1, changed))
    assert fabricvp(folder, "replay", "numbers.recording", "netcrafter_quad", accepted=()) == 2


def test_texts_of_recordings_are_printable(folder, recording):
    changed = with_head(blocks_of(recording), lambda m, *_: (m, b"app=\x1b[2J\xff", b"\x1b]0;x\x07\xc3\x28"))
    (folder / "escapes.recording").write_bytes(recording_of(1, changed))
    done = subprocess.run(
        [COMMAND, *"replay escapes.recording netcrafter_quad --out escapes".split()],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    assert "app=\\x1b[2J\\xff" in done.stderr.decode() and "\x1b" not in done.stderr.decode()
    (region,) = json.loads((folder / "escapes/regions.json").read_text())
    assert region["label"].isprintable()


def test_wavefronts_that_a_recording_has_twice(folder, recording):
    """They would find no room in their compute unit."""
    changed = []
    for letter, contents in blocks_of(recording):
        if letter == b"S":
            streams = contents
            changed.append((letter, contents))
        elif letter == b"E":
            transactions, at = number_at(contents, 0)
            walks, at = number_at(contents, at)
            count, _ = number_at(contents, at)
            changed.append((b"S", streams))
            contents = b"".join(map(variable_length, (transactions, walks, 2 * count)))
            changed.append((letter, contents))
        else:
            changed.append((letter, contents))
    (folder / "twice.recording").write_bytes(recording_of(1, changed))
    assert fabricvp(folder, "replay", "twice.recording", "netcrafter_quad", accepted=()) == 2


# --- scripts

ENDS = st.sampled_from(["", '"', "/", "(", "[", "\\", "\x00", "\x1b", "ÿ", "{9999}", "a{1000}", "(?=x)", "\\1", "[^]"])


def test_scripts(folder, small_machine):
    text = st.one_of(
        st.text(max_size=12), ENDS, st.sampled_from(['"> "', "/a.*x/", "/(a|b)*x/", "3 ms", "1e30 s", "0"])
    )
    word = st.sampled_from(["expect", "type", "command", "prompt", "timeout", "finish", "#", "Expect", ""])

    @fuzzed
    @example([("expect", "(" * 100_000)])
    @given(st.lists(st.tuples(word, text), max_size=5))
    def scripts(lines):
        script = "\n".join(f"{command} {rest}" for command, rest in lines)
        (folder / "fuzzed.script").write_bytes(script.encode(errors="surrogateescape"))
        arguments = ["run", small_machine, "--script", "fuzzed.script", "--time", "1ms", "--quiet"]
        fabricvp(folder, *arguments, accepted=(0, 1))

    scripts()


# --- command lines

OPTIONS = ["--time", "--until", "--console", "--script", "--trace-window", "--trace-region", "--trace-filter"]
OPTIONS += ["--trace-size", "--set"]
OPTIONS += ["--firmware", "--kernel", "--initrd", "--append", "--app", "--size", "--gpus", "--placement", "--dispatch"]
OPTIONS += ["--option", "--kernel-elf", "--kernel-name", "--grid", "--group", "--lds", "--arg", "--capture-filter"]
OPTIONS += ["--log-bus", "--spans", "--quiet", "--replay", "--tohost", "--plugin", "--nothing", "-", "--"]
VALUES = ["", "0", "1", "-1", "1ms", "1e30s", "node0", "node9=1", "node0=", "=", "a=b", "node.host.harts=4", "u32:1"]
VALUES += [
    "node.host.hart=1",
    "zeros:1KiB",
    "zeros:1e20B",
    "1x1x1",
    "0x0",
    "none",
    "stdio",
    "file:",
    "hca",
    "*",
    "spmv",
]
VALUES += ["machine.yaml", "image.bin", "/dev/null", ".", "1ms..2ms", "2ms..1ms", "\n", "\x1b[2J", "ÿ", "x" * 3000]


def test_command_lines(folder, small_machine):
    verb = st.sampled_from(
        ["run", "run", "run", "check", "describe", "replay", "diff", "list", "apps", "schema", "rum"]
    )
    words = st.lists(
        st.one_of(
            st.tuples(st.sampled_from(OPTIONS), st.sampled_from(VALUES)),
            st.tuples(st.sampled_from(OPTIONS)),
            st.tuples(st.sampled_from(VALUES)),
        ),
        max_size=3,
    )

    @fuzzed
    @given(verb, words)
    def lines(command, pairs):
        rest = [word for pair in pairs for word in pair]
        machine = [small_machine] if command in ("run", "check", "describe") else []
        bounded = ["--time", "1ms", "--console", "none"] if command == "run" else []
        fabricvp(folder, command, *machine, *bounded, *rest, accepted=(0, 1))

    lines()
