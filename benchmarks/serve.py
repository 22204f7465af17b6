"""The worker's side: jobs come in as JSON lines, seconds go out.  Standard library only, for any environment."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import TextIO

Clock = Callable[[], float]
Draw = Callable[[int], Sized]
Laws = Mapping[str, Callable[[str], Draw]]  # a law's name, then its scale as decimal text, then how many


def answered(
    line: str,
    laws: Laws,
    clock: Clock = time.process_time,
    wall: Clock = time.perf_counter,
) -> str:
    """CPU and wall seconds of one job and how many samples it made; what stands ready before the draw is not timed."""
    job = json.loads(line)
    draw = laws[job["law"]](job["scale"])
    start = clock()
    began = wall()
    drawn = draw(job["n"])
    passed = wall() - began
    seconds = clock() - start
    return json.dumps({"seconds": seconds, "wall": passed, "drawn": len(drawn)})


def serve(
    laws: Laws,
    lines: Iterable[str] = sys.stdin,
    out: TextIO = sys.stdout,
    *,
    clock: Clock = time.process_time,
) -> None:
    """Answer until the input ends."""
    for line in lines:
        print(answered(line, laws, clock), file=out, flush=True)
