"""Serve one survey over HTTP: its page, its vectors, and the one address that takes randomised reports.

    GET /               the page                              GET /vectors.json   the vectors of its protocols
    POST /report        200 once the report is durable, 400 malformed, 403 unknown token or survey not open,
                        409 token used, 413 too large, 429 too fast, 503 the store could not be written

Dates are days of UTC, and the last day counts.  Nothing is logged: no address, no token, no body.  Requests that are
late, too long or no HTTP end their connection; a page sends the same bytes once more, so nothing is lost by that.
"""

import asyncio
import contextlib
import datetime
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import CannotWrite
from discreet.survey.group_commit import GroupCommit
from discreet.survey.limits import Limits, network_of
from discreet.survey.spec import Survey
from discreet.survey.store import ACCEPTED, Entry, Store
from discreet.survey.submission import (
    CLOSED,
    MALFORMED,
    OTHER_DRAW,
    TOO_FAST,
    TOO_LARGE,
    USED,
    Rejected,
    largest_body,
    submission_of,
)

_DAY = 86_400
_LONGEST_HEAD = 16_384
_LINE = re.compile(r"([A-Z]{1,16}) (/[\x21-\x7e]*) HTTP/1\.([01])")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_LENGTH = re.compile(r"[0-9]{1,15}")
_PHRASES = {200: "OK", 204: "No Content", 400: "Bad Request", 403: "Forbidden", 404: "Not Found"}
_PHRASES |= {405: "Method Not Allowed", 409: "Conflict", 413: "Content Too Large", 429: "Too Many Requests"}
_PHRASES |= {500: "Internal Server Error", 503: "Service Unavailable"}
_HEADERS = (
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n"
    "X-Frame-Options: DENY\r\nCross-Origin-Opener-Policy: same-origin\r\n"
)
_FROM_ANYWHERE = (  # the page may be hosted elsewhere or opened from a disk
    "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, OPTIONS\r\n"
    "Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Max-Age: 86400\r\n"
)
_METHODS = {"/": "GET, HEAD", "/vectors.json": "GET, HEAD", "/report": "POST, OPTIONS"}


@dataclass(frozen=True)
class Patience:
    """Seconds that a client has for one step, and how many connections are held, in all and from one address.

    Without a number for one address, only that of all counts.
    """

    head: float = 15.0
    body: float = 15.0
    reply: float = 30.0
    stop: float = 5.0
    connections: int = 1_000
    per_address: int | None = 200


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    length: int
    keep_alive: bool
    expects: bool


@dataclass(frozen=True)
class _Reply:
    status: int
    body: bytes
    kind: str = "application/json"
    headers: str = ""


