"""What a reader of a reply pastes, and where."""

import re
import shlex
from pathlib import Path

PASTEABLE = re.compile(
    r": discreet |^ *discreet |Write: (SELECT|FROM) |Write:\n|Did you mean |write[^:]*: \w+ = ", re.MULTILINE
)


def pasted(how: str, last: str, said: str, folder: Path) -> str:
    """The command that follows from the last one and what it said; `with "…" for …` fills in the dots."""
    how, _, dots = how.partition(" with ")
    said = said.replace("…", dots.rpartition(" for ")[0].strip('"')) if dots else said
    match how:
        case "the command":
            return _found(r"(?:^ *|: )(discreet .+)$", said)
        case "the SELECT":
            words = shlex.split(last)
            place = next(place for place, word in enumerate(words) if word.upper().startswith(("SELECT ", "WITH ")))
            return shlex.join([*words[:place], _found(r"Write: (SELECT .+)$", said), *words[place + 1 :]])
        case "the name":
            wrong, right = _found("'([^']*)'", said), _found(r"(?:Did you mean |Write: FROM )([^?\n]+)", said)
            assert wrong in last
            return last.replace(wrong, right.strip("'"))
        case "the TOML":
            file = folder / next(word for word in shlex.split(last) if word.endswith(".toml"))
            table = _found(r"Under (\[.+?\]) write", said)
            text = file.read_text()
            assert f"{table}\n" in text
            file.write_text(text.replace(f"{table}\n", f"{table}\n{_found('Under .* write[^:]*: (.+)$', said)}\n"))
            return last
        case "the whole TOML":
            file = folder / next(word for word in shlex.split(last) if word.endswith(".toml"))
            lines = _found(r"(?:Write|Add to it):\n((?: *[\[a-z].*\n)+)", said)
            file.write_text(f"{file.read_text()}\n{lines}")
            return last
        case _:
            raise AssertionError(f"nobody knows how to paste {how}")


def _found(pattern: str, said: str) -> str:
    """The first thing of that shape in what was said."""
    match = re.search(pattern, said, re.MULTILINE)
    assert match, f"nothing to paste:\n{said}"
    return match[1]
