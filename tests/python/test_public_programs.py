# SPDX-License-Identifier: Apache-2.0
"""The script that runs public programs: what counts as right, inputs in the formats of suites, and its table. The
programs are ours."""

import json
import subprocess
import sys
from pathlib import Path

import numpy
import opencl_machine
import pytest
from test_linux_gpu import WITH_CROSS_TOOLS, WITH_IMAGES

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "scripts"))

import public_checks as checks  # noqa: E402
import public_inputs as data  # noqa: E402
import public_programs  # noqa: E402
from public_checks import Outcome  # noqa: E402
from public_suites import PROGRAMS, Host, Program  # noqa: E402


def printed(text, **files):
    return Outcome(0, text, {name.replace("_", "."): body.encode() for name, body in files.items()})


@pytest.mark.parametrize(
    ("check", "right", "wrong", "said"),
    [
        (checks.same_file("a.txt"), printed("", a_txt="1) 2\n"), printed("", a_txt="1) 3\n"), "1 of 2 numbers of"),
        (checks.same_file("a.txt"), printed("", a_txt="1) 2\n"), printed(""), "a.txt was not written"),
        (checks.same_file("a.txt"), printed("", a_txt="1) 2\n"), printed("", a_txt="1)\n"), "1 numbers of a.txt"),
        (checks.same_file("a.txt", 1e-3), printed("", a_txt="1 200.1"), printed("", a_txt="1 201"), "201 for 200.1"),
        (checks.same_file("a.txt", 0, 1), printed("", a_txt="8 100"), printed("", a_txt="8 102"), "1 of 2 numbers"),
        (checks.same_lines("out:", "out:", "end", 0), printed("9 out:1 2end 3"), printed("9 out:1 4end 3"), "1 of 2"),
        (checks.same_lines("out:", "out:", "end", 0), printed("out:1end"), printed("1"), "it does not print 'out:'"),
        (checks.prints("Passed!"), printed("Passed!"), printed(""), "it does not say 'Passed!'"),
        (checks.prints("Passed!"), printed("Passed!"), printed("a\nFailed\nPassed!"), "it says 'Failed'"),
        (checks.rows, printed("x\n" + "1 " * 100), printed("x\n" + "1 " * 99 + "2"), "1 of 100 numbers of the rows"),
        (checks.rows, printed("1 " * 100), printed("1 " * 99), "0 numbers of the rows"),
        (checks.nearest, printed("1977 A B --> Distance=1.25\n"), printed("1977 A C --> 1.25\n"), "nearest records"),
        (checks.nearest, printed("1977 A B --> Distance=1.25\n"), printed(""), "nearest records {}"),
        (checks.tracks, printed("XE: 1.5\nYE: 2.5\n"), printed("XE: 1.5\nYE: 2.6\n"), "1 of 2 numbers of the track"),
        (checks.centres, printed("x 9\n0: 1.5 2\n\n1: 3\n"), printed("0: 1.5 2\n1: 4\n"), "1 of 3 numbers"),
        (checks.same_bytes, printed("", a_r="ab"), printed("", a_r="ac"), "1 of 2 numbers of a.r differ"),
        (checks.same_bytes, printed("", a_r="ab"), printed(""), "0 numbers of a.r"),
    ],
)  # fmt: skip
def test_what_is_right(check, right, wrong, said):
    assert check(right, right) == ""
    assert said in check(wrong, right)


def test_inputs_are_in_the_formats_of_suites(tmp_path):
    for make in (data.graph, data.heat, data.hurricanes, data.picture, data.bitmap):
        make(tmp_path)
    words = [int(word) for word in (tmp_path / "graph.txt").read_text().split()]
    nodes = words[0]
    edges = numpy.array(words[1 : 1 + 2 * nodes]).reshape(-1, 2)
    assert words[1 + 2 * nodes] == 0 and words[2 + 2 * nodes] == edges[:, 1].sum() == (len(words) - 3 - 2 * nodes) // 2
    assert (edges[1:, 0] == numpy.cumsum(edges[:, 1])[:-1]).all()
    lines = (tmp_path / "hurricanes.db").read_text().splitlines()
    assert {len(line) for line in lines} == {48} and all(7 <= float(line[28:33]) <= 70 for line in lines)
    head = (tmp_path / "image.pgm").read_text().split("\n", 4)
    assert (head[0], head[2], head[3]) == ("P2", "458 502", "255") and len(head[4].split()) == 458 * 502
    assert (tmp_path / "RecursiveGaussian_Input.bmp").stat().st_size == 54 + 256 * 256 * 3
    heated = numpy.loadtxt(tmp_path / "temp.txt").reshape(64, 64)
    out = data.hotspot(tmp_path).files["output.txt"].decode().split()
    assert len(out) == 2 * 64 * 64 and numpy.std([float(x) for x in out[1::2]]) < heated.std()


