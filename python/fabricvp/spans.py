# SPDX-License-Identifier: Apache-2.0
"""Where did the time of an access go?

with platform.spans:
    platform.run(...)
platform.spans.to_pandas()       # per component and stage, queueing apart from service
platform.spans.paths()           # the same counted once, by kind of access and how far it went
platform.spans.access(0)         # one access, in order of time
platform.spans.plot()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _fabricvp
from ._renamed import renamed_arguments

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Spans:
    """Recorder of the stages that accesses (PCIe transactions, loads of GPUs) pass. It costs nothing while it is off.

    While it is on, results of runs (`Platform.statistics`, stats.json) have its sums, and a trace shows every span.
    """

    @renamed_arguments(keep="max_accesses")
    def start(self, *, max_accesses: int = 1000) -> None:
        """Starts recording from zero. The first ``max_accesses`` accesses are recorded in full for `accesses()`."""
        if max_accesses < 0:
            raise ValueError(f"max_accesses={max_accesses}: a number of accesses, 0 or more")
        _fabricvp.spans_restart()
        _fabricvp.spans_record_next(max_accesses)
        _fabricvp.spans_enable(True)

    def stop(self) -> None:
        """Ends recording; what was recorded stays."""
        _fabricvp.spans_enable(False)

    def __enter__(self) -> Spans:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def total(self) -> tuple[int, float, float]:
        """Number of accesses that have ended, seconds that they took in sum, and the part of it in no span."""
        accesses, total, rest, _ = _fabricvp.spans_breakdown()
        return accesses, total / 1e12, rest / 1e12

    def to_pandas(self) -> pandas.DataFrame:
        """Sums over all accesses: index (component, stage), columns ``queueing`` and ``service`` in seconds, ``spans``
        (their number) and ``longest`` in seconds."""
        import pandas

        rows = [
            (component, stage, queueing / 1e12, service / 1e12, spans, longest / 1e12)
            for component, stage, queueing, service, spans, longest in _fabricvp.spans_breakdown()[3]
        ]
        return pandas.DataFrame(
            rows, columns=["component", "stage", "queueing", "service", "spans", "longest"]
        ).set_index(["component", "stage"])

    def paths(self) -> pandas.DataFrame:
        """Where the latency of accesses went, by what they were ("load", "write", …) and how far they had to go:
        ``reach`` is "own memory", "same cluster", "other cluster" (memories of GPUs), "host", or empty where a cache
        answered or no GPU asked.

        Spans of one access overlap where its lines travel side by side. Here each moment counts once, for the chain of
        spans that ended last; so the times of a kind and reach add up to the latency of its accesses. Index (what,
        reach, component, stage), columns ``queueing`` and ``service`` in seconds, ``spans``, and ``accesses``, the
        number of all of that kind and reach. What no span covers is component "" and stage "unaccounted", if there is
        any."""
        import pandas

        rows = []
        for what, reach, accesses, _, unaccounted, stages in _fabricvp.spans_paths():
            rows += [
                (what, reach, component, stage, queueing / 1e12, service / 1e12, spans, accesses)
                for component, stage, queueing, service, spans, _ in stages
            ]
            if unaccounted:
                rows.append((what, reach, "", "unaccounted", 0.0, unaccounted / 1e12, 0, accesses))
        index = ["what", "reach", "component", "stage"]
        return pandas.DataFrame(rows, columns=[*index, "queueing", "service", "spans", "accesses"]).set_index(index)

    def accesses(self) -> pandas.DataFrame:
        """Every span of the accesses that were recorded: columns ``access`` (its number, counted in order of
        their ends; the trace shows the same), ``who`` (the reader, or the target of a
        posted write), ``what``, ``address``, ``begin`` and ``end`` of the access, ``component``, ``stage``, ``kind``
        ("queueing" or "service"), ``from`` and ``to`` of the span, and ``time``; times in seconds."""
        import pandas

        rows = [
            (
                number,
                who,
                what,
                address,
                begin / 1e12,
                end / 1e12,
                component,
                stage,
                "queueing" if queueing else "service",
                first / 1e12,
                last / 1e12,
                (last - first) / 1e12,
            )
            for number, who, what, address, begin, end, component, stage, queueing, first, last in (
                _fabricvp.spans_accesses()
            )
        ]
        return pandas.DataFrame(
            rows,
            columns=[
                "access",
                "who",
                "what",
                "address",
                "begin",
                "end",
                "component",
                "stage",
                "kind",
                "from",
                "to",
                "time",
            ],
        )

    def access(self, number: int) -> pandas.DataFrame:
        """One access that was recorded, its spans in order of time: columns ``component``, ``stage``, ``kind``,
        ``from`` (seconds after its begin) and ``time`` (seconds). Raises `IndexError` if it was not recorded."""
        frame = self.accesses()
        frame = frame[frame["access"] == number].sort_values("from", kind="stable")
        if frame.empty:
            raise IndexError(f"access {number} was not recorded")
        frame = frame.assign(**{"from": frame["from"] - frame["begin"]})
        return frame[["component", "stage", "kind", "from", "time"]].reset_index(drop=True)

    def plot(self, number: int | None = None, ax: Axes | None = None) -> Axes:
        """Draws the mean time of an access in each component and stage, queueing and service in two colours; or one
        recorded access, along time."""
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(layout="constrained")[1]
        colours = {"queueing": "tab:orange", "service": "tab:blue"}
        if number is None:
            frame = self.to_pandas()
            per_access = 1e9 / max(self.total[0], 1)
            names = [f"{component} {stage}" for component, stage in frame.index]
            left = frame["service"] * 0
            for kind, colour in colours.items():
                ax.barh(names, frame[kind] * per_access, left=left, color=colour, label=kind)
                left = left + frame[kind] * per_access
            ax.set_xlabel("ns an access")
        else:
            frame = self.access(number)
            names = [f"{component} {stage}" for component, stage in zip(frame["component"], frame["stage"])]
            for kind, colour in colours.items():
                chosen = frame["kind"] == kind
                ax.barh(
                    [n for n, c in zip(names, chosen) if c],
                    frame["time"][chosen] * 1e9,
                    left=frame["from"][chosen] * 1e9,
                    color=colour,
                    label=kind,
                )
            ax.set_xlabel("ns")
        ax.invert_yaxis()
        ax.legend()
        return ax

    def __repr__(self) -> str:
        return f"<Spans of {self.total[0]} accesses>"
