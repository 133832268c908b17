# SPDX-License-Identifier: Apache-2.0
import itertools

import fabricvp
import guests
import matplotlib
import numpy
import pandas
import pytest
from fabricvp import plot
from fabricvp.experiments import compnet
from fabricvp.experiments.gpu_workloads import plots as gpu_workloads

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

        def series_window(self, path):
            return 1e-6

    axes = plot.series(Statistics(), "link.bytes", rate=True)
    assert axes.lines[0].get_ydata().tolist() == [1e7, 3e7, 2e7]
    with pytest.raises(KeyError):
        plot.series(Statistics(), ["nothing"])


def test_the_rate_of_a_single_window_is_by_its_own_length():
    with fabricvp.spawn("netcrafter_quad", app="gups", size=1024) as platform:
        statistics = platform.statistics
        path = "node0.pcie.root.root_port0.transmitter.load"
        window = statistics.series_window(path)
        while not len(statistics.series(path)[0]):
            statistics.reset()
            assert platform.run(window).outcome == fabricvp.Outcome.TIME_LIMIT
        [start], [total] = statistics.series(path)
        assert start == 0 and 0 < window < 1e-3 and total > 0
        assert plot.series(statistics, path, rate=True).lines[0].get_ydata().tolist() == [total / window]
        with pytest.raises(KeyError, match="no time series"):
            platform.statistics.series_window("nothing")


def test_bars_of_pandas():
    values = pandas.Series({"a": 1.0, "b": 2.0})
    assert sorted(bar.get_width() for bar in plot.bars(values).patches) == [1.0, 2.0]
    axes = plot.bars(pandas.DataFrame({"one": values, "two": 2 * values}), "b")
    assert sorted(bar.get_width() for bar in axes.patches) == [2.0, 4.0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    with pytest.raises(ValueError, match="no statistic matches"):
        plot.bars(pandas.Series(dtype=float))


#: What linear RGB becomes for an eye without one kind of cone (Machado, Oliveira, Fernandes, 2009, severity 1).
VISIONS = {
    "any": numpy.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = numpy.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour, vision):
    """A colour in CIELAB, where distances are as one sees them."""
    rgb = numpy.array(matplotlib.colors.to_rgb(colour))
    linear = numpy.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = XYZ @ numpy.clip(numpy.array(VISIONS[vision]) @ linear, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return numpy.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(colours):
    """The smallest between two of them, for any vision."""
    return min(numpy.linalg.norm(lab(a, v) - lab(b, v)) for a, b in itertools.combinations(colours, 2) for v in VISIONS)


@pytest.mark.parametrize("colours", [plot.PALETTE, gpu_workloads._PART_COLOURS, compnet.COLORS.values()])
def test_colours_can_be_told_apart(colours):
    assert distance(colours) > 15 > distance(matplotlib.rcParamsDefault["axes.prop_cycle"].by_key()["color"])


def test_plots_take_colours_from_the_palette():
    with matplotlib.rc_context():
        plot.use_palette()
        axes = matplotlib.figure.Figure().subplots()
        lines = [axes.plot([1, 2])[0].get_color() for _ in plot.PALETTE]
    assert tuple(lines) == plot.PALETTE
