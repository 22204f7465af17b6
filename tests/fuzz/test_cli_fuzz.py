"""Whatever is typed after `discreet`, the reply is one JSON object with a documented code and exit status."""

import io
import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.cli import main
from discreet.cli.verbs import VERBS
from discreet.engine.reports import write_reports
from discreet.noise.public import generator
from fuzz.grammar import statement
from fuzz.tokens import Secrets, laid, left_behind
from fuzz.watch import ENGINE_WORDS, MOST_CPU, surrounded, watchdog, watched
from survey.surveys import TAX_TOML

PIECE, SHORT, LONG = 200, 4, 60
DOCUMENTED = Path(__file__).parents[2] / "docs" / "errors.md"
FILES = (
    *(
        "people.toml",
        "people.toml",
        "people.toml",
        "absent.toml",
        "people.csv",
        "folder",
        "",
        "-",
        ".",
        "folder/x.toml",
    ),
    *("é.toml", "\udcff.toml", "x" * 300 + ".toml", "people.ledger", "people.key", "broken.toml", "--", "link.toml"),
)
NUMBERS = (
    *(
        "1",
        "0.1",
        "1e-9",
        "0",
        "-1",
        "nan",
        "inf",
        "1e400",
        "1e-400",
        "1/3",
        "1/0",
        "0x1",
        "1_0",
        "",
        " ",
        "١",
        "1" * 500,
    ),
    *(
        "true",
        "None",
        "0.5",
        "0.999999",
        "1e-7",
        "2",
        "1000000000000000000000",
        "-0",
        "+1",
        "1e",
        ".",
        "½",
        "ana",
        "n=15",
    ),
)
WORDS = (
    *(
        "ana",
        "n=5",
        "n=5,m=3",
        "=",
        "region",
        "age:integer:0:110",
        "region:category:north|south",
        "age:date",
        "a:b:c:d:e",
    ),
    *(
        "geo:country>region",
        "replace-one",
        "presence",
        "csv",
        "parquet",
        "last",
        "0",
        "person",
        "csb",
        "ana=2",
        "x=",
        "é",
    ),
    *("people", "\u202e", "'; --", "%s", "{0}", "--eps", "\\", "\udcff", "a" * 3000),
)
OUTPUTS = (
    "out.json",
    "out.csv",
    "out.parquet",
    "out.png",
    "out.svg",
    "folder",
    "absent/x",
    "/dev/full",
    "/dev/null",
    "",
)
FLAGS = {  # of all verbs together: the wrong ones must be refused
    **dict.fromkeys(
        ("--eps", "--epsilon", "--delta", "--level", "--at-size", "--max-rows", "--sigma", "--rho"), NUMBERS
    ),
    **dict.fromkeys(("--prior", "--group", "--false-alarms", "--max-eps-per-question", "--seed", "--runs"), NUMBERS),
    **dict.fromkeys(("--as", "--why", "--unit", "--name", "--column", "--hierarchy", "--error", "--analyst"), WORDS),
    **dict.fromkeys(("--format", "--relation", "--question", "--neighbours", "--nonsense", "-x"), WORDS),
    **dict.fromkeys(("-o", "--output", "--export", "--plot"), OUTPUTS),
    **dict.fromkeys(("--yes", "--dry-run", "--verify", "--survey", "--help", "--version", "--clean", "--json"), ()),
}
FITTING = {  # what belongs to a verb, so that many command lines come far
    "init": (
        "--unit",
        "--max-rows",
        "--column",
        "--hierarchy",
        "--eps",
        "--delta",
        "--neighbours",
        "--name",
        "-o",
        "--yes",
    ),
    "quote": ("--eps", "--error", "--delta", "--level", "--as", "--at-size", "-o"),
    "ask": ("--eps", "--error", "--delta", "--level", "--as", "--format", "--plot", "--dry-run", "-o", "--yes"),
    "explain": ("--eps", "--delta", "--level"),
    "budget set": ("--eps", "--delta", "--analyst", "--max-eps-per-question", "--why", "--yes"),
    "ledger": ("--verify", "--export"),
    "odds": ("--eps", "--delta", "--sigma", "--rho", "--survey", "--prior", "--group", "--relation", "--false-alarms"),
    "audit": ("--runs",),
}
SLOW = {  # refused, or run nothing
    "demo": ("--seed", "-1"),
    "demo lecture": ("--seed", "x"),
    "audit": ("--list",),
    "survey serve": ("--tokens", "x"),
    "attack": ("--seed", "x"),
    "curve": ("--seed", "x"),
    "lecture": ("--output", "lecture.txt"),
    "picture": ("--size", "x"),
}
TYPED = (b"SELECT COUNT(*) AS n FROM people", b"", b"\xff\xfe", b"\x00", b"SELECT \xe2\x82", "é\u202e".encode(), b"y\n")


