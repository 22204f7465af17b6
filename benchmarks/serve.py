"""The worker's side: jobs come in as JSON lines, CPU seconds go out.  Standard library only, for any environment."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import TextIO

Draw = Callable[[int], Sized]
Laws = Mapping[str, Callable[[str], Draw]]  # a law's name, then its scale as decimal text, then how many


def answered(line: str, laws: Laws, clock: Callable[[], float] = time.process_time) -> str:
    """The CPU seconds of one job and how many samples it made; what stands ready before the draw is not timed."""
    job = json.loads(line)
    draw = laws[job["law"]](job["scale"])
    start = clock()
    drawn = draw(job["n"])
    seconds = clock() - start
    return json.dumps({"seconds": seconds, "drawn": len(drawn)})


def serve(laws: Laws, lines: Iterable[str] = sys.stdin, out: TextIO = sys.stdout) -> None:
    """Answer until the input ends."""
    for line in lines:
        print(answered(line, laws), file=out, flush=True)
