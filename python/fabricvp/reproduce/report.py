# SPDX-License-Identifier: Apache-2.0
"""report.html: every published figure beside ours, with all that is needed to judge and to repeat it, in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..docs_command import origin_of, read_result
from ..errors import InputError
from ..experiments import registry
from ..experiments.fidelity.study import AGREES, NEAR, VERDICTS, lines_of, read
from ..experiments.registry import EXPERIMENTS, SYSTEMS
from ..experiments.writing import inlined, put, template
from ..sweeps.progress import duration
from .outcomes import Outcome, Outcomes
from .plan import command_of, is_current

PAGE = "report.html"
#: Width of the bars of a figure, in units of their picture.
_BAR = 120.0


@dataclass(frozen=True)
class Bar:
    """A bar from zero, in units of its picture."""

    begin: float
    width: float


@dataclass(frozen=True)
class Line:
    """A published figure with ours."""

    figure: str
    unit: str
    published: float
    measured: float
    ratio: float
    verdict: str
    why: str
    source: str
    bars: tuple[Bar, Bar]  #: published, ours


@dataclass(frozen=True)
class Image:
    """A plot of an experiment, with the data of its address."""

    caption: str
    data: str


@dataclass(frozen=True)
class Section:
    """What the page shows of an experiment."""

    name: str
    title: str
    question: str
    state: str  #: empty if there is a result of this version
    command: str
    budget: str
    result: dict[str, Any] = field(default_factory=dict)  #: empty if there is none
    origin: dict[str, Any] = field(default_factory=dict)
    cost: str = ""
    lines: tuple[Line, ...] = ()
    images: tuple[Image, ...] = ()
    further: tuple[dict[str, Any], ...] = ()  #: rows without a published or a measured figure


@dataclass(frozen=True)
class SystemPart:
    """A published system."""

    name: str
    title: str
    sections: tuple[Section, ...]

    @property
    def verdicts(self) -> Counter[str]:
        """How many figures have each verdict."""
        return Counter(line.verdict for section in self.sections for line in section.lines)

    @property
    def cost(self) -> str:
        """Of all results."""
        return core_time(section.result["cost"]["core_s"] for section in self.sections if section.result)

    @property
    def there(self) -> int:
        """Experiments that have a result."""
        return sum(bool(section.result) for section in self.sections)


def write_report(folder: Path, systems: Sequence[str], outcomes: Outcomes) -> None:
    """Writes the page from the results in ``folder``. Raises `InputError` if it cannot be written."""
    parts = [
        SystemPart(
            name, SYSTEMS[name].title, tuple(_section(folder, name, e, outcomes) for e in SYSTEMS[name].experiments)
        )
        for name in systems
    ]
    sections = [section for part in parts for section in part.sections]
    text = template("report.html.jinja", Path(__file__).parent).render(
        title="Published figures beside ours",
        parts=parts,
        verdicts=sum((part.verdicts for part in parts), Counter()),
        words=VERDICTS,
        agrees=AGREES,
        near=NEAR,
        problems=[section for section in sections if section.state],
        quick=[section.name for section in sections if section.result.get("options", {}).get("quick")],
        cost=core_time(section.result["cost"]["core_s"] for section in sections if section.result),
        version=__version__,
    )
    try:
        put(folder / PAGE, text.encode())
    except OSError as error:
        raise InputError(f"{folder / PAGE}: cannot be written ({error.strerror})") from None


def core_time(seconds: Iterable[float]) -> str:
    """A sum of core seconds for people."""
    return duration(sum(seconds))


def _section(folder: Path, system: str, name: str, outcomes: Outcomes) -> Section:
    experiment = registry.find(name)
    outcome = outcomes.experiments.get(name)
    command = command_of(name, outcomes.quick)
    budget = duration(EXPERIMENTS[name].budget.core_s(outcomes.quick))
    try:
        result = _read(folder / name, name)
        lines = lines_of(SYSTEMS[system].title, name, read(folder / name).get(name))
        section = _shown(folder, system, name, outcomes, result, lines)
    except (InputError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if not isinstance(error, InputError):
            error = _wrong(folder / name, name)
        there = (folder / name / "result.json").exists()
        state = _state(outcome) or (str(error) if there else "has not run")
        return Section(name, experiment.title, experiment.question, state, command, budget)
    return section


def _shown(
    folder: Path, system: str, name: str, outcomes: Outcomes, result: dict[str, Any], lines: list[dict[str, Any]]
) -> Section:
    """Of an experiment that has a result."""
    older = "" if is_current(name, result) else "the result is of another version"
    state = _state(outcomes.experiments.get(name)) or older
    quick = bool(result["options"].get("quick"))
    shown = {line["figure"] for line in lines}
    return Section(
        name,
        result["title"],
        result["question"],
        state,
        command_of(name, outcomes.quick),
        duration(EXPERIMENTS[name].budget.core_s(quick)),
        result,
        origin_of(result, folder / name),
        core_time([result["cost"]["core_s"]]),
        tuple(Line(bars=_bars(line["published"], line["measured"]), **_without_names(line)) for line in lines),
        tuple(_images(folder / name, result)),
        tuple({"missing": "", **row} for row in result["rows"] if row["figure"] not in shown),
    )


def _read(folder: Path, name: str) -> dict[str, Any]:
    """Raises `InputError` if there is no result of this form."""
    result = read_result(folder)
    needed = (
        "version",
        "title",
        "question",
        "cost",
        "verdict",
        "plots",
        "options",
        "rows",
        "checks",
        "command",
        "machines",
    )
    hashes = ("config_sha256", "simulator_sha256", "code_sha256")
    if (
        result["experiment"] != name
        or any(result.get(key) is None for key in (*needed, *hashes))
        or not _is_whole(result)
    ):
        raise _wrong(folder, name)
    return result


def _wrong(folder: Path, name: str) -> InputError:
    return InputError(f"{folder / 'result.json'}: is not the result of `fabricvp experiment {name}` of this version")


def _is_whole(result: dict[str, Any]) -> bool:
    """Whether parts that the page shows have all that it shows of them."""

    def have(parts: Any, *names: str) -> bool:
        return isinstance(parts, list) and all(isinstance(each, dict) and {*names} <= {*each} for each in parts)

    return (
        have(result["rows"], "figure", "unit", "measured", "published", "source")
        and have(result["checks"], "name", "ok", "detail")
        and have(result["plots"], "name", "caption")
        and {"wall_s", "core_s"} <= {*result["cost"]}
    )


def _state(outcome: Outcome | None) -> str:
    return f"failed: {outcome.error}" if outcome is not None and outcome.status else ""


def _without_names(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in ("system", "experiment")}


def _bars(*values: float) -> tuple[Bar, Bar]:
    """Bars of both figures on one scale with zero in it."""
    low, high = min(0.0, *values), max(0.0, *values)
    scale = _BAR / (high - low) if high > low else 0.0
    first, second = (
        Bar(round((min(value, 0.0) - low) * scale, 1), round(max(abs(value) * scale, 0.5), 1)) for value in values
    )
    return first, second


def _images(folder: Path, result: dict[str, Any]) -> Iterable[Image]:
    for plot in result["plots"]:
        try:
            yield Image(plot["caption"], inlined((folder / f"{plot['name']}.svg").read_bytes()))
        except OSError:
            continue  # the page says what it has; the result is whole without
