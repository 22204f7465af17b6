"""What a refusal says in words against what it carries as data."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from discreet.cli.verbs import VERBS
from discreet.fix import UNKNOWN, Fix, command_line

EXAMPLES = ("| discreet ask people.toml - --eps 1", "See `discreet")  # a pipe and a page of help are no operations
REASON = "tried by a test"
_COMMAND = re.compile(rf"\bdiscreet (?:{'|'.join(map(re.escape, VERBS))})\b")


def fixes_of(problem: Mapping[str, Any]) -> list[Fix]:
    """The operations in an error object, which are those that its sentence spells, in the same order."""
    fixes = [Fix(fix["words"], fix["verb"], _arguments(fix["arguments"])) for fix in problem["fixes"]]
    text, end = problem["fix"], 0
    for fix in fixes:
        line = command_line(fix)
        end = text.index(line, end) + len(line)
        assert fix.words in text
        assert fix.verb in VERBS
    if not any(example in text for example in EXAMPLES):
        assert len(_COMMAND.findall(text)) == sum(len(_COMMAND.findall(command_line(fix))) for fix in fixes), text
    return fixes


def words_of(fix: Fix) -> list[str]:
    """What a shell makes of the command, without the program, and with a reason where only the reader knows one."""
    return words_in(command_line(fix))[1:]


def words_in(line: str) -> list[str]:
    """What a shell makes of an offered command, once the reader has put a reason for its mark."""
    return [REASON if word == UNKNOWN else word for word in shlex.split(line)]


def _arguments(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