class Server:
    """A server in a thread of its own, from `start` to `stop`; `port` is the one that it listens on."""

    def __init__(
        self,
        survey: Survey,
        store: Store,
        *,
        page: str,
        vectors: str,
        open_to_all: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
        limits: Limits | None = None,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._survey, self.store, self._open_to_all = survey, store, open_to_all
        self._documents = {
            "/": _Reply(200, page.encode(), "text/html; charset=utf-8"),
            "/vectors.json": _Reply(200, vectors.encode()),
        }
        self.host, self.port = host, port
        self._limits, self._patience, self._clock = limits or Limits(), patience or Patience(), clock
        self._largest_body = largest_body(survey)
        self._opens, self._closes = _day_of(survey.opens), _day_of(survey.closes)
        self._daily = survey.every == "day"
        self._connections: dict[asyncio.Task[Any], bool] = {}  # whether a request is being answered
        self._addresses: Counter[str] = Counter()
        self._transports: set[asyncio.WriteTransport] = set()  # those whose sockets may still be open

    @property
    def url(self) -> str:
        """The address of the page."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    @property
    def connections(self) -> int:
        """How many connections are held now."""
        return len(self._connections)

    def start(self) -> None:
        """Listen; CannotWrite where the address is taken or not this machine's."""
        self._writer = GroupCommit(self.store, open_to_all=self._open_to_all)
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_tell_kind)
        self._stopping = asyncio.Event()
        try:
            listening = self._loop.run_until_complete(self._listen())
        except OSError as error:
            self._writer.close()
            self._loop.close()
            what, why = f"The server cannot listen on {self.host}:{self.port}.", f"The system says: {error.strerror}."
            raise CannotWrite(what, why, "Choose another port or host.") from None
        self.port = listening.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listening,), name="survey server", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, answer what has been received, commit it and end the threads; the store stays open."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._writer.close()

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._connect, self.host, self.port, limit=_LONGEST_HEAD, backlog=512)

    def _run(self, listening: asyncio.Server) -> None:
        try:
            self._loop.run_until_complete(self._serve(listening))
        finally:
            self._loop.close()

    async def _serve(self, listening: asyncio.Server) -> None:
        await self._stopping.wait()
        for listener in listening.sockets:
            self._loop.remove_reader(listener.fileno())
        for _ in range(3):
            await asyncio.sleep(0)  # asyncio forgets the socket of a connection that it accepts while closing
        listening.close()
        for task, is_answering in self._connections.items():
            if not is_answering:
                task.cancel()
        deadline = self._loop.time() + self._patience.stop
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:  # connections just accepted are among them
            if self._loop.time() > deadline:
                for task in tasks:
                    task.cancel()
            await asyncio.wait(tasks, timeout=max(0.1, deadline - self._loop.time()))
        for transport in self._transports:
            transport.abort()
        for _ in range(3):
            await asyncio.sleep(0)  # closed transports let go of their sockets in the next rounds of the loop

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after the other, and let go of its socket."""
        self._transports.add(writer.transport)
        try:
            await self._converse(reader, writer)
            async with asyncio.timeout(self._patience.reply):
                await writer.wait_closed()
        except (OSError, TimeoutError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._transports.discard(writer.transport)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task, peer = asyncio.current_task(), writer.get_extra_info("peername") or ("",)
        address = network_of(str(peer[0]))  # as for the limits of requests
        largest, largest_each = self._patience.connections, self._patience.per_address
        is_full = len(self._connections) >= largest
        is_full |= largest_each is not None and self._addresses[address] >= largest_each
        if task is None or is_full or self._stopping.is_set():
            writer.transport.abort()
            return
        self._connections[task] = False
        self._addresses[address] += 1
        try:
            while await self._exchange(task, address, reader, writer):
                self._connections[task] = False
            await self._hang_up(reader, writer)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            del self._connections[task]
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]
            writer.close()

    async def _exchange(
        self, task: "asyncio.Task[Any]", address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Read one request and answer it; return whether the connection goes on."""
        async with asyncio.timeout(self._patience.head):
            try:
                request = _request_of(await reader.readuntil(b"\r\n\r\n"))
            except asyncio.LimitOverrunError:
                request = None
        self._connections[task] = True
        if request is None:
            return await self._send(writer, _refusal(MALFORMED, 400), keep_alive=False)
        if request.length > self._largest_body or request.length < 0:
            reason = TOO_LARGE if request.length > 0 else MALFORMED
            if (request.method, request.path) == ("POST", "/report"):
                self._writer.count(reason)
            return await self._send(writer, _refusal(reason), keep_alive=False)
        if request.expects and request.length:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        async with asyncio.timeout(self._patience.body):
            body = await reader.readexactly(request.length)
        reply = await self._reply(request, body, address)
        keep_alive = request.keep_alive and not self._stopping.is_set()
        return await self._send(writer, reply, keep_alive=keep_alive, has_body=request.method != "HEAD")

    async def _reply(self, request: _Request, body: bytes, address: str) -> _Reply:
        is_report = (request.method, request.path) == ("POST", "/report")
        if not self._limits.admit(address):
            if is_report:
                self._writer.count(TOO_FAST)
            return _refusal(TOO_FAST)
        if request.path not in _METHODS:
            return _refusal("not found", 404)
        if request.method not in _METHODS[request.path].split(", "):
            return _refusal("method not allowed", 405, f"Allow: {_METHODS[request.path]}\r\n")
        if is_report:
            return await self._report(body)
        if request.method == "OPTIONS":
            return _Reply(204, b"", headers=_FROM_ANYWHERE)
        return self._documents[request.path]

    async def _report(self, body: bytes) -> _Reply:
        """Take one submission; the reply is made after its transaction is durable."""
        today = int(self._clock() // _DAY)
        try:
            submission = submission_of(body, self._survey)
            if (self._opens is not None and today < self._opens) or (self._closes is not None and today > self._closes):
                raise Rejected(CLOSED)
        except Rejected as rejected:
            self._writer.count(rejected.reason)
            return _refusal(rejected.reason)
        entry = Entry(submission.token_hash, today if self._daily else 0, submission.joined)
        try:
            outcome = await asyncio.wrap_future(self._writer.put(entry))
        except Exception:  # the store cannot be written now: a page sends the same bytes later
            return _refusal("try again later", 503)
        if outcome == ACCEPTED:
            return _Reply(200, b'{"ok":true}', headers=_FROM_ANYWHERE)
        return _refusal(USED if outcome == OTHER_DRAW else outcome)  # the token was used, and no more is told

    async def _send(
        self, writer: asyncio.StreamWriter, reply: _Reply, *, keep_alive: bool, has_body: bool = True
    ) -> bool:
        """Send a reply and return whether the connection goes on."""
        kind = f"Content-Type: {reply.kind}\r\nContent-Length: {len(reply.body)}\r\n" if reply.status != 204 else ""
        connection = f"Connection: {'keep-alive' if keep_alive else 'close'}\r\n"
        head = f"HTTP/1.1 {reply.status} {_PHRASES[reply.status]}\r\n{kind}{_HEADERS}{reply.headers}{connection}\r\n"
        writer.write(head.encode() + (reply.body if has_body else b""))
        async with asyncio.timeout(self._patience.reply):
            await writer.drain()
        return keep_alive

    async def _hang_up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Close gently: a client that is still sending must be able to read its reply."""
        writer.write_eof()
        async with asyncio.timeout(min(2.0, self._patience.body)):
            for _ in range(64):
                if not await reader.read(_LONGEST_HEAD):
                    return


def serve(
    survey: Survey,
    store_path: str | Path,
    host: str = "127.0.0.1",
    port: int = 8080,
    *,
    page: str,
    vectors: str,
    open_to_all: bool = False,
    limits: Limits | None = None,
    patience: Patience | None = None,
    ready: Callable[[Server], None] = lambda server: None,
) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is called once the server listens.  Call it in the main thread.

    CannotWrite in the end where the store is no longer at its place.
    """
    stop = threading.Event()
    with Store.open_or_create(store_path, survey) as store:
        options: dict[str, Any] = {"page": page, "vectors": vectors, "open_to_all": open_to_all}
        server = Server(survey, store, host=host, port=port, limits=limits, patience=patience, **options)
        handlers = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            server.start()
            try:
                ready(server)
                stop.wait()
            finally:
                server.stop()
            store.require_in_place()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _request_of(head: bytes) -> _Request | None:
    """The request that a head of lines announces; None if it is no HTTP, length −1 if its body has no plain length."""
    line, *fields = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    start, headers = _LINE.fullmatch(line), [_HEADER.fullmatch(text) for text in fields]
    if start is None or None in headers:
        return None
    values: dict[str, list[str]] = {}
    for header in headers:
        if header is not None:
            values.setdefault(header[1].lower(), []).append(header[2].strip(" \t"))
    method, target, minor = start.groups()
    lengths = values.get("content-length", ["0"])
    is_plain = len(lengths) == 1 and _LENGTH.fullmatch(lengths[0]) and "transfer-encoding" not in values
    connection = ",".join(values.get("connection", [])).lower()
    return _Request(
        method,
        target.partition("?")[0],
        length=int(lengths[0]) if is_plain else -1,
        keep_alive="close" not in connection and (minor == "1" or "keep-alive" in connection),
        expects="100-continue" in ",".join(values.get("expect", [])).lower(),
    )


def _refusal(reason: str, status: int | None = None, headers: str = "") -> _Reply:
    """The reply to whatever is not taken; all of them have one form, and none repeats what was sent."""
    code = Rejected(reason).status if status is None else status
    return _Reply(code, f'{{"ok":false,"reason":"{reason}"}}'.encode(), headers=_FROM_ANYWHERE + headers)


def _day_of(date: datetime.date | None) -> int | None:
    """Days from 1970 to a date."""
    return None if date is None else (date - datetime.date(1970, 1, 1)).days


def _tell_kind(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell the kind of an unforeseen error and nothing else: its text may hold an address."""
    with contextlib.suppress(OSError):
        print(f"The server met {type(context.get('exception')).__name__} and goes on.", file=sys.stderr)
