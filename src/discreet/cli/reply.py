"""What a verb hands back, and the one place that prints it.

Data goes to stdout, all else to stderr; with `--json` stdout carries exactly one JSON object, whatever happened.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

# Declared for --help; main reads it off the command line itself, so that it holds when parsing fails.
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for errors too.")]
OutFile = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the answer to FILE.")]

_LONGEST = 400
_WIDTH = 100


@dataclass(frozen=True)
class Reply:
    """An outcome: `data` for programs, `picture` (made only when wanted) for people."""

    data: dict[str, Any]
    picture: Callable[[], Any]
    file: Path | None = None
    exit: int = 0


@dataclass(frozen=True)
class Problem:
    """An outcome that is no answer: the error object of every verb."""

    code: str
    exit: int
    what: str
    why: str
    fix: str
    position: dict[str, int] | None = field(default=None)

    def as_json(self) -> dict[str, Any]:
        """The error object of the public face."""
        return {
            "ok": False,
            "code": self.code,
            "exit": self.exit,
            "what": _short(self.what),
            "why": self.why,
            "fix": self.fix,
            "position": self.position,
        }


def envelope(**parts: Any) -> dict[str, Any]:
    """The keys every successful reply has, with what the verb adds."""
    absent = dict.fromkeys(("dataset", "cost", "remaining", "receipt"))
    return {"ok": True, "format": 1, **absent, "caveats": []} | parts


def show(reply: Reply, *, as_json: bool) -> int:
    """Print or write the reply; the exit code."""
    if reply.file is not None:
        with reply.file.open("w", encoding="utf-8") as handle:
            _write(reply, handle, as_json)
        print(f"Written to {reply.file}.", file=sys.stderr)
    if reply.file is None or as_json:
        _write(reply, sys.stdout, as_json)
        sys.stdout.flush()
    return reply.exit


def show_problem(problem: dict[str, Any], *, as_json: bool) -> int:
    """Print the error object, or its three sentences on stderr; the exit code."""
    if as_json:
        print(json.dumps(problem), flush=True)
    else:
        print("\n".join(problem[part] for part in ("what", "why", "fix")), file=sys.stderr)
    return int(problem["exit"])


def _write(reply: Reply, stream: TextIO, as_json: bool) -> None:
    if as_json:
        stream.write(json.dumps(reply.data, allow_nan=False) + "\n")
        return
    from rich.console import Console

    console = Console(file=stream, width=None if stream.isatty() else _WIDTH, highlight=False)
    with console.capture() as drawn:  # rich would end the process itself when nobody reads
        console.print(reply.picture(), crop=False)
    stream.write(drawn.get())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
