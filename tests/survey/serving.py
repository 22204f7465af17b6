"""A survey to serve in tests, a client of its server, and the server as a process that tests can kill."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from discreet.survey.invitations import draw_tokens
from discreet.survey.limits import Limits, Rate
from discreet.survey.reading import survey_of
from discreet.survey.server import Server, serve
from discreet.survey.spec import Survey
from discreet.survey.store import Store
from discreet.survey.submission import body_of

UNLIMITED = Rate(1e9, 10**9)


def survey_for(title="Taxes", **facts) -> Survey:
    """A yes-or-no question in one byte, and one of ten bits in two bytes."""
    paid = {"text": "Did you pay all your taxes?", "values": ["no", "yes"], "required": True, "method": "k-ary"}
    ways = {"text": "How?", "values": list("abcdefghij"), "required": True, "method": "unary"}
    questions = {"paid": paid, "ways": ways}
    return survey_of({"title": title, "epsilon": "2", "mode": "split", "questions": questions, **facts})


def random_reports(survey: Survey, generator: np.random.Generator) -> dict[str, bytes]:
    """Reports that could have come from someone."""
    answers = {question.name: int(generator.integers(len(question.values))) for question in survey.questions}
    return survey.encode(answers)


def some_body(survey: Survey, token: str | None = None, seed: int = 7) -> bytes:
    """A body that a server takes, if it takes the token."""
    return body_of(survey, token or draw_tokens(1)[0], random_reports(survey, np.random.default_rng(seed)))


class Client:
    """A client that keeps its connection; `post` and `get` return the status and the parsed reply."""

    def __init__(self, port: int, *, timeout: float = 20) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def send(self, method: str, path: str, body: bytes | None = None) -> tuple[int, http.client.HTTPMessage, bytes]:
        self.connection.request(method, path, body)
        response = self.connection.getresponse()
        return response.status, response.headers, response.read()

    def post(self, body: bytes) -> tuple[int, dict[str, Any]]:
        status, _, reply = self.send("POST", "/report", body)
        return status, json.loads(reply)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


@contextlib.contextmanager
def serve_in_thread(survey, path: Path, *, overall=UNLIMITED, per_address=UNLIMITED, open_to_all=True, **options):
    """A running server, stopped when the block ends, and its store, closed then."""
    limits = Limits(overall, per_address)
    with Store.open_or_create(path, survey) as store:
        texts = {"page": "<p>page", "vectors": '{"v":1}'}
        server = Server(survey, store, open_to_all=open_to_all, limits=limits, **{**texts, **options})
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def serving_process(path: Path, *, dies: str = "never"):
    """The server of `survey_for()` as a process of its own, killed when the block ends, and its port.

    It kills itself "before" or "after" the end of its first transaction, and acknowledges nothing then.
    """
    words = [sys.executable, __file__, str(path), dies]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def die_in_a_transaction(dies: str) -> None:
    """Let this process kill itself before a transaction is committed, or between that and its acknowledgement."""
    transaction = Store._transaction

    @contextlib.contextmanager
    def dying_transaction(store):
        with transaction(store) as connection:
            yield connection
            if dies == "before":
                os.kill(os.getpid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    Store._transaction = dying_transaction


def main(path: str, dies: str) -> None:
    if dies != "never":
        die_in_a_transaction(dies)
    limits = Limits(UNLIMITED, UNLIMITED)
    serve(
        survey_for(), path, port=0, page="<p>page", vectors="{}", open_to_all=True, limits=limits,
        ready=lambda server: print(server.port, flush=True),
    )  # fmt: skip
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


if __name__ == "__main__":
    main(*sys.argv[1:])
