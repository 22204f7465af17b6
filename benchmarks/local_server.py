"""Acknowledged reports per second of one server process, sent by a client process over connections that stay open.

The store is a file on the disk of the temporary folder, and each reply waits for a durable transaction.
"""

import http.client
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.environment import ROOT
from discreet.survey.invitations import draw_tokens
from discreet.survey.limits import Limits
from discreet.survey.reading import read_survey
from discreet.survey.server import Patience, serve
from discreet.survey.spec import Survey
from discreet.survey.store import read_reports
from discreet.survey.submission import body_of

CONNECTIONS = 16
SURVEY = """
title = "A survey to time"
epsilon = "1"
consent = "Nothing is asked."
contact = "nobody"
mode = "split"
[questions.q1]
text = "Yes or no?"
values = ["no", "yes"]
[questions.q2]
text = "Which?"
values = ["a", "b", "c", "d", "e", "f", "g", "h"]
"""


def measure(seconds: float, connections: int = CONNECTIONS) -> dict[str, float]:
    """Reports acknowledged in so many seconds, per second and at least in each second, and the server's CPU seconds.

    RuntimeError if the store does not hold exactly the reports that were acknowledged.
    """
    with tempfile.TemporaryDirectory() as folder:
        survey_path, store_path = Path(folder) / "survey.toml", Path(folder) / "answers.sqlite"
        survey_path.write_text(SURVEY)
        with _started("serve", survey_path, store_path) as server:
            port = _line(server)["port"]
            with _started("send", survey_path, port, seconds, connections) as client:
                sent = _line(client)
            server.terminate()
            told = _line(server)
        stored = len(read_reports(store_path, read_survey(survey_path)).groups)
    if stored != sent["acknowledged"]:
        raise RuntimeError(f"{sent['acknowledged']} reports were acknowledged and {stored} are stored")
    return {
        "acknowledged": sent["acknowledged"],
        "seconds": sent["seconds"],
        "per_second": sent["acknowledged"] / sent["seconds"],
        "least_in_a_second": sent["least_in_a_second"],
        "slowest_reply": sent["slowest_reply"],
        "server_cpu_seconds": told["cpu_seconds"],
    }


@contextmanager
def _started(*arguments: object) -> "Iterator[subprocess.Popen[str]]":
    """A process of this module, ended with the block."""
    command = [sys.executable, "-m", "benchmarks.local_server", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield process
        process.wait(timeout=30)
    finally:
        process.kill()
        process.communicate()


def _line(process: "subprocess.Popen[str]") -> dict[str, Any]:
    if process.stdout is None:
        raise RuntimeError("the process has no pipe")
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the process ended with {process.wait()}")
    told: dict[str, Any] = json.loads(line)
    return told


def _serve(survey_path: str, store_path: str) -> None:
    """The server's process: its port first, its CPU seconds last."""
    serve(
        read_survey(survey_path),
        store_path,
        port=0,
        page="",
        vectors="{}",
        open_to_all=True,
        limits=Limits(per_address=None),
        patience=Patience(per_address=None),
        ready=lambda server: print(json.dumps({"port": server.port}), flush=True),
    )
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu_seconds": used.ru_utime + used.ru_stime}), flush=True)


def _send(survey_path: str, port: str, seconds: str, connections: str) -> None:
    """The client's process: as many threads as connections, each sending its next report after a reply."""
    survey, begin = read_survey(survey_path), time.perf_counter()
    times: list[list[tuple[float, float]]] = [[] for _ in range(int(connections))]
    reports = survey.encode({"q1": 1, "q2": 3})
    workers = [
        threading.Thread(target=_send_on, args=(int(port), survey, reports, begin + float(seconds), replies))
        for replies in times
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    passed = time.perf_counter() - begin
    replies = [reply for part in times for reply in part]
    counts = [0] * int(float(seconds))
    for moment, _ in replies:
        counts[min(int(moment - begin), len(counts) - 1)] += 1
    slowest = max(waited for _, waited in replies)
    told = {"acknowledged": len(replies), "seconds": passed, "least_in_a_second": min(counts), "slowest_reply": slowest}
    print(json.dumps(told), flush=True)


def _send_on(port: int, survey: Survey, reports: Any, end: float, replies: list[tuple[float, float]]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while (start := time.perf_counter()) < end:
        connection.request("POST", "/report", body_of(survey, draw_tokens(1)[0], reports))
        response = connection.getresponse()
        response.read()
        if response.status == 429:  # the server's own limit is reached
            time.sleep(0.05)
            continue
        if response.status != 200:
            raise RuntimeError(f"a report was answered with {response.status}")
        replies.append((time.perf_counter(), time.perf_counter() - start))
    connection.close()


if __name__ == "__main__":
    {"serve": _serve, "send": _send}[sys.argv[1]](*sys.argv[2:])
