"""Ours and peers in turns: every round runs each job once, so a busy machine slows all of them alike."""

import json
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from benchmarks.environment import ROOT

ROUNDS = 5
_WARM_SHARE = 10  # the untimed first run of a job makes this share of its samples


@dataclass(frozen=True)
class Job:
    """n samples of a law at a scale, by a worker; or a question asked n times of a table of so many rows."""

    worker: str
    law: str
    scale: str
    n: int


class Worker(Protocol):
    """Something that runs a job and tells its CPU seconds."""

    def seconds(self, job: Job) -> float: ...


Timings = Mapping[Job, Sequence[float]]


@dataclass(frozen=True)
class Process:
    """A worker in its own process and environment."""

    running: "subprocess.Popen[str]"

    def seconds(self, job: Job) -> float:
        """CPU seconds by the worker's own clock."""
        return float(self.answer(job)["seconds"])

    def answer(self, job: Job) -> dict[str, Any]:
        """All that the worker tells, `seconds` of CPU and of `wall`; refused if it made another number of samples."""
        if self.running.stdin is None or self.running.stdout is None:
            raise RuntimeError("the worker has no pipes")
        with suppress(BrokenPipeError):  # then there is no answer either
            print(json.dumps(asdict(job)), file=self.running.stdin, flush=True)
        line = self.running.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker {job.worker} ended during {job.law} at scale {job.scale}")
        answer: dict[str, Any] = json.loads(line)
        if answer["drawn"] != job.n:
            raise RuntimeError(f"{job.worker} drew {answer['drawn']} samples for {job.n}")
        return answer


@contextmanager
def started(python: Path, module: str) -> Iterator[Process]:
    """A worker that answers until the block ends."""
    command = [str(python), "-m", module]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield Process(running)
    finally:
        running.communicate()  # closes the pipes and waits, also for a worker that has already ended


def interleaved(jobs: Sequence[Job], workers: Mapping[str, Worker], rounds: int = ROUNDS) -> Timings:
    """CPU seconds of each job in each round, after one short untimed round.

    Every other round goes through the jobs backwards, so that a steady drift of the machine favours none.
    """
    if rounds < 1:
        raise ValueError("rounds must be at least 1")
    for job in jobs:
        workers[job.worker].seconds(replace(job, n=max(1, job.n // _WARM_SHARE)))
    timings: dict[Job, list[float]] = {job: [] for job in jobs}
    for done in range(rounds):
        for job in jobs if done % 2 == 0 else reversed(jobs):
            timings[job].append(workers[job.worker].seconds(job))
    return timings


def per_second(job: Job, timings: Timings) -> float:
    """Samples per CPU second, by the median round."""
    return job.n / statistics.median(timings[job])


def ratio(top: Job, bottom: Job, timings: Timings) -> float:
    """CPU time of one sample of `top` in units of one of `bottom`, medians of the rounds."""
    return per_second(bottom, timings) / per_second(top, timings)


def ratio_range(top: Job, bottom: Job, timings: Timings) -> tuple[float, float]:
    """The least and the largest ratio of any single round."""
    each = [(a / top.n) / (b / bottom.n) for a, b in zip(timings[top], timings[bottom], strict=True)]
    return min(each), max(each)