def test_cpu_versions_that_suites_lack(tmp_path):
    for make in (data.heat_of_layers, data.keys, data.points, data.text, data.numbers, data.mesh, data.pixels):
        make(tmp_path)
    assert len((tmp_path / "temp.txt").read_text().split()) == 64 * 64 * 8
    solution = checks._numbers(data.gaussian(tmp_path).output)
    assert len(solution) == 32 and abs(solution[0] - solution[-1]) < 0.01  # the system is the same from behind
    found = data.kmeans(tmp_path).output.splitlines()
    rows = numpy.loadtxt(tmp_path / "points.txt")[:, 1:]
    assert len(found) == 5 and {len(line.split()) for line in found} == {1 + rows.shape[1]}
    bands = data.wavelet(tmp_path).files["image.dwt.g"]
    image = numpy.frombuffer((tmp_path / "image.rgb").read_bytes(), numpy.uint8)
    # A quarter of the picture, with its mean, and three of differences around 0.
    assert len(bands) == 64 * 64 and abs(numpy.mean([*bands[:1024]]) - image.mean()) < 8
    assert abs(numpy.mean([*bands[1024:]]) - 128) < 8


SOURCE = """#include <stdio.h>
int main(int argc, char** argv) {
    int* there;
    int here = 0;
    if (argc > 1) return 7;
    cudaMalloc(&there, sizeof here);
    cudaMemset(there, VALUE, sizeof here);
    cudaMemcpy(&here, there, sizeof here, cudaMemcpyDeviceToHost);
    FILE* file = fopen("out.txt", "w");
    fprintf(file, "%d\\n", here);
    return 0;
}
"""
ON_THE_CPU = '#include <stdio.h>\nint main() { fprintf(fopen("out.txt", "w"), "%d\\n", 0x05050505); }\n'


def program(name, value, arguments="", limit=""):
    return Program(
        "suite", name, "here", "p.cu", arguments, checks.same_file("out.txt"), "its own", options=f"-D VALUE={value}",
        collect="out.txt", host=Host("here/p.c", ""), needed="nothing", limit=limit,
    )  # fmt: skip


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_programs_of_a_suite(tmp_path, monkeypatch, capsys):
    opencl_machine.require_compiler()
    folder = tmp_path / "suite" / "here"
    folder.mkdir(parents=True)
    (folder / "p.cu").write_text(SOURCE)
    (folder / "p.c").write_text(ON_THE_CPU)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path / "suite", check=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *author, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path / "suite", check=True)
    made = [program("right", 5), program("wrong", 6), program("status", 5, "x"), program("macro", "nothing")]
    made += [program("known", 6, limit="it is ours"), program("better", 5, limit="it was wrong")]
    monkeypatch.setattr(public_programs, "PROGRAMS", made)
    monkeypatch.setattr(sys, "argv", ["public_programs.py", "--sources", str(tmp_path), "--out", str(tmp_path / "out")])
    assert public_programs.main() == 1
    rows = json.loads((tmp_path / "out" / "result.json").read_text())["tables"]["programs"]["rows"]
    results = {row[0].strip("`"): row[4] for row in rows}
    assert results["right"] == "right" and results["status"] == "ends with 7: "
    assert "1 of 1 numbers of out.txt differ" in results["wrong"]
    assert "does not compile: here/p.cu:7:23: error: use of undeclared identifier 'nothing'" == results["macro"]
    assert results["known"] == "wrong: it is ours" and results["better"] == "right"
    assert len({row[2] for row in rows}) == 1 and len(rows[0][2]) == 10
    assert capsys.readouterr().out.splitlines()[0].split() == ["suite", "right", "right"]
    for name, status in (("right", 0), ("known", 0), ("better", 1)):  # what is no longer wrong is to be told
        monkeypatch.setattr(sys, "argv", [*sys.argv[:5], name])
        assert public_programs.main() == status
    assert json.loads((tmp_path / "out" / "result.json").read_text())["tables"]["programs"]["rows"] == rows


def test_what_the_script_refuses(tmp_path):
    script = [REPOSITORY / "scripts" / "public_programs.sh", "--sources", tmp_path]
    for arguments, said in (
        ([*script, "nonsense"], "nonsense: must be one of"),
        ([*script, "bfs"], "rodinia: no such folder: scripts/public_programs.sh clones it"),
        ([*script[:2]], "--sources needs a value"),
    ):
        done = subprocess.run(arguments, capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr.splitlines()[-1], done.stderr


def test_out_is_a_folder_of_the_caller(tmp_path):
    """Of no program: `rodinia` of the folder has none of the names."""
    (tmp_path / "rodinia").mkdir()
    script = REPOSITORY / "scripts" / "public_programs.sh"
    for out, place in (("results", tmp_path / "results"), (tmp_path / "absolute", tmp_path / "absolute")):
        done = subprocess.run(
            [script, "--sources", ".", "--out", out, "nn"], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 1 and "does not compile" in done.stdout, done.stderr
        assert json.loads((place / "result.json").read_text())["tables"]["programs"]["rows"][0][0] == "`nn`"


def test_names_are_unique():
    assert len({p.name for p in PROGRAMS}) == len(PROGRAMS) and all(p.compared for p in PROGRAMS)
