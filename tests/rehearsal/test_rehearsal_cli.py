"""`--rehearse`: every form on the command line is stamped, refusals end with lines that rehearse, failures are told."""

import io
import json
from pathlib import Path

import pytest

from discreet.cli import main
from discreet.mechanism import additive
from discreet.rehearsal.stamp import SENTENCE
from rehearsal.parts import SQL, contents, written

FORMS = ("table", "csv", "tsv", "json", "jsonl", "md", "html")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    written(tmp_path, rows=0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """The exit code, stdout and stderr of a command line."""

    def ran(*words):
        capsys.readouterr()
        code = main.status(words)
        return code, *capsys.readouterr()

    return ran


def asked(run, folder, form, *more):
    """What `ask --rehearse` writes in a form."""
    file = folder / f"answer.{form}"
    code, _, err = run("ask", "people.toml", SQL, "--eps", "1", "--rehearse", "--format", form, "-o", str(file), *more)
    assert code == 0, err
    assert "REHEARSAL" in err
    assert "receipt: rehearsal-" in err
    return file.read_bytes()


def test_every_form_of_an_answer_is_stamped(run, folder):
    outputs = {form: asked(run, folder, form).decode() for form in FORMS}
    assert all("rehearsal" in text for text in outputs.values())
    assert all(SENTENCE in outputs[form] for form in ("table", "json", "md", "html"))
    assert outputs["csv"].splitlines()[0].split(",")[0] == "rehearsal"
    assert all(line.startswith("invented,") for line in outputs["csv"].splitlines()[1:])
    assert next(iter(json.loads(outputs["json"]))) == "rehearsal"
    assert all(json.loads(line)["rehearsal"] == "invented" for line in outputs["jsonl"].splitlines())
    assert "<title>REHEARSAL: people</title>" in outputs["html"]
    assert [path.name for path in folder.glob("people*")] == ["people.toml"]


def test_parquet_arrow_and_raw_csv_are_stamped(run, folder):
    import pyarrow
    from pyarrow import parquet

    stored = parquet.read_table(io.BytesIO(asked(run, folder, "parquet")))
    streamed = pyarrow.ipc.open_file(asked(run, folder, "arrow")).read_all()
    for table in (stored, streamed):
        assert set(table["rehearsal"].to_pylist()) == {"invented"}
        assert json.loads(table.schema.metadata[b"discreet"])["rehearsal"] is True
    assert asked(run, folder, "csv", "--raw", "--yes").startswith(b"rehearsal,")


def test_json_objects_and_pictures_are_stamped(run, folder):
    code, out, _ = run("ask", "people.toml", SQL, "--eps", "1", "--rehearse", "--json", "--plot", "p.svg")
    reply = json.loads(out)
    assert (code, next(iter(reply.items()))) == (0, ("rehearsal", True))
    assert reply["receipt"].startswith("rehearsal-")
    assert reply["caveats"][0] == SENTENCE
    picture = (folder / "p.svg").read_text()
    assert "REHEARSAL: n by region" in picture
    assert SENTENCE in picture


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "people.toml", SQL, "--eps", "1", "--dry-run"),
        ("quote", "people.toml", SQL, "--eps", "1"),
        ("release", "plan", "people.toml", "--by", "sex", "--eps", "1"),
        ("release", "build", "people.toml", "--by", "sex", "--eps", "1", "--dry-run"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_quotes_are_stamped_and_lead_to_rehearsals(run, words):
    code, out, _ = run(*words, "--rehearse")
    assert (code, out.splitlines()[0]) == (0, SENTENCE)
    code, out, _ = run(*words, "--rehearse", "--json")
    reply = json.loads(out)
    assert (code, next(iter(reply))) == (0, "rehearsal")
    assert all(line.endswith("--rehearse") for line in reply.get("next", []))


def test_a_release_is_built_into_a_folder_of_its_own(run, folder):
    code, out, err = run("release", "build", "people.toml", "--by", "sex", "--eps", "1", "--rehearse")
    assert (code, out.splitlines()[0]) == (0, SENTENCE)
    assert "receipt: rehearsal-" in err
    assert err.rstrip().endswith("discreet release build people.toml --by sex --eps 1")
    assert sorted(path.name for path in folder.iterdir()) == ["people.rehearsal", "people.toml"]
    assert "<h1>REHEARSAL: " in (folder / "people.rehearsal" / "index.html").read_text()
    for verb in ("check", "publish"):
        code, _, err = run("release", verb, "people.toml", "people.rehearsal")
        assert code == 6
        assert "not that of a release" in err
    command = ("release", "build", "people.toml", "--eps", "1", "--rehearse", "--json")
    assert json.loads(run(*command)[1])["code"] == "bad-value"
    reply = json.loads(run(*command, "--yes")[1])
    assert next(iter(reply)) == "rehearsal"
    assert reply["doubts"] == [SENTENCE]


def test_refusals_are_stamped_and_their_lines_rehearse(run):
    code, out, _ = run("ask", "people.toml", SQL, "--eps", "7", "--rehearse", "--json")
    refused = json.loads(out)
    assert (code, refused["code"]) == (5, "budget-exceeded")
    assert refused["what"].startswith("REHEARSAL: ")
    assert refused["fix"].splitlines()[0].endswith("--rehearse")
    code, _, err = run("release", "build", "people.toml", "--eps", "7", "--rehearse")
    assert code == 5
    assert "--delta 0 --rehearse" in err.replace("--rehearse --delta 0", "--delta 0 --rehearse")
    code, _, err = run("ask", "people.toml", "SELECT * FROM people", "--eps", "1", "--rehearse")
    assert code == 4
    assert err.startswith("REHEARSAL: ")


def test_a_failure_is_told_with_its_traceback_in_a_rehearsal_alone(run, folder, monkeypatch):
    def drawn_wrongly(self, exact, source):
        raise ArithmeticError("a slip in the noise")

    monkeypatch.setattr(additive.Additive, "__call__", drawn_wrongly)
    code, out, err = run("ask", "people.toml", SQL, "--eps", "1", "--rehearse")
    assert (code, out) == (7, "")
    assert err.startswith("REHEARSAL: ArithmeticError: a slip in the noise\nTraceback (most recent call last):")
    assert "in drawn_wrongly" in err
    written(folder)
    code, out, err = run("ask", "people.toml", SQL, "--eps", "1")
    assert (code, out) == (7, "")
    assert "slip" not in err
    assert "Traceback" not in err


def test_a_question_rehearsed_and_then_asked_is_charged_once(run, folder):
    """A journey: metadata first, a rehearsal before there are rows, then the real question and one real charge."""
    assert run("ask", "people.toml", SQL, "--eps", "1", "--rehearse")[0] == 0
    written(folder)
    before = contents(folder)
    for _ in range(2):
        code, _, err = run("ask", "people.toml", SQL, "--eps", "1", "--rehearse")
        assert code == 0
        assert "remaining: ε = 2" in err
    assert contents(folder) == before
    code, out, err = run("ask", "people.toml", SQL, "--eps", "1")
    assert code == 0
    assert "receipt: 2-" in err
    assert "REHEARSAL" not in out + err
    spent = json.loads(run("budget", "people.toml", "--json")[1])["spent"]
    assert spent["epsilon"] == "1"


def test_nothing_is_asked_back_on_a_terminal(run, monkeypatch):
    from discreet.cli import terminal

    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    assert run("ask", "people.toml", SQL, "--eps", "1", "--rehearse")[0] == 0


def test_help_lists_the_flag_for_rehearsing(run):
    for verb in (("ask",), ("quote",), ("release", "plan"), ("release", "build")):
        assert "--rehearse" in run(*verb, "--help")[1]


def test_rehearsing_leaves_no_folder_behind(run, tmp_path, monkeypatch):
    import tempfile

    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    run("ask", "people.toml", SQL, "--eps", "1", "--rehearse")
    run("ask", "people.toml", SQL, "--eps", "7", "--rehearse")
    run("release", "build", "people.toml", "--eps", "1", "--rehearse", "-o", str(tmp_path / "out"))
    assert not list(Path(place).iterdir())
