# SPDX-License-Identifier: Apache-2.0
"""Two sweeps beside each other: how much each column changed at each point, and whether that is more than chance."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .columns import ABOUT, measured_columns
from .points import SEED
from .summary import apart, parameters_of

if TYPE_CHECKING:
    import pandas


_COLUMNS = ("column", "before", "after", "change", "seeds", "p")


def read_sweep(folder: str) -> pandas.DataFrame:
    """The table of a folder of `fabricvp sweep`. Raises `InputError`."""
    import pandas
    import pyarrow

    file = Path(folder) / "points.parquet"
    try:
        return pandas.read_parquet(file)
    except (OSError, pyarrow.ArrowException, ValueError, KeyError, TypeError, MemoryError) as error:
        reason = str(error).partition("\n")[0] if file.exists() else "there is no such file"
        raise InputError(f"{file}: is not the table of `fabricvp sweep` ({reason})") from None


def compare(before: pandas.DataFrame, after: pandas.DataFrame, patterns: Sequence[str]) -> pandas.DataFrame:
    """A row for each column that a pattern matches at each point that both sweeps have measured: ``before`` and
    ``after`` are means over the seeds that both have, ``change`` is relative, and ``p`` is that of a paired t-test over
    the seeds (nan with fewer than two; a change that is the same for all seeds has p = 0). A parameter with the name of
    one of these columns, or ``column`` or ``seeds``, is called ``parameter.NAME``.

    Raises `InputError` if the sweeps have no point in common, or no column matches."""
    import pandas

    parameters = parameters_of(before)
    if set(parameters) != set(parameters_of(after)):
        raise InputError(
            f"the sweeps differ in their parameters: {', '.join(parameters)}, and {', '.join(parameters_of(after))}"
        )
    before, after = _with_like_keys(before, after, parameters)
    # By numbers: a name with something added could be that of another column.
    number = {name: place for place, name in enumerate(after) if name not in parameters}
    number |= {name: place + len(number) for place, name in enumerate(before) if name not in (*parameters, *number)}
    ok_after = _ok(after).rename(columns={name: -1 - place for name, place in number.items()})
    both = _ok(before).rename(columns=number)
    both = both.merge(ok_after, on=parameters or None, how="inner" if parameters else "cross")
    if both.empty:
        raise InputError("no point has been measured by both")
    columns = _columns(before, after, patterns)
    groups = [name for name in parameters if name != SEED]
    rows = []
    for key, group in both.groupby(groups, sort=False, dropna=False) if groups else [((), both)]:
        point = {apart(name, _COLUMNS): value for name, value in zip(groups, key)}
        for column in columns:
            pairs = group[[number[column], -1 - number[column]]].dropna()
            if len(pairs):
                a, b = pairs[number[column]].tolist(), pairs[-1 - number[column]].tolist()
                mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
                values = (column, mean_a, mean_b, _change(mean_a, mean_b), len(pairs), paired_p(a, b))
                rows.append({**point, **dict(zip(_COLUMNS, values))})
    return pandas.DataFrame(rows)


def _change(before: float, after: float) -> float:
    """Relative, and above 0 for what has become more, also where both are below 0."""
    if before == after:
        return 0.0
    return math.copysign(after / before - 1, after - before) if before else math.copysign(math.inf, after)


def _with_like_keys(
    before: pandas.DataFrame, after: pandas.DataFrame, parameters: Sequence[str]
) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Both, with parameters as text that are not numbers in both, or of another kind in one of them: a file has all
    values of a column as text if one is."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    def is_number(column: pandas.Series) -> bool:
        return is_numeric_dtype(column) and not is_bool_dtype(column)

    as_text = [name for name in parameters if not (is_number(before[name]) and is_number(after[name]))]

    def with_texts(frame: pandas.DataFrame) -> pandas.DataFrame:
        return frame.assign(**{name: frame[name].map(_key) for name in as_text})

    return with_texts(before), with_texts(after)


def _key(value: Any) -> str:
    """A parameter as text: the same for a number and for the text of it, and for whole numbers of both types, since
    they are floating point where other points lack the parameter."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or value != value:
        return ""
    return re.sub(r"^(-?\d+)\.0$", r"\1", str(value))


def ok_alone(before: pandas.DataFrame, after: pandas.DataFrame) -> tuple[int, int]:
    """How many points, with each seed, are ok in ``before`` alone, and in ``after`` alone."""
    parameters = parameters_of(before)
    if not parameters:
        return 0, 0
    before, after = (_ok(frame)[parameters] for frame in _with_like_keys(before, after, parameters))
    found = before.merge(after, on=parameters, how="outer", indicator="side")["side"]
    return int((found == "left_only").sum()), int((found == "right_only").sum())


def paired_p(before: Sequence[float], after: Sequence[float]) -> float:
    """The probability of differences as large by chance, by a two-sided paired t-test; nan for fewer than two pairs."""
    differences = [b - a for a, b in zip(before, after)]
    if len(differences) < 2:
        return math.nan
    if all(difference == differences[0] for difference in differences):
        return 0.0 if differences[0] else 1.0
    from scipy import stats

    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def _ok(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Points that are ok, without what says so; with the columns that were measured."""
    return frame[frame["outcome"] == "ok"].drop(columns=[name for name in ABOUT if name in frame])


def _columns(before: pandas.DataFrame, after: pandas.DataFrame, patterns: Sequence[str]) -> list[str]:
    from pandas.api.types import is_numeric_dtype

    names = measured_columns(before)
    shared = [n for n in names if n in after and is_numeric_dtype(before[n]) and is_numeric_dtype(after[n])]
    found = [name for name in shared if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if not found:
        raise InputError(f"no column of both sweeps matches {' '.join(patterns)} (there are: {', '.join(shared)})")
    return found
