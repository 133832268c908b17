# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp results`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ..arguments import ArgumentParser, number
from ..errors import InputError
from ..printable import printable
from .code_hash import simulator_hash
from .columns import chosen
from .points import name_of
from .store import ResultCache, Stored, parse_point, read_point
from .task import PointOutcome

_COMMANDS = {
    "list": "the points of a result cache, one a line",
    "show": "one point: parameters, outcome, log, statistics",
    "diff": "two sweeps: how much each column changed, and whether that is more than chance",
    "gc": "removes points that nothing will find again",
}
#: Characters of a point's parameters in a list.
_WIDTH = 100
#: Seconds after which a file that is still unfinished has lost its writer.
_ABANDONED = 3600


def main(given: list[str]) -> int:
    """`fabricvp results list|show|diff|gc`: 0, or `InputError`."""
    commands = {"list": _list, "show": _show, "diff": _diff, "gc": _gc}
    if given and given[0] in commands:
        return commands[given[0]](given[1:])
    summary = "Lists, shows, compares and removes what sweeps have measured.\n\n"
    summary += "\n".join(f"  results {name:<5} {text}" for name, text in _COMMANDS.items())
    parser = ArgumentParser("results", summary, "fabricvp results list results")
    parser.add_argument("command", metavar="|".join(commands), choices=list(commands))
    parser.parse_args(given[:1])
    raise InputError("give one of list, show, diff and gc")


def _list(given: list[str]) -> int:
    parser = _parser("list", "fabricvp results list results --outcome failed")
    parser.add_argument("--study", metavar="NAME", help="only points that this study has measured")
    parser.add_argument("--outcome", metavar="OUTCOME", choices=list(map(str, PointOutcome)), help="only such points")
    options = parser.parse_args(given)
    count = 0
    for stored in _cache(options.folder).points():
        if options.study in (None, stored.study) and options.outcome in (None, stored.record.outcome):
            count += 1
            print(printable(_line(stored)))
    print(f"{count} points")
    return 0


def _line(stored: Stored) -> str:
    record = stored.record
    error = f": {record.error}" if record.error else ""
    point = name_of(stored.point)
    point = point if len(point) <= _WIDTH else f"{point[: _WIDTH - 1]}…"
    took = f"  {record.wall_s:.1f} s" if record.wall_s else ""  # experiments do not say
    return f"{stored.key[:12]}  {stored.study}  {point}{took}  {record.outcome}{error}"


def _show(given: list[str]) -> int:
    parser = _parser("show", "fabricvp results show results 35ac --keep 'kernels:*time_s'")
    parser.add_argument("key", metavar="KEY", help="the point's key, or the beginning of it")
    parser.add_argument(
        "--keep",
        metavar="PATTERN",
        action="append",
        help="statistics: PATTERN of the whole run, REGION:PATTERN of regions (default: sim.time_s, *:time_s);"
        " repeatable",
    )
    options = parser.parse_args(given)
    stored = _find(_cache(options.folder), options.key)
    record = stored.record
    print(f"key       {stored.key}\nstudy     {stored.study}\nversion   {stored.version}")
    for name, value in stored.point.items():
        print(printable(f"parameter {name} = {value}"))
    print(printable(f"outcome   {record.outcome}{': ' if record.error else ''}{record.error}"))
    print(f"took      {record.wall_s:.1f} s")
    values = {**record.values, **chosen(record, options.keep or ["sim.time_s", "*:time_s"])}
    for name, value in values.items():
        print(printable(f"{name} = {value}"))
    if record.log:
        print("log:")
        print("\n".join(printable(line) for line in record.log.splitlines()))
    return 0


