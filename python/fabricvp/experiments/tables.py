# SPDX-License-Identifier: Apache-2.0
"""Tables that an experiment has left in its folder, with the present names of columns and values.

from fabricvp.experiments import read_tables

tables = read_tables("results")        # of `fabricvp experiment compnet-jacobi --out results`
tables["sizes"].groupby("backend")["us"].min()
"""

from __future__ import annotations

import functools
import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._fabricvp import has_earlier_names
from ..errors import InputError
from ._renamed_columns import COLUMNS, VALUES

if TYPE_CHECKING:
    import os

    import pandas


def read_tables(folder: str | os.PathLike[str]) -> dict[str, pandas.DataFrame]:
    """The tables of a folder of `fabricvp experiment --out`, by name.

    Results of earlier versions get the present names of columns and values. An earlier name of a column raises
    `KeyError` with the present one. Raises `InputError` if the folder holds no result of an experiment."""
    file = Path(folder) / "result.json"
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
        return present_tables(result)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: is not the result of `fabricvp experiment` ({error})") from None


def present_tables(result: dict[str, Any]) -> dict[str, pandas.DataFrame]:
    """The same of a result.json that has been read."""
    import pandas

    experiment, version = str(result["experiment"]), str(result.get("version", ""))
    frames = {name: pandas.DataFrame(t["rows"], columns=t["columns"]) for name, t in result["tables"].items()}
    if has_earlier_names(version):
        frames = {name: _renamed(experiment, frame) for name, frame in frames.items()}
    return {name: answering(frame) for name, frame in frames.items()}


def answering(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The same frame, which answers an earlier name of one of its columns with the present one."""
    found: pandas.DataFrame = _table_class()(frame)
    return found


def _renamed(experiment: str, frame: pandas.DataFrame) -> pandas.DataFrame:
    names = {old: new for of, old, new in COLUMNS if fnmatchcase(experiment, of) and new not in frame.columns}
    frame = frame.rename(columns=names)
    for column, values in VALUES.items():
        if column in frame.columns:
            frame[column] = [values.get(value, value) for value in frame[column]]
    return frame


@functools.cache
def _table_class() -> Any:
    """A class of its own, made when it is needed: pandas takes long to import."""
    import pandas

    class ExperimentTable(pandas.DataFrame):
        @property
        def _constructor(self) -> Any:
            return ExperimentTable

        def __getitem__(self, key: Any) -> Any:
            try:
                return super().__getitem__(key)
            except KeyError:
                for name in key if isinstance(key, list) else [key]:
                    for _, old, new in COLUMNS:
                        if old == name and old not in self.columns and new in self.columns:
                            raise KeyError(f"column {old} is now called {new}") from None
                raise

    return ExperimentTable
