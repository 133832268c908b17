# SPDX-License-Identifier: Apache-2.0
"""What an experiment is made of. A minimal one:

    def run(run: Run) -> None:
        values = run.map("doubling", double, [1, 2, 3])      # in processes, with progress
        run.report.row("sum of doubles", "1", sum(values), published=12, source="arithmetic")
        run.report.check("all even", all(v % 2 == 0 for v in values), f"{values}")

    EXPERIMENT = Experiment("doubles", "Doubling numbers", "Are doubles even?", run)

`rows` hold measured figures beside published ones and decide nothing; `checks` hold invariants (conservation,
correctness, convergence, determinism) and decide the exit status.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._renamed import renamed_attributes, renamed_members
from ..sweeps.code_hash import modules_hash
from ..sweeps.executors import Executor
from ..sweeps.progress import Progress
from .machines import Machine
from .points import run_points
from .result_cache import ResultCache
from .tables import answering

if TYPE_CHECKING:
    import argparse

    import pandas
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Missing:
    """Stands for a figure that could not be measured, and says why: the machine has no such part, nothing happened
    there."""

    reason: str


#: What is measured, or why it is not.
Figure = float | Missing


@dataclass(frozen=True)
class Row:
    """A measured figure, beside what was published (None: nothing was)."""

    figure: str
    unit: str
    measured: float | None  #: None: see ``missing``
    published: float | None
    source: str  #: of the published figure, or how the measured one came about
    missing: str = ""  #: why it could not be measured


@dataclass(frozen=True)
class Check:
    """An invariant."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Text:
    """A heading with paragraphs, for the page."""

    heading: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table of the page, which is also written as NAME.csv."""

    name: str
    frame: pandas.DataFrame
    caption: str
    shown: int  #: rows on the page


@dataclass(frozen=True)
class Plot:
    """A picture of the page, which is also written as NAME.png and NAME.svg."""

    name: str
    figure: Drawing
    caption: str


@dataclass(frozen=True)
class SvgFigure:
    """A finished drawing of the page, which is also written as NAME.svg."""

    name: str
    svg: str
    caption: str


@renamed_members(picture="svg_figure", used="add_machines")
@dataclass
class Report:
    """What an experiment found."""

    rows: list[Row] = field(default_factory=list)
    machines: list[Machine] = field(default_factory=list)  #: that were simulated, each once
    checks: list[Check] = field(default_factory=list)
    sections: list[Text | Table | Plot | SvgFigure] = field(default_factory=list)
    verdict: list[str] = field(default_factory=list)  #: paragraphs with which the page begins, followed by the plots

    def row(self, figure: str, unit: str, measured: Figure, published: float | None = None, source: str = "") -> None:
        """Adds a figure, or the reason why there is none. A value that is not finite was not measured either."""
        if not isinstance(measured, Missing) and not math.isfinite(measured):
            measured = Missing(f"came out as {measured}")
        if isinstance(measured, Missing):
            self.rows.append(Row(figure, unit, None, _finite(published), source, measured.reason))
        else:
            self.rows.append(Row(figure, unit, float(measured), _finite(published), source))

    def check(self, name: str, ok: bool, detail: str) -> bool:
        """Adds an invariant; gives ``ok``."""
        self.checks.append(Check(name, bool(ok), detail))
        return bool(ok)

    def conclude(self, *paragraphs: str) -> None:
        """Adds what came out, in words: the page begins with it and with the plots."""
        self.verdict += paragraphs

    def text(self, heading: str, *paragraphs: str) -> None:
        """Adds a heading with paragraphs to the page."""
        self.sections.append(Text(heading, paragraphs))

    def table(self, name: str, frame: pandas.DataFrame, caption: str, shown: int = 40) -> None:
        """Adds a table: NAME.csv, and its first ``shown`` rows on the page."""
        self.sections.append(Table(name, answering(frame), caption, shown))

    def plot(self, name: str, figure: Drawing, caption: str) -> None:
        """Adds a picture: NAME.png, NAME.svg, and on the page."""
        self.sections.append(Plot(name, figure, caption))

    def svg_figure(self, name: str, svg: str, caption: str) -> None:
        """Adds a drawing: NAME.svg, and on the page."""
        self.sections.append(SvgFigure(name, svg, caption))

    def add_machines(self, machines: Iterable[Machine]) -> None:
        """Notes machines that figures come from."""
        self.machines = list(dict.fromkeys([*self.machines, *machines]))

    @property
    def ok(self) -> bool:
        """True if every invariant holds."""
        return all(check.ok for check in self.checks)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


@renamed_members(kept="result_cache")
@dataclass
class Run:
    """One run of an experiment: its settings, and where it reports."""

    quick: bool
    jobs: int
    options: argparse.Namespace  #: the experiment's own options
    progress: Progress
    report: Report = field(default_factory=Report)
    result_cache: ResultCache | None = (
        None  #: where points are found that have been measured before, and kept as they come
    )
    executor: Executor | None = None  #: where points run; None: in processes of this machine
    elsewhere: bool = False  #: whether that is outside of this process and its children
    other_core_s: float = 0.0  #: core seconds of points that were found in the result cache, or ran elsewhere

    def map(
        self,
        label: str,
        function: Callable[[Any], Any],
        points: Sequence[Any],
        cost: Callable[[Any], float] = lambda point: 1.0,
        name: Callable[[Any], str] | None = None,
        fresh: bool = False,
    ) -> list[Any]:
        """``function(point)`` for every point, each in a fresh process, up to ``jobs`` at a time, or by the run's
        executor; results in order.

        ``function`` is a function of a module. ``cost`` weighs points for the estimate of the time left, and the
        heaviest start first; ``name`` says what progress calls a point. Points that have been cached are not run
        again, unless ``fresh``. Raises as `run_points()`."""
        store = None if fresh else self.result_cache
        known = {i: found for i, p in enumerate(points) if store and (found := store.find(function, p))}
        left = [i for i in range(len(points)) if i not in known]
        simulated = {i: machines for i, (_, machines, _) in known.items()}
        results = {i: value for i, (value, _, _) in known.items()}
        self.other_core_s += sum(core_s for _, _, core_s in known.values())
        self.progress.found(label, len(known), len(points))

        def on_result(index: int, value: Any, machines: list[Machine], core_s: float) -> None:
            results[left[index]], simulated[left[index]] = value, machines
            self.other_core_s += core_s if self.elsewhere else 0.0
            if store:
                store.put(function, points[left[index]], value, machines, core_s)

        costs = [cost(points[i]) for i in left]
        times: dict[int, float] = {}
        with self.progress.stage(label, costs, [name(points[i]) for i in left] if name else ()) as stage:
            run_points(
                function,
                [points[i] for i in left],
                self.jobs,
                lambda index: stage(index, times.get(index)),
                stage.alive,
                costs,
                on_result=on_result,
                executor=self.executor,
                took=times.__setitem__,
            )
        self.report.add_machines(machine for i in range(len(points)) for machine in simulated[i])
        return [results[i] for i in range(len(points))]


@dataclass(frozen=True)
class Study:
    """`study(run)` of a module, which is imported when it runs, since what studies need takes time to import."""

    module: str

    def __call__(self, run: Run) -> None:
        importlib.import_module(self.module).study(run)


def study_of(package: str, module: str = "study") -> Study:
    """The study of that module of the package."""
    return Study(f"{package}.{module}")


@dataclass(frozen=True)
class Experiment:
    """An experiment. ``add_options`` adds options of its own to the command line."""

    name: str
    title: str
    question: str  #: what it is to find out, in a sentence or two
    run: Callable[[Run], None]
    add_options: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    machine: str = ""  #: that the title speaks of: the default of the option --machine
    other_title: str = ""  #: with another machine, for which {machine} stands

    def title_with(self, options: Mapping[str, Any]) -> str:
        """The title of a run with these options."""
        machine = options.get("machine") or self.machine
        return self.title if machine == self.machine else self.other_title.format(machine=machine)

    @property
    def code_hash(self) -> str:
        """Of the code that measures and reports, with all that it imports."""
        return modules_hash(self.run.module if isinstance(self.run, Study) else self.run.__module__)


__getattr__ = renamed_attributes(__name__, {"Picture": "SvgFigure"})
