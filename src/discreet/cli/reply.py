"""The reply of a verb, and the one place that prints it.

Data goes to stdout, all else to stderr; with `--json` stdout carries exactly one JSON object, whatever happened.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from discreet import outputs
from discreet.errors import DiscreetError, bad
from discreet.fix import command_line
from discreet.inert import in_json, visible, visible_lines

# Declared for --help; main reads it off the command line itself, so that it holds when parsing fails.
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for errors too.")]
OutFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to FILE; with --json to stdout as well."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Replace FILE if it is there.")]

_UNWRAPPED = 10_000  # columns: a file or a pipe has no edge
_PLAIN = {  # for streams that know no such letter
    **{"ε": "eps", "δ": "delta", "σ": "sigma", "ρ": "rho", "μ": "mu", "±": "+-", "−": "-", "·": "*", "…": "..."},
    **{"≥": ">=", "≤": "<=", "∞": "inf", "√": "sqrt ", "½": "1/2", "×": "x", "→": "->", "─": "-", "█": "#"},
    **dict.fromkeys("▌▋▊▉", "#"),
    **dict.fromkeys("▏▎▍", " "),
    **{"′": "'", "‖": "||", "²": "^2", "⁻": "^-", "–": "-", "—": "-", "’": "'", "‘": "'", "“": '"', "”": '"'},
}


@dataclass(frozen=True)
class Reply:
    """An outcome: `data` for programs, `picture` for people: a text or what rich draws, made only when it is shown."""

    data: dict[str, Any]
    picture: Callable[[], Any]
    file: Path | None = None
    exit: int = 0
    replace: bool | None = None  # whether --yes was given; None where a verb has no --yes
    notes: Callable[[], Any] | None = None  # for people, on stderr: what belongs to the picture and is no data
    content: bytes | None = None  # in place of the picture, byte for byte
    toml: Path | None = None  # of the dataset it is about, whose inputs the file must not replace


class FileUnwritten(Exception):
    """The file after -o could not be written; what fails on stdout or stderr is an OSError."""


@dataclass(frozen=True)
class Fitting:
    """Draws `wide` where all of it fits, else `narrow`."""

    wide: Any
    narrow: Any

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.measure import Measurement

        needs = Measurement.get(console, options.update(width=_UNWRAPPED), self.wide).maximum
        yield self.wide if needs <= options.max_width else self.narrow


@dataclass(frozen=True)
class _Inert:
    """Draws `inside` with every text of it made visible: only rich's own styles may steer the terminal."""

    inside: Any

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.segment import Segment

        for segment in console.render(self.inside, options):
            yield segment if segment.control else Segment(visible_lines(segment.text), segment.style)


def require_new(file: Path | None, replace: bool | None, metadata: Path | None = None, *, flag: str = "output") -> None:
    """Refuses an input of a dataset, and a file that exists unless it may be replaced; a device is no file."""
    if file is not None:
        outputs.require_harmless(file, metadata, flag=flag)
    if file is not None and file.is_file() and not replace:
        fix = "Give another name after -o." if replace is None else "Add --yes to replace it, or give another name."
        raise bad(flag, "must not be there yet", str(file), fix)


def show(reply: Reply, *, as_json: bool) -> int:
    """Print or write the reply; the exit code."""
    if reply.file is not None:
        try:
            _write_file(reply, reply.file, as_json)
        except OSError:
            raise FileUnwritten from None
        print(plain(visible(f"Written to {reply.file}."), sys.stderr.encoding), file=sys.stderr)
    if as_json or (reply.file is None and reply.content is None):
        _write(reply, sys.stdout, as_json)
    elif reply.file is None and reply.content is not None:
        sys.stdout.buffer.write(reply.content)
    sys.stdout.flush()
    if reply.notes is not None and not as_json:
        _draw(reply.notes, sys.stderr)
    return reply.exit


def show_problem(error: DiscreetError, *, as_json: bool) -> int:
    """Print the error object, or its three sentences on stderr; the exit code."""
    problem = error.to_json(command_line)
    if as_json:
        print(in_json(json.dumps(problem)), flush=True)
    else:
        text = visible_lines("\n".join(problem[part] for part in ("what", "why", "fix")))
        print(plain(text, sys.stderr.encoding), file=sys.stderr)
    return error.exit


def plain(text: str, encoding: str | None) -> str:
    """The text with a stand-in for each letter the encoding lacks.

    >>> plain("ε = 1 ± 2", "ascii"), plain("ε = 1 ± 2", "latin-1"), plain("ε = 1 ± 2", "utf-8")
    ('eps = 1 +- 2', 'eps = 1 ± 2', 'ε = 1 ± 2')
    """
    lacking = {ord(letter): stand_in for letter, stand_in in _PLAIN.items() if not _has_letter(encoding, letter)}
    return text.translate(lacking)


def _has_letter(encoding: str | None, letter: str) -> bool:
    try:
        letter.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _write_file(reply: Reply, file: Path, as_json: bool) -> None:
    require_new(file, reply.replace, reply.toml)
    with outputs.replacing(file, reply.toml) as draft:
        if reply.content is not None:
            draft.write_bytes(reply.content)
            return
        with draft.open("w", encoding="utf-8") as handle:
            _write(reply, handle, as_json)


def _write(reply: Reply, stream: TextIO, as_json: bool) -> None:
    if as_json:
        stream.write(in_json(json.dumps(reply.data, allow_nan=False) + "\n"))
        return
    _draw(reply.picture, stream)


def _draw(picture: Callable[[], Any], stream: TextIO) -> None:
    from rich.console import Console, Group

    on_terminal = stream.isatty()
    width = None if on_terminal else _UNWRAPPED
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:  # rich would end the process itself when nobody reads
        # In a Group, because a bare Text is joined into a new one that forgets its no_wrap.
        console.print(_Inert(Group(picture())), crop=False)
    text = captured.get()
    if not on_terminal:
        text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    stream.write(plain(text, stream.encoding))
