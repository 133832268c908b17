# SPDX-License-Identifier: Apache-2.0
"""What the page's address answers, and to whom: the page, its drawing, and a WebSocket with frames and commands."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from .description import MAX_KEPT, PERIOD, describe, text_of

if TYPE_CHECKING:
    from .._fabricvp import RunMonitor

_SILENCE = 2.0  #: seconds without a frame after which the page says so
_SEND_TIMEOUT = 2.0  #: seconds in which a client must take a frame
_MAX_REASON = 120  #: bytes of the text that goes with a code
#: Codes that close a WebSocket.
_GOING_AWAY, _POLICY, _INTERNAL_ERROR, _TRY_AGAIN_LATER = 1001, 1008, 1011, 1013

_FILES = {
    "": ("page.html", "text/html"),
    "page.js": ("page.js", "text/javascript"),
    "run_view.js": ("run_view.js", "text/javascript"),
    "page.css": ("page.css", "text/css"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Application:
    """An ASGI application. It answers requests with the token, by the right host name and from no other origin."""

    def __init__(self, run: RunMonitor, title: str, token: str, port: int) -> None:
        self._run, self._token = run, token
        self._described = describe(run, title)
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._clients: set[WebSocket] = set()
        self._consoles: list[str] = []
        self._last: dict[str, Any] | None = None
        self._hurry = asyncio.Event()
        self._sending = asyncio.Lock()
        self._pump: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._finishing = False
        files = [Route(f"/{token}/{path}", self._file) for path in _FILES]
        self._routes = Starlette(
            routes=[
                *files,
                Route(f"/{token}/machine.svg", self._drawing),
                Route(f"/{token}/description.json", self._description),
                WebSocketRoute(f"/{token}/frames", self._frames),
            ]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not self._admits(scope):
            if scope["type"] == "http":
                await PlainTextResponse("forbidden\n", 403)(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": _POLICY})
            return
        await self._routes(scope, receive, send)

    def _admits(self, scope: Scope) -> bool:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return False
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return False
        first = scope["path"].removeprefix("/").partition("/")[0]
        return secrets.compare_digest(first.encode(), self._token.encode())

    async def _file(self, request: Request) -> Response:
        name, kind = _FILES[request.url.path.rpartition("/")[2]]
        content = text_of(name)
        if name == "page.html":
            content = content.replace("<!-- run.html -->", text_of("run.html"))
        return Response(content, media_type=kind, headers=_HEADERS)

    async def _drawing(self, request: Request) -> Response:
        return Response(self._described.drawing, media_type="image/svg+xml", headers=_HEADERS)

    async def _description(self, request: Request) -> Response:
        return Response(json.dumps(self._described.values), media_type="application/json", headers=_HEADERS)

    async def _frames(self, client: WebSocket) -> None:
        await client.accept()
        try:
            async with self._sending:
                self._clients.add(client)
                await self._send(client, json.dumps({"consoles": self._consoles}))
                if self._last is not None:
                    await self._send(client, json.dumps(self._last))
            self._run.set_watched(bool(self._clients))
            if self._pump is None:
                self._pump = asyncio.create_task(self._pump_frames())
            while True:
                self._run.send(await client.receive_text())
                self._hurry.set()
        except (WebSocketDisconnect, KeyError):  # gone, or it sent bytes
            pass
        finally:
            self._drop(client)

    def _drop(self, client: WebSocket) -> None:
        self._clients.discard(client)
        self._run.set_watched(bool(self._clients))

    async def _pump_frames(self) -> None:
        """Asks for frames as long as there is a client. Where that fails, clients hear why, and may come again."""
        try:
            await self._ask_for_frames()
        except Exception as error:
            self._part_from_all(_INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        finally:
            self._pump = None

    async def _ask_for_frames(self) -> None:
        loop = asyncio.get_running_loop()
        heard = loop.time()
        while self._clients and not self._finishing:
            frame = await asyncio.to_thread(self._run.frame, PERIOD)
            if frame is not None:
                heard = loop.time()
                await self._pass_on(frame)
            elif loop.time() - heard > _SILENCE:
                heard = loop.time()
                await self._tell(json.dumps({"silent": True}))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), PERIOD)
            self._hurry.clear()

    async def _pass_on(self, text: str) -> None:
        await self._tell(text)
        frame = json.loads(text)
        printed = frame.pop("consoles")
        before = self._consoles or [""] * len(printed)
        self._consoles = [(old + new)[-MAX_KEPT:] for old, new in zip(before, printed)]
        self._last = {**frame, "replies": [], "consoles": [""] * len(printed)}

    async def _tell(self, text: str) -> None:
        async with self._sending:
            for client in list(self._clients):
                await self._send(client, text)

    async def _send(self, client: WebSocket, text: str) -> None:
        """Sends to a client that has not been parted from; from one that takes nothing, parts."""
        if client not in self._clients:
            return
        try:
            await asyncio.wait_for(client.send_text(text), _SEND_TIMEOUT)
        except TimeoutError:
            self._part_from(client, _TRY_AGAIN_LATER, "frames were not taken in time")
        except (RuntimeError, WebSocketDisconnect):
            self._drop(client)

    def _part_from(self, client: WebSocket, code: int, reason: str) -> None:
        """Sends no more frames, and closes the connection, once the client takes what has been sent."""

        async def close() -> None:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await client.close(code, reason.encode()[:_MAX_REASON].decode(errors="ignore"))

        self._drop(client)
        task = asyncio.create_task(close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _part_from_all(self, code: int, reason: str) -> None:
        for client in list(self._clients):
            self._part_from(client, code, reason)

    async def finish(self) -> None:
        """Passes on what is still to be said, and closes connections."""
        self._finishing = True
        self._hurry.set()
        if self._pump is not None:
            await self._pump
        try:
            while (frame := await asyncio.to_thread(self._run.frame, 0.0)) is not None:
                await self._pass_on(frame)
        except Exception as error:
            self._part_from_all(_GOING_AWAY, f"the run has ended ({type(error).__name__}: {error})")
        self._part_from_all(_GOING_AWAY, "the run has ended")
        if self._closing:
            await asyncio.wait(self._closing, timeout=_SEND_TIMEOUT)