def _diff(given: list[str]) -> int:
    from .comparison import compare, ok_alone, read_sweep

    parser = ArgumentParser("results diff", f"Compares {_COMMANDS['diff']}.", "fabricvp results diff before after")
    parser.add_argument("before", metavar="BEFORE", help="a folder of `fabricvp sweep --out`")
    parser.add_argument("after", metavar="AFTER", help="another one")
    parser.add_argument(
        "--keep", metavar="PATTERN", action="append", help="columns (default: all that both have); repeatable"
    )
    parser.add_argument(
        "--all", action="store_true", help="also what did not change, and what may be chance (p of 0.05 and more)"
    )
    options = parser.parse_args(given)
    before, after = read_sweep(options.before), read_sweep(options.after)
    table = compare(before, after, options.keep or ["*"])
    shown = 0
    for row in table.to_dict("records"):
        if options.all or (row["change"] and not row["p"] >= 0.05):
            shown += 1
            point = {name: value for name, value in list(row.items())[: list(row).index("column")]}
            change = f"{row['change']:+.2%}, {_chance(row['p'], row['seeds'])}"
            figures = f"{row['column']}: {row['before']:.6g} -> {row['after']:.6g} ({change})"
            print(printable(f"{name_of(point)}  {figures}"))
    for count, folder in zip(ok_alone(before, after), (options.before, options.after)):
        if count:
            print(f"{count} {'point is' if count == 1 else 'points are'} ok in {folder} alone")
    print(f"{shown} of {len(table)} figures changed" if not options.all else f"{len(table)} figures")
    return 0


def _chance(p: float, seeds: int) -> str:
    if p != p:
        return "one seed"
    return f"p = {p:.2g} of {seeds} seeds" if p else f"the same for all {seeds} seeds"


def _gc(given: list[str]) -> int:
    parser = _parser("gc", "fabricvp results gc results --other-simulators --dry-run")
    parser.add_argument(
        "--other-simulators",
        action="store_true",
        help="remove points that another simulator, firmware or set of shipped machines than the present has measured",
    )
    parser.add_argument("--outcome", metavar="OUTCOME", choices=list(map(str, PointOutcome)), help="remove such points")
    parser.add_argument(
        "--older-than",
        metavar="DAYS",
        type=lambda text: number(text, "--older-than", 0, 36500),
        help="remove points that were measured so long ago",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be removed, and remove nothing")
    options = parser.parse_args(given)
    cache = _cache(options.folder)
    now = time.time()
    unwanted = [file for file in cache.unfinished() if now - _modified(file, now) > _ABANDONED]
    unwanted += cache.earlier()
    for file in cache.files():
        try:
            stored = parse_point(file, statistics=False)
        except FileNotFoundError:  # another gc of the same folder
            continue
        except OSError as error:
            print(f"{file}: stays, since it cannot be read ({error.strerror or error})", file=sys.stderr)
            continue
        if (
            stored is None
            or (options.other_simulators and stored.simulator != simulator_hash())
            or (options.outcome is not None and stored.record.outcome == options.outcome)
            or (options.older_than is not None and now - _modified(file, now) > options.older_than * 86400)
        ):
            unwanted.append(file)
    size = 0
    for file in unwanted:
        try:
            size += file.stat().st_size
            if not options.dry_run:
                file.unlink()
        except FileNotFoundError:  # another gc of the same folder
            continue
        except OSError as error:
            raise InputError(f"{file}: cannot be removed ({error.strerror})") from None
    print(f"{len(unwanted)} files, {size / 1024:.0f} KiB {'would be' if options.dry_run else 'were'} removed")
    return 0


def _modified(file: Path, now: float) -> float:
    try:
        return file.stat().st_mtime
    except OSError:  # renamed or removed meanwhile
        return now


def _parser(name: str, example: str) -> ArgumentParser:
    parser = ArgumentParser(f"results {name}", f"Prints {_COMMANDS[name]}.".replace("Prints rem", "Rem"), example)
    parser.add_argument("folder", metavar="DIR", help="a result cache, or a folder of `fabricvp sweep --out`")
    return parser


def _cache(folder: str) -> ResultCache:
    inner = Path(folder) / "result_cache"
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: there is no such folder")
    cache = ResultCache(inner if inner.is_dir() else folder)
    of_others = not inner.is_dir() and any(path.is_file() for path in Path(folder).iterdir())
    if of_others and not cache.files() and not cache.earlier():
        raise InputError(f"{folder}: holds no points (sweeps and experiments keep theirs in DIR/result_cache of --out)")
    return cache


def _find(cache: ResultCache, key: str) -> Stored:
    found = [file for file in cache.files() if file.stem.startswith(key)]
    if len(found) != 1:
        raise InputError(f"{len(found)} points have a key that begins with '{key}'")
    stored = read_point(found[0])
    if stored is None:
        raise InputError(f"{found[0]}: cannot be read")
    return stored
