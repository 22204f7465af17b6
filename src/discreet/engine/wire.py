"""Messages between the engine and its worker: eight bytes of length, then a pickle that one of the two wrote."""

import pickle
import socket
import time
from typing import Any

_LENGTH = 8
_CHUNK = 2**20


def send(channel: socket.socket, message: Any) -> None:
    """Send one message."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    channel.sendall(len(body).to_bytes(_LENGTH) + body)


def receive(channel: socket.socket, limit: int, *, until: float | None = None) -> Any:
    """Receive one message; EOFError when the peer is gone or sends over `limit` bytes, TimeoutError past `until`."""
    size = int.from_bytes(_exactly(channel, _LENGTH, until))
    if size > limit:
        raise EOFError
    return pickle.loads(_exactly(channel, size, until))


def _exactly(channel: socket.socket, size: int, until: float | None) -> bytearray:
    body = bytearray()
    while len(body) < size:
        if until is not None:
            channel.settimeout(max(until - time.monotonic(), 1e-3))
        part = channel.recv(min(size - len(body), _CHUNK))
        if not part:
            raise EOFError
        body += part
    return body
