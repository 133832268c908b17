# SPDX-License-Identifier: Apache-2.0
import guests
import matplotlib
import pytest
from fabricvp import plot

matplotlib.use("Agg")


def test_bars(machine, tmp_path):
    platform = machine(guests.ADDS, node__host__harts=4)
    platform.run("100 us")
    axes = plot.bars(platform.statistics.snapshot(), "*.hart?.instructions")
    assert [label.get_text() for label in axes.get_yticklabels()][::-1][0].endswith(".instructions")
    assert sorted(bar.get_width() for bar in axes.patches) == sorted(
        platform.statistics[f"node0.host.hart{n}.instructions"] for n in range(4)
    )
    axes.figure.savefig(tmp_path / "bars.png")
    assert (tmp_path / "bars.png").stat().st_size > 1000
    axes = plot.bars(platform.statistics, "*.hart?.instructions")  # of the child, read there
    assert len(axes.patches) == 4 and axes.get_xlabel() == "1"
    with pytest.raises(ValueError, match="no statistic matches"):
        plot.bars(platform.statistics.snapshot(), "nothing")


def test_runs_side_by_side():
    axes = plot.bars({"one": {"a": 1.0, "b": 2.0}, "two": {"a": 3.0, "b": 4.0}}, max_paths=1)
    assert sorted(bar.get_width() for bar in axes.patches) == [2.0, 4.0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]


def test_series():
    class Statistics:
        def series(self, path):
            import numpy

            if path != "link.bytes":
                raise KeyError(path)
            return numpy.array([0.0, 1e-6, 2e-6]), numpy.array([10.0, 30.0, 20.0])

    axes = plot.series(Statistics(), "link.bytes", rate=True)
    assert axes.lines[0].get_ydata().tolist() == [1e7, 3e7, 2e7]
    with pytest.raises(KeyError):
        plot.series(Statistics(), ["nothing"])
