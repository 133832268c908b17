# SPDX-License-Identifier: Apache-2.0
"""`platform.view()`: the widget of a notebook that shows a run, by what the page of `--monitor` shows it with."""

from __future__ import annotations

import json
import os
import weakref
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..remote import RemotePlatform
from .description import MAX_KEPT, describe, text_of
from .frame_pump import FramePump, RemoteRun, Run

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise InputError(f"view: needs 'pip install fabricvp[notebook]' ({error})") from None

if TYPE_CHECKING:
    from ..platform import Platform

_SHOWN_BYTES = 64 << 10  #: of all consoles together in what is sent
_MIN_SHOWN_BYTES = 1 << 10  #: of each


class RunView(anywidget.AnyWidget):
    """Shows runs of a machine while they go on, and steers them. `close()` ends it, and so does the machine's end.

    ``frame`` is what was seen last, a dictionary: time in ps, state, links, GPUs and more."""

    _esm = text_of("run_view.js")
    markup = traitlets.Unicode(text_of("run.html")).tag(sync=True)
    style = traitlets.Unicode(text_of("page.css")).tag(sync=True)
    description = traitlets.Dict().tag(sync=True)
    drawing = traitlets.Unicode().tag(sync=True)
    frame = traitlets.Dict().tag(sync=True)
    consoles: Any = traitlets.List().tag(sync=True)  # of each: bytes so far, and the last of them
    ended = traitlets.Unicode().tag(sync=True)

    def __init__(self, run: Run, title: str) -> None:
        description, drawing = describe(run, title)
        self._printed = [""] * len(description["nodes"])
        self._counts = [0] * len(self._printed)
        super().__init__(description=description, drawing=drawing)
        if (first := run.frame(0.0)) is not None:
            self._show(json.loads(first))
        self._pump = FramePump(run, self._show, self._refuse)
        self.on_msg(lambda _, command, buffers: self._pump.send(command))

    def console(self, node: int = 0) -> str:
        """What a node has printed as long as this was shown, its end where that is much."""
        return self._printed[node].encode("latin-1").decode(errors="replace")

    def is_open(self) -> bool:
        """Whether frames still come."""
        return self._pump.is_open()

    def close(self) -> None:
        self._pump.close()
        super().close()

    def _show(self, frame: dict[str, Any]) -> None:
        printed = frame.pop("consoles")
        with self.hold_sync():
            if any(printed):
                self._counts = [count + len(new) for count, new in zip(self._counts, printed)]
                self._printed = [(old + new)[-MAX_KEPT:] for old, new in zip(self._printed, printed)]
                shown = max(_SHOWN_BYTES // len(printed), _MIN_SHOWN_BYTES)
                self.consoles = [[count, text[-shown:]] for count, text in zip(self._counts, self._printed)]
            self.frame = frame

    def _refuse(self, number: Any, why: str) -> None:
        self.frame = {**self.frame, "replies": [{"id": number, "error": why}]}

    def _machine_ends(self) -> None:
        self._pump.close()
        self.ended = "the machine is gone"


#: One a machine, with the process that has made it: a branch of the machine has none.
_views: weakref.WeakKeyDictionary[Any, tuple[int, RunView]] = weakref.WeakKeyDictionary()


def open_view(platform: Platform | RemotePlatform) -> RunView:
    """The view of a machine, a new one if there is none. Raises `InputError` while a page shows it."""
    process, view = _views.get(platform, (0, None))
    if view is None or process != os.getpid() or not view.is_open():
        run: Run = RemoteRun(platform._open_relay()) if isinstance(platform, RemotePlatform) else platform._local_run()
        view = RunView(run, platform._title)
        platform._at_close.append(view._machine_ends)
        _views[platform] = os.getpid(), view
    return view
