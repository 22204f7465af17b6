"""`discreet`: run a verb and print its reply or its refusal, with one exit code for each kind.

    0 ok · 1 bug · 2 usage · 3 metadata · 4 not answerable · 5 budget · 6 integrity · 7 could not run · 130 interrupted

A verb is a function that returns a `Reply` and raises `DiscreetError`; to add one, add one line to verbs.py.
"""

import contextlib
import io
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.reply import AsJson, FileUnwritten, Reply, show, show_problem
from discreet.cli.terminal import Stopped
from discreet.cli.verbs import VERBS, Verbs
from discreet.errors import CannotWrite, DiscreetError
from discreet.operation.reply import envelope

OWN_CODES = {  # problems that are the command line's alone, beside those of errors.py
    "usage": "The command line was not understood.",
    "bug": "Something inside Discreet broke.",
    "cannot-write": "The answer could not be written.",
    "interrupted": "The command was stopped from the keyboard.",
}

_LONGEST = 400


class Usage(DiscreetError):
    """A command line that was not understood."""

    code = "usage"
    exit = 2


class Bug(DiscreetError):
    """Something that should not have happened; neither its message nor its traceback is shown."""

    code = "bug"


app = typer.Typer(
    name="discreet",
    cls=Verbs,
    help="Answers about everyone, secrets about no one.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _not_loaded() -> None:
    """Stands for a verb until it is called."""


for _name, _verb in VERBS.items():
    app.command(_name, help=_verb.help)(_not_loaded)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    json: AsJson = False,
) -> None:
    """Answers about everyone, secrets about no one."""
    if version:
        from importlib.metadata import version as installed

        print(f"discreet {installed('discreet')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str] | None = None) -> None:
    """The entry point: never returns, never shows a traceback, never leaves its memory in a core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a sentence may quote what a terminal cannot show
    sys.exit(status(sys.argv[1:] if arguments is None else arguments))


def status(arguments: Sequence[str]) -> int:
    """Run one command line and print its outcome; the exit code."""
    as_json = "--json" in arguments
    outcome = _outcome(list(arguments))
    try:
        code = _show(outcome, as_json=as_json)
        sys.stderr.flush()
        return code
    except OSError:  # stdout or stderr is gone or full
        return _last_word(outcome)


def _last_word(outcome: Reply | DiscreetError) -> int:
    """Show on stderr, if it still works, the error itself or that the answer is stored."""
    problem = _cannot_write(None, outcome.data.get("receipt")) if isinstance(outcome, Reply) else outcome
    _let_go(sys.stdout)
    with contextlib.suppress(OSError):
        show_problem(problem, as_json=False)
    _let_go(sys.stderr)
    return problem.exit


def _let_go(stream: Any) -> None:
    """Drop what a broken stream still holds: else the interpreter would complain while closing it."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _replace_closed_streams() -> None:
    """Replace a stream that was closed from the start by one that cannot be used.

    Python has None in its place, and the next file that is opened, the ledger say, would get its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDONLY)  # so that to write is an error, and to read is the end
            setattr(sys, name, os.fdopen(handle, mode, encoding="utf-8"))


def _outcome(arguments: list[str]) -> Reply | DiscreetError:
    """The reply of the command line, or its refusal."""
    try:
        return _reply(arguments)
    except DiscreetError as error:
        return error
    except typer.TyperException as error:
        return _usage(error)
    except (KeyboardInterrupt, typer.Abort):
        return _interruption()
    except Exception:
        # The message and traceback of an unforeseen error may hold anything, rows included: neither is shown.
        return _bug()


def _reply(arguments: list[str]) -> Reply:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        command: Any = typer.main.get_command(app)
        result: Any = command.main(args=arguments, prog_name="discreet", standalone_mode=False)
    if isinstance(result, Reply):
        return result
    if result == Stopped.exit:
        raise KeyboardInterrupt
    text = printed.getvalue().rstrip()  # --help and --version print by themselves
    return Reply(envelope(text=text), lambda: text)


def _show(outcome: Reply | DiscreetError, *, as_json: bool) -> int:
    if isinstance(outcome, DiscreetError):
        return show_problem(outcome, as_json=as_json)
    try:
        return show(outcome, as_json=as_json)
    except DiscreetError as error:
        return show_problem(error, as_json=as_json)
    except KeyboardInterrupt:
        return show_problem(_interruption(), as_json=as_json)
    except FileUnwritten:
        return show_problem(_cannot_write(outcome.file, outcome.data.get("receipt")), as_json=as_json)
    except OSError:
        raise
    except Exception:
        return show_problem(_bug(), as_json=as_json)


def _usage(error: typer.TyperException) -> Usage:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "discreet"
    message = error.format_message().rstrip(".")
    sentence = message if message.endswith("?") else f"{message}."
    short = sentence if len(sentence) <= _LONGEST else f"{sentence[:_LONGEST]}…"
    return Usage(short, OWN_CODES["usage"], f"See `{command} --help`.")


def _interruption() -> Stopped:
    return Stopped("Stopped.", OWN_CODES["interrupted"], "What was charged stays charged.")


def _cannot_write(file: Path | None, receipt: str | None = None) -> CannotWrite:
    stored = "" if receipt is None else f" The answer is stored, receipt {receipt}: the same again costs nothing."
    if file is None:
        fix = "Check that whatever reads it is still there and that the disk is not full, or write to a file: -o FILE"
        why = f"{OWN_CODES['cannot-write']}{stored}"
        return CannotWrite("Not all could be written to stdout and stderr.", why, fix)
    if file.is_dir():
        why, fix = "That is a folder.", f"Name a file in it, for example: -o {file / 'answer.txt'}"
    elif not file.parent.is_dir():
        why, fix = "Its folder is not there.", f"Make it first: mkdir -p {file.parent}"
    else:
        why = "The file could not be opened, or not all of the answer fitted."
        fix = "Check that you may write there and that the disk is not full, or give another name after -o."
    return CannotWrite(f"The answer could not be written to {str(file)!r}.", f"{why}{stored}", fix)


def _bug() -> Bug:
    fix = "Please report the command you typed; no data is shown here, and what was charged stays charged."
    return Bug("This should not have happened.", OWN_CODES["bug"], fix)
