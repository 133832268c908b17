# SPDX-License-Identifier: Apache-2.0
"""Python values as JSON and back, for results that are more than numbers: dataclasses, tuples, enumerations, arrays.

Reading runs no code of the file, unlike a pickle: it makes only classes that the reader may import."""

from __future__ import annotations

import base64
import dataclasses
import enum
import importlib
from collections.abc import Collection
from pathlib import Path, PurePath
from typing import Any

#: The key that tells a tagged value from a mapping.
_TAG = "!"


def encode(value: Any) -> Any:
    """A value as JSON has it. Raises `TypeError` for what cannot be read back."""
    if isinstance(value, enum.Enum):
        return {_TAG: "enum", "class": _name(type(value)), "name": value.name}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [encode(each) for each in value]
    if isinstance(value, tuple):
        kind = {"class": _name(type(value))} if hasattr(value, "_fields") else {}
        return {_TAG: "tuple", **kind, "items": [encode(each) for each in value]}
    if isinstance(value, (set, frozenset)):
        items = sorted((encode(each) for each in value), key=repr)
        return {_TAG: "set", "frozen": isinstance(value, frozenset), "items": items}
    if isinstance(value, dict):
        return {_TAG: "dict", "items": [[encode(key), encode(each)] for key, each in value.items()]}
    if isinstance(value, bytes):
        return {_TAG: "bytes", "data": base64.b64encode(value).decode()}
    if isinstance(value, PurePath):
        return {_TAG: "path", "text": str(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        state = {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {_TAG: "dataclass", "class": _name(type(value)), "fields": state}
    return _encode_array(value)


def _encode_array(value: Any) -> Any:
    module = type(value).__module__.partition(".")[0]
    if module == "numpy" and hasattr(value, "dtype"):
        if value.dtype.hasobject or value.dtype.names:
            raise TypeError(f"an array of {value.dtype} cannot be kept in a result cache")
        if value.shape == ():
            return encode(value.item())
        data = base64.b64encode(value.tobytes()).decode()
        return {_TAG: "array", "dtype": value.dtype.str, "shape": list(value.shape), "data": data}
    if module == "pandas" and hasattr(value, "columns"):
        columns = [[encode(name), encode(value[name].tolist())] for name in value.columns]
        return {_TAG: "frame", "columns": columns, "index": encode(value.index.tolist())}
    raise TypeError(f"a {type(value).__module__}.{type(value).__qualname__} cannot be kept in a result cache")


def decode(data: Any, packages: Collection[str]) -> Any:
    """What `encode()` was given; classes come from modules of ``packages`` only. Raises `ValueError` for what is none
    of its texts, or needs another class."""
    if isinstance(data, list):
        return [decode(each, packages) for each in data]
    if not isinstance(data, dict):
        return data
    kind = data.get(_TAG)
    if kind == "enum":
        return _class(data["class"], packages)[data["name"]]
    if kind == "tuple":
        items = [decode(each, packages) for each in data["items"]]
        return _class(data["class"], packages)(*items) if "class" in data else tuple(items)
    if kind == "set":
        return (frozenset if data["frozen"] else set)(decode(each, packages) for each in data["items"])
    if kind == "dict":
        return {decode(key, packages): decode(each, packages) for key, each in data["items"]}
    if kind == "bytes":
        return base64.b64decode(data["data"])
    if kind == "path":
        return Path(data["text"])
    if kind == "dataclass":
        return _dataclass(data, packages)
    if kind == "array":
        import numpy

        flat = numpy.frombuffer(base64.b64decode(data["data"]), numpy.dtype(data["dtype"]))
        return flat.reshape(data["shape"]).copy()
    if kind == "frame":
        import pandas

        columns = {decode(name, packages): decode(values, packages) for name, values in data["columns"]}
        return pandas.DataFrame(columns, index=decode(data["index"], packages))
    raise ValueError(f"'{kind}' is no kind of value")


def _dataclass(data: dict[str, Any], packages: Collection[str]) -> Any:
    """An instance with these fields; neither `__init__` nor `__post_init__` runs, as for a pickle."""
    cls = _class(data["class"], packages)
    if not dataclasses.is_dataclass(cls) or {f.name for f in dataclasses.fields(cls)} != set(data["fields"]):
        raise ValueError(f"{data['class']} has other fields now")
    value = object.__new__(cls)
    for name, each in data["fields"].items():
        object.__setattr__(value, name, decode(each, packages))
    return value


def _name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _class(name: str, packages: Collection[str]) -> type[Any]:
    module, _, path = name.partition(":")
    if module.partition(".")[0] not in packages:
        raise ValueError(f"{name} is of none of {', '.join(packages)}")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name}: {error}") from None
    if not isinstance(found, type) or not (dataclasses.is_dataclass(found) or issubclass(found, (enum.Enum, tuple))):
        raise ValueError(f"{name} is no class of values")
    return found
