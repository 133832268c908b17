# SPDX-License-Identifier: Apache-2.0
"""Repetitions of a sweep as means with confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import InputError
from .columns import groupable, measured_columns
from .points import SEED

if TYPE_CHECKING:
    import pandas

_COLUMNS = ("column", "seeds", "mean", "low", "high")


def parameters_of(frame: pandas.DataFrame) -> list[str]:
    """Columns of a sweep's table that are parameters: those before the ones that every sweep has. Raises `InputError`
    if the table is none of a sweep."""
    names = [str(name) for name in frame.columns]
    for needed in ("outcome", "log"):  # the first and the last of those
        if needed not in names:
            raise InputError(f"the table is none of a sweep: it has no column '{needed}'")
    return names[: names.index("outcome")]


def apart(parameter: str, columns: Sequence[str]) -> str:
    """A parameter's name beside these columns."""
    return f"parameter.{parameter}" if parameter in columns else parameter


def summarise(
    frame: pandas.DataFrame, columns: str | Sequence[str] | None = None, confidence: float = 0.95
) -> pandas.DataFrame:
    """What `sweep()` gave, over seeds: a row for each point and measured column (all numeric ones unless ``columns``
    names some), with the parameters, ``column``, ``seeds`` (how many), ``mean``, ``low`` and ``high``. A parameter with
    the name of one of these is called ``parameter.NAME``.

    ``low`` and ``high`` bound the interval of Student's t that holds the mean with that ``confidence``, for seeds that
    are independent; they are nan for one seed. Points that are not ok do not count. Raises `InputError` for a column
    that is not there or has no numbers, and for a confidence outside of 0 … 1."""
    import pandas
    from pandas.api.types import is_numeric_dtype
    from scipy import stats

    if not 0 < confidence < 1:
        raise InputError(f"confidence: {confidence} is not between 0 and 1")
    parameters = parameters_of(frame)
    measured = [n for n in measured_columns(frame) if is_numeric_dtype(frame[n])]
    chosen = [columns] if isinstance(columns, str) else measured if columns is None else list(columns)
    for name in chosen:
        if name not in measured:
            raise InputError(f"no measured column '{name}' (there are: {', '.join(measured)})")
    ok = frame[frame["outcome"] == "ok"]
    groups = [name for name in parameters if name != SEED]
    keys = [groupable(ok[name]) for name in groups]
    rows = []
    for _, group in ok.groupby(keys, sort=False, dropna=False) if groups else [((), ok)]:
        point = {apart(name, _COLUMNS): group[name].iloc[0] for name in groups}
        for name in chosen:
            values = group[name].dropna()
            if len(values):
                half = stats.t.ppf((1 + confidence) / 2, len(values) - 1) * values.sem() if len(values) > 1 else None
                mean = float(values.mean())
                bounds = {"low": mean - half, "high": mean + half} if half is not None else {}
                rows.append({**point, "column": name, "seeds": len(values), "mean": mean, **bounds})
    return pandas.DataFrame(rows, columns=[*(apart(name, _COLUMNS) for name in groups), *_COLUMNS])