class Typist:
    """Command lines from one seeded generator."""

    def __init__(self, seed: int, known: list[str]) -> None:
        self._drawn, self.seed, self.known = generator(seed), seed, known

    def below(self, size: int) -> int:
        return int(self._drawn.integers(0, size))

    def one(self, options: Any) -> Any:
        return options[self.below(len(options))]

    def line(self) -> list[str]:
        if self.below(25) == 0:
            return [self.one((*WORDS, *FILES, *FLAGS)) for _ in range(self.below(4))]
        verb = self.one(list(VERBS))
        words = verb.split() + self._named(verb)
        for _ in range(self.below(4)):
            fitting = FITTING.get(verb, ("--json",)) if self.below(6) else list(FLAGS)
            flag = self.one(fitting)
            words += [flag] + ([self.one(FLAGS[flag])] if FLAGS[flag] else [])
        if self.below(15) == 0:
            words.insert(self.below(len(words) + 1), self.one((*WORDS, *FILES)))
        return words + list(SLOW.get(verb, ()))

    def _named(self, verb: str) -> list[str]:
        file = self.one(FILES) if self.below(3) == 0 else "people.toml"
        match verb:
            case "quote" | "ask" | "explain":
                asked = self.one((statement(self.seed, self.known), "SELECT COUNT(*) AS n FROM people", "-", "last"))
                return [file, asked.replace("\x00", " "), *(("--eps", "0.1") if self.below(2) else ())]
            case "init":
                return ["people.csv" if self.below(3) else file, "--dry-run"]
            case "demo" | "demo lecture" | "odds" | "audit" | "attack list" | "picture":
                return []
            case "attack" | "curve" | "lecture":
                return [self.one(("shame", "laplace", "5", file))]
            case "survey estimate" | "survey report":
                return [self.one(("tax.toml", "tax.toml", file)), "reports.parquet"]
            case _ if verb.startswith("survey "):
                return [self.one(("tax.toml", "tax.toml", file))]
            case _:
                return [file]


def documented() -> dict[str, int]:
    """Code and exit status as the page of errors lists them."""
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) \|", DOCUMENTED.read_text(encoding="utf-8"), re.MULTILINE)
    return {code: int(status) for code, status in rows}


def wrong_with(out: str, err: str, status: int, secrets: Secrets) -> str | None:
    """What a reply breaks, if it breaks something."""
    if out.count("\n") != 1:
        return f"{out.count(chr(10))} lines: {out[:200]!r}"
    reply = json.loads(out, parse_constant=lambda name: f"{name} is not JSON")
    known = documented()
    if reply["ok"] is True:
        fits = status == 0
    else:
        fits = status == reply["exit"] == known[reply["code"]] and status != known["bug"]
        fits = fits and all(isinstance(reply[part], str) and reply[part].strip() for part in ("what", "why", "fix"))
    if not fits:
        return f"status {status}: {out[:300]!r}"
    if "Traceback" in out + err or ENGINE_WORDS.search(out + err) or secrets.leaked(out + err):
        return f"tells {secrets.leaked(out + err)}: {out[:300]!r} {err[:300]!r}"
    return None


def desk(folder: Path, patch: pytest.MonkeyPatch) -> Secrets:
    """A folder with the table and what a careless name might meet; also the present one, with a scratch of its own."""
    surrounded(folder, patch)
    (folder / "folder").mkdir()
    (folder / "broken.toml").write_bytes(b"[dataset\n\xff")
    (folder / "link.toml").symlink_to("people.toml")
    patch.chdir(folder)
    (folder / "tax.toml").write_text(TAX_TOML)
    reports = {"q1": np.array([[0], [1]] * 300, dtype=np.uint8)}
    write_reports(folder / "reports.parquet", reports, {"region": ["North", "South"] * 300}, {})
    return laid(folder, seed=11)


def piped(content: bytes, errors: str = "surrogateescape") -> io.TextIOWrapper:
    """Standard input as Python opens it; `strict` is what it takes in most locales but C."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", errors=errors)


def fuzzed(folder: Path, piece: int, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> int:
    secrets, wrong, fine, slowest = desk(folder, patch), [], 0, (0.0, -1)
    with watched(folder, secrets) as told_meanwhile:
        for number in range(piece * PIECE, (piece + 1) * PIECE):
            typist = Typist(13_000_000 + number, secrets.known())
            line = [*typist.line(), "--json"]
            secrets.typed.append(" ".join(line))
            patch.setattr("sys.stdin", piped(typist.one(TYPED)))
            capfd.readouterr()
            begun = time.thread_time()
            with watchdog():
                status = main.status(line)
            slowest = slowest if status == 0 else max(slowest, (time.thread_time() - begun, number))
            out, err = capfd.readouterr()
            fine += status == 0
            broken = wrong_with(out, err, status, secrets)
            if broken is not None:
                wrong.append(f"{number}: {[word[:200] for word in line]}: {broken}")
    assert not wrong, "\n".join([f"{len(wrong)} of {PIECE}", *wrong])
    assert told_meanwhile == []
    files = left_behind(folder, but=("people.csv", "people.*.prepared", "link.*.prepared"))
    assert [name for name, content in files if secrets.found(name) or secrets.leaked(content)] == []
    assert slowest[0] < MOST_CPU, f"{slowest[1]} was refused after {slowest[0]:.2f} s of CPU"
    return fine


@pytest.mark.parametrize("piece", range(SHORT))
def test_every_command_line_gets_one_documented_reply(piece, tmp_path, capfd, monkeypatch):
    assert fuzzed(tmp_path, piece, capfd, monkeypatch) > PIECE // 20


@pytest.mark.long
@pytest.mark.parametrize("piece", range(SHORT, LONG))
def test_every_command_line_of_a_long_run_gets_one_documented_reply(piece, tmp_path, capfd, monkeypatch):
    fuzzed(tmp_path, piece, capfd, monkeypatch)


@pytest.mark.parametrize("verb", ["ask", "quote", "explain"])
def test_a_question_from_stdin_that_is_not_utf_8_is_refused(verb, tmp_path, capfd, monkeypatch):
    secrets = desk(tmp_path, monkeypatch)
    line = [verb, "people.toml", "-", "--json"]
    monkeypatch.setattr("sys.stdin", piped(b"SELECT COUNT(*) AS n FROM people \xff", errors="strict"))
    capfd.readouterr()
    status = main.status(line)
    assert wrong_with(*capfd.readouterr(), status, secrets) is None
    assert status != 0


def test_the_page_of_errors_is_read():
    assert documented()["bug"] == 1
    assert documented()["not-answerable"] == 4
    assert len(documented()) >= 17
