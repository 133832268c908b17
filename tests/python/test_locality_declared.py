# SPDX-License-Identifier: Apache-2.0
"""What applications declare for LASP beside what the analysis of their kernels finds, and why the two differ."""

import fabricvp
import opencl_machine
import pandas
import pytest
from fabricvp.experiments.locality.declared import SIZES

opencl_machine.require_compiler()

#: Declared buffers, by kernel: what is declared, and the row of LADM's table.
DECLARED = {
    ("syr2k", "a"): ("rows", 6),
    ("syr2k", "b"): ("rows", 6),
    ("syr2k", "c"): ("rows", 1),
    ("syr2k_tiled", "a"): ("rows", 2),
    ("syr2k_tiled", "b"): ("rows", 2),
    ("syr2k_tiled", "c"): ("rows", 1),
    ("im2col", "image"): ("columns", 1),
    ("im2col", "columns"): ("columns", 1),
    ("transpose", "from"): ("rows", 1),
    ("transpose", "to"): ("columns", 1),
    ("mm_naive", "a"): ("rows", 6),
    ("mm_naive", "b"): ("columns", 5),
    ("mm_naive", "c"): ("rows", 1),
    ("mm", "a"): ("rows", 2),
    ("mm", "b"): ("columns", 5),
    ("mm", "c"): ("rows", 1),
    ("matvec_rows", "a"): ("rows", 6),
    ("matvec_columns", "a"): ("rows", 1),
    ("matvec", "a"): ("rows", 1),
    ("jacobi2d", "from"): ("rows", 1),
    ("jacobi2d", "to"): ("rows", 1),
}
#: Why pages differ: by what is declared and the row.
REASONS = {
    ("unclassified", 1): "an undeclared buffer is in contiguous chunks; LADM interleaves it in step with work-groups",
    ("unclassified", 2): "`mm` alone and `gemm` of the networks declare their work-groups, but not their pages",
    ("unclassified", 5): "as above: their second factors, down whose columns work-groups go",
    (
        "rows",
        1,
    ): "indices with bx and by have no locality for LADM, whatever shape the data have; a matrix-vector product"
    " of one dimension has no rows of work-groups",
    ("rows", 6): "a lane that walks along its own row has locality inside the thread: contiguous chunks",
    ("columns", 1): "as for rows: in `transpose` and `im2col` each element is touched by one work-group",
}
#: The same of work-groups, by what is declared and analysed.
SCHEDULES = {
    ("kernel", "aligned"): "the largest buffer has no locality",
    ("kernel", "rows"): "`mm` alone declares nothing",
    ("rows", "aligned"): "the largest buffer has no locality: `transpose`, `jacobi2d`",
    ("rows", "kernel"): "the first of buffers as large as each other has locality inside threads: `syr2k`, `mm_naive`",
    ("columns", "aligned"): "the largest buffer has no locality: `im2col`",
}


@pytest.mark.timeout(580)
def test_declared_and_analysed_differ_where_there_is_a_reason(experiment, tmp_path):
    # `lenet` has the kernels of the larger networks, but for those of `resnet18` that nothing is declared of.
    ran = experiment("locality", "--only", *(name for name in SIZES if name not in ("vgg16", "resnet18")), checks=2)
    frame = pandas.read_csv(tmp_path / "found" / "buffers.csv")
    assert set(frame["workload"]) == SIZES.keys() - {"vgg16", "resnet18"} and len(frame) == ran.measured["buffers"]
    declared = frame[frame["declared_pages"] != "unclassified"]
    found = {(r.kernel, r.argument): (r.declared_pages, r.row) for r in declared.itertuples()}
    assert found == DECLARED
    differ = frame[~frame["same_pages"]]
    assert {*zip(differ["declared_pages"], differ["row"], strict=True)} == REASONS.keys()
    schedules = frame[frame["declared_work_groups"] != frame["analysed_work_groups"]]
    pairs = zip(schedules["declared_work_groups"], schedules["analysed_work_groups"], strict=True)
    assert {*pairs} == SCHEDULES.keys()


@pytest.mark.timeout(400)
def test_times_by_the_analysis(experiment, tmp_path):
    experiment("locality", "--only", "transpose", "im2col", "--times", checks=4)
    frame = pandas.read_csv(tmp_path / "found" / "times.csv").set_index("workload")
    # Interleaved pages of rows that work-groups of other GPUs read: three lines of four are remote.
    assert frame["analysed_remote_%"]["transpose"] == pytest.approx(75, abs=1)
    assert frame["declared_remote_%"]["transpose"] < 40
    assert frame["analysed_us"]["transpose"] > 1.5 * frame["declared_us"]["transpose"]
    # In step with each other, pages and work-groups keep the columns that im2col writes on their GPU, as declared.
    assert max(frame[f"{way}_remote_%"]["im2col"] for way in ("declared", "analysed")) < 5
    assert frame["contiguous_remote_%"]["im2col"] > 10


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("places=x", "places=x"),
        ("places=0:1:0,y", "places=0:1:0,y"),
        ("schedules=transpose", "schedules=transpose"),
        ("schedules=transpose:9:1", "there is no binding 9"),
    ],
)
def test_malformed_placements_end_the_guest(words, says):
    overrides = {
        "node.images.firmware": "firmware:gpu_apps.elf",
        "node.images.append": f"app=transpose size=64 placement=lasp dispatch=lasp {words}",
    }
    with fabricvp.spawn("netcrafter_quad", overrides=overrides) as platform:
        result = platform.run()
        assert result.outcome == "guest_failure" and says in platform.nodes[0].console.output


def test_a_wrong_machine_or_application_is_one_line(command):
    for arguments, says in ((("--only", "nothing"), "nothing"), (("--machine", "none"), "none")):
        done = command("experiment", "locality", *arguments, "--out", "found")
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
