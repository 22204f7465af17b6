"""No output replaces an input: every verb that writes a file, against everything a dataset is made of."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from discreet import outputs
from discreet.cli import main
from discreet.errors import BadValue
from discreet.survey.store import Store
from survey.serving import survey_for

TOML = """\
[dataset]
name = "people"
source = "data/people.csv"
[unit]
key = "person"
max_rows = 2
[columns.age]
type = "integer"
bounds = [0, 110]
[columns.ward]
type = "category"
values_from = "wards.txt"
[hierarchy.geo]
levels = ["country", "ward"]
tree = "tree.csv"
[budget]
epsilon = 1
"""
COUNT = "SELECT COUNT(*) AS n FROM people"
RELEASED = ("index.html", "report.md", "table.csv", "noisy.csv", "table.parquet", "noisy.parquet", "release.json")


def writers(out):
    """Every verb with an output that somebody names."""
    toml, yes = "people.toml", "--yes"
    return {
        "ask": ["ask", toml, COUNT, "--eps", "0.1", "-o", out, yes],
        "ask --json": ["ask", toml, COUNT, "--eps", "0.1", "-o", out, yes, "--json"],
        "ask --dry-run": ["ask", toml, COUNT, "--eps", "0.1", "--dry-run", "-o", out, yes],
        "quote": ["quote", toml, COUNT, "--eps", "0.1", "-o", out, yes],
        "explain": ["explain", toml, COUNT, "-o", out, yes],
        "budget": ["budget", toml, "-o", out, yes],
        "ledger": ["ledger", toml, "-o", out, yes],
        "ledger --export": ["ledger", toml, "--export", out, yes],
        "prepare": ["prepare", toml, "-o", out, yes],
        "release plan": ["release", "plan", toml, "--eps", "0.1", "-o", out, yes],
        "release build": ["release", "build", toml, "--eps", "0.1", "-o", out, yes],
        "release publish": ["release", "publish", toml, "-o", out, yes],
        "release check": ["release", "check", toml, "-o", out, yes],
        "check": ["check", toml, "-o", out, yes],
        "odds": ["odds", "--eps", "1", "-o", out, yes],
        "audit": ["audit", "--list", "-o", out, yes],
        "demo": ["demo", "--folder", "hospital", "-o", out, yes],
        "demo lecture": ["demo", "lecture", "-o", out, yes],
        "init": ["init", "data/people.csv", "-o", out, yes],
    }


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A dataset whose table lies in another folder, with a file for everything that belongs to it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "data" / "people.csv").write_text("person,age,ward\n1,2,a\n2,3,b\n")
    (tmp_path / "wards.txt").write_text("ward\na\nb\n")
    (tmp_path / "tree.csv").write_text("country,ward\nx,a\nx,b\n")
    (tmp_path / "people.toml").write_text(TOML)
    (tmp_path / "other" / "staff.toml").write_text('[dataset]\nname = "staff"\nsource = "staff.csv"\n')
    (tmp_path / "other" / "broken.toml").write_text('[dataset]\nname = "staff\n')
    (tmp_path / "other" / "staff.csv").write_text("a\n1\n")
    heads = tmp_path / "state" / "discreet" / "heads"
    heads.mkdir(parents=True)
    (heads / "people-1.json").write_text("head")
    for name in ("people.ledger", "people.ledger-wal", "people.key", "people.prepared", "people-1.prepared"):
        (tmp_path / name).write_text(name)
        (tmp_path / "other" / name.replace("people", "staff")).write_text(name)
    (tmp_path / "soft.csv").symlink_to("data/people.csv")
    (tmp_path / "hard.csv").hardlink_to("data/people.csv")
    (tmp_path / "soft.txt").symlink_to("people.key")
    return tmp_path


@pytest.mark.parametrize("name", ["people.key", "people.ledger", "people.ledger-wal", "people.prepared"])
@pytest.mark.parametrize("folder", ["", "elsewhere"])
def test_a_hard_link_to_what_belongs_to_a_dataset_is_an_input(desk, name, folder):
    (desk / folder).mkdir(exist_ok=True)
    link = desk / folder / "answer.txt"
    link.hardlink_to(desk / name)
    assert outputs.input_kind(link, desk / "people.toml") == outputs.input_kind(desk / name)
    (desk / name).unlink()
    assert outputs.input_kind(link, desk / "people.toml") is None


def state(folder: Path):
    return {
        str(path.relative_to(folder)): (path.is_symlink(), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_relative_to(folder / "hospital")
    }


INPUTS = [
    "data/people.csv", "./data/../data/people.csv", "people.toml", "people.ledger", "people.ledger-wal",
    "people.ledger-shm", "people.key", "people.prepared", "people-1.prepared", "soft.csv", "hard.csv", "soft.txt",
    "wards.txt", "tree.csv", "state/discreet/heads/people-1.json", "state/discreet/sources.sqlite", "other/staff.toml",
    "other/broken.toml", "other/staff.csv", "other/staff.ledger", "other/staff.key", "other/staff.prepared",
    "new.ledger", "new.key", "new.prepared", "NEW.KEY",
]  # fmt: skip


@pytest.mark.parametrize("verb", writers(""))
def test_no_verb_writes_over_an_input(desk, capfd, verb):
    before = state(desk)
    for given in INPUTS:
        if verb in ("odds", "audit", "demo", "demo lecture") and given in INPUTS[:2]:
            continue  # a table that no metadata in its folder name, and these verbs are given none
        status = main.status(writers(given)[verb])
        said = capfd.readouterr()
        assert status == 2, (verb, given, said)
        assert "Traceback" not in said.err
        after = state(desk)
        assert after == before, (verb, given)


@pytest.mark.parametrize("flag", ["--plot"])
@pytest.mark.parametrize("verb", ["ask", "demo lecture"])
def test_no_picture_is_drawn_over_an_input(desk, capfd, verb, flag):
    (desk / "data" / "people.csv").rename(desk / "data" / "people.png")
    (desk / "people.toml").write_text(TOML.replace("data/people.csv", "data/people.png"))
    (desk / "picture.png").symlink_to("people.key")
    shutil.copy(desk / "people.toml", desk / "data" / "near.toml")
    (desk / "data" / "near.toml").write_text(TOML.replace("data/people.csv", "people.png"))
    before = state(desk)
    words = {"ask": ["ask", "people.toml", COUNT, "--eps", "0.1", "--yes"], "demo lecture": ["demo", "lecture"]}[verb]
    for given in ("data/people.png", "picture.png"):
        assert main.status([*words, flag, given]) == 2
        assert "must not replace" in capfd.readouterr().err
    assert state(desk) == before


@pytest.mark.parametrize("name", RELEASED)
def test_a_release_into_the_folder_of_its_table_replaces_no_table(desk, capfd, name):
    (desk / "data" / "people.csv").rename(desk / name)
    (desk / "people.toml").write_text(TOML.replace("data/people.csv", name))
    before = state(desk)
    for verb in ("release build", "release publish"):
        built = name in ("table.parquet", "noisy.parquet", "release.json")
        if verb == "release publish" or built:
            assert main.status(writers(".")[verb]) != 0
            assert ("must not replace" in capfd.readouterr().err) or verb == "release publish"
    assert state(desk) == before


def test_metadata_are_made_anew_only_for_their_own_table_and_before_a_ledger(desk, capfd):
    init = ["init", "data/people.csv", "--column", "age:integer:0:110", "--yes", "--json"]
    assert main.status([*init, "-o", "new.toml"]) == 0
    assert main.status([*init, "--epsilon", "2", "-o", "new.toml"]) == 0
    assert "epsilon = 2" in (desk / "new.toml").read_text()
    shutil.copy(desk / "new.toml", desk / "people.toml")
    capfd.readouterr()
    assert main.status([*init, "-o", "people.toml"]) == 2
    assert "a ledger stands on" in json.loads(capfd.readouterr().out)["what"]
    (desk / "other" / "staff.ledger").unlink()
    assert main.status([*init, "-o", "other/staff.toml"]) == 2
    assert "another table" in json.loads(capfd.readouterr().out)["what"]


# --- however metadata are written, and wherever they lie -------------------------------------------------------------

BELOW = """
[unit]
key = "person"
max_rows = 2
[columns.age]
type = "integer"
bounds = [0, 110]
[budget]
epsilon = 5
"""
STYLES = {
    "inline": 'dataset = { format = 1, name = "people", source = "people.csv" }' + BELOW,
    "dotted": 'dataset.name = "people"\ndataset.source = "people.csv"' + BELOW,
    "escaped": '["data\\u0073et"]\nname = "people"\n"sourc\\u0065" = "people.csv"' + BELOW,
    "mark of UTF-8": '\ufeff[dataset]\nname = "people"\nsource = "people.csv"' + BELOW,
    "5 MiB": '[dataset]\nname = "people"\nsource = "people.csv"' + BELOW + f"# {'x' * 5 * 2**20}\n",
}


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A folder with two tables, of which a third folder knows nothing."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    for name, rows in (("people", "1,20\n2,30\n"), ("b", "7,40\n8,50\n")):
        (tmp_path / f"{name}.csv").write_text(f"person,age\n{rows}")
    (tmp_path / "b.toml").write_text('[dataset]\nname = "b"\nsource = "b.csv"' + BELOW)
    return tmp_path


def ask(toml, *more):
    return main.status(
        ["ask", toml, f"SELECT COUNT(*) AS n FROM {Path(toml).stem.lower()}", "--eps", "1", *more, "--yes"]
    )


def refused(capfd, status):
    said = capfd.readouterr().err
    return status == 2 and ("must not replace" in said or "must not be the metadata or the table" in said)


@pytest.mark.parametrize("style", STYLES)
def test_metadata_of_any_style_keep_themselves_and_their_table(bare, capfd, style):
    (bare / "people.toml").write_text(STYLES[style], encoding="utf-8")
    before = state(bare)
    for out in ("people.csv", "people.toml"):
        assert refused(capfd, ask("people.toml", "-o", out))
        assert refused(capfd, ask("b.toml", "-o", out))
        for words in (["ledger", "people.toml", "--export", out], ["check", "people.toml", "-o", out]):
            assert refused(capfd, main.status([*words, "--yes"])), words
    assert state(bare) == before
    assert ask("people.toml", "-o", "answer.csv") == 0  # they are metadata that can be used


@pytest.mark.parametrize("name", ["A.TOML", "a.Toml"])
def test_metadata_in_capitals_keep_their_table(bare, capfd, name):
    (bare / "people.csv").rename(bare / "A.csv")
    (bare / name).write_text(STYLES["inline"].replace("people.csv", "A.csv"))
    before = state(bare)
    assert refused(capfd, ask("b.toml", "-o", "A.csv"))
    assert refused(capfd, ask("b.toml", "-o", name))
    assert state(bare) == before


def apart(folder):
    """Metadata in one folder over a table in another, and another dataset in a third; the first was asked once."""
    for name in ("meta", "data", "other"):
        (folder / name).mkdir()
    (folder / "people.csv").rename(folder / "data" / "people.csv")
    (folder / "meta" / "people.toml").write_text(STYLES["inline"].replace("people.csv", "../data/people.csv"))
    (folder / "b.csv").rename(folder / "other" / "people.csv")
    (folder / "other" / "people.toml").write_text(STYLES["inline"])
    assert ask("meta/people.toml") == 0


@pytest.mark.parametrize("way", ["path", "link", "second name", "log", "moved"])
def test_a_table_that_was_asked_is_kept_wherever_its_metadata_lie(bare, monkeypatch, capfd, way):
    apart(bare)
    table, out = bare / "data" / "people.csv", "../data/people.csv"
    if way == "link":
        (bare / "other" / "link.csv").symlink_to(table)
        out = "link.csv"
    elif way == "second name":
        (bare / "other" / "hard.csv").hardlink_to(table)
        out = "hard.csv"
    elif way == "log":
        out = "../data/people.csv.wal"
    elif way == "moved":
        table.rename(bare / "moved.csv")
        out = "../moved.csv"
    monkeypatch.chdir(bare / "other")
    before = state(bare)
    capfd.readouterr()
    assert refused(capfd, ask("people.toml", "-o", out))
    assert refused(capfd, main.status(["odds", "--eps", "1", "-o", out, "--yes"]))
    assert state(bare) == before


def test_a_registry_that_cannot_be_asked_lets_no_file_be_replaced(bare, monkeypatch, capfd):
    apart(bare)
    (bare / "state" / "discreet" / "sources.key").write_bytes(bytes(32))
    (bare / "answer.txt").write_text("old")
    odds = ["odds", "--eps", "1", "--yes", "-o"]
    assert main.status([*odds, "answer.txt"]) == 6
    assert (bare / "answer.txt").read_text() == "old"
    assert main.status([*odds, "new.txt"]) == 0


def test_an_output_may_be_replaced_where_nothing_is_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "answer.csv").write_text("old")
    assert outputs.input_kind(tmp_path / "answer.csv") is None
    assert not (tmp_path / "state").exists()


# --- what may be written ---------------------------------------------------------------------------------------------


def test_a_file_is_put_in_place_whole_and_keeps_its_rights(tmp_path):
    place = tmp_path / "answer.csv"
    place.write_text("old")
    place.chmod(0o640)

    def interrupted():
        with outputs.replacing(place) as draft:
            draft.write_text("half")
            assert place.read_text() == "old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (place.read_text(), os.listdir(tmp_path)) == ("old", ["answer.csv"])
    with outputs.replacing(place) as draft:
        draft.write_text("new")
    assert (place.read_text(), stat.S_IMODE(place.stat().st_mode)) == ("new", 0o640)
    assert os.listdir(tmp_path) == ["answer.csv"]


def test_a_link_to_another_output_stays_a_link(tmp_path):
    (tmp_path / "answer.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("answer.csv")
    with outputs.replacing(tmp_path / "link.csv") as draft:
        draft.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "answer.csv").read_text() == "new"


def test_devices_and_pipes_are_written_themselves(tmp_path):
    with outputs.replacing(Path("/dev/null")) as draft:
        assert draft == Path("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    with outputs.replacing(tmp_path / "pipe") as draft:
        assert draft == tmp_path / "pipe"


@pytest.mark.parametrize("name", ["x.toml", "X.TOML"])
@pytest.mark.parametrize("text", ["[tool]\nname = 1\n", "name = 'dataset'\n", "", "x = 1e99999999999999999999", "\0"])
def test_a_toml_is_kept_whatever_it_holds_and_a_new_one_may_be_written(tmp_path, name, text):
    assert outputs.input_kind(tmp_path / name) is None
    (tmp_path / name).write_text(text)
    assert outputs.input_kind(tmp_path / name) == outputs.METADATA


@pytest.mark.parametrize(("text", "status"), [("[tool]\nname = 1\n", 0), ("mine", 0), ("[dataset\n", 2)])
def test_init_may_replace_a_toml_that_is_surely_no_metadata(desk, capfd, text, status):
    (desk / "x.toml").write_text(text)
    init = ["init", "data/people.csv", "--column", "age:integer:0:110", "--json", "-o", "x.toml", "--yes"]
    assert main.status(init) == status
    assert ((desk / "x.toml").read_text() != text) == (status == 0)


@pytest.mark.parametrize("source", ['["a.csv", "b.csv"]', '"*.csv"', '"."'])
def test_sources_of_several_files_are_kept_each(tmp_path, source):
    (tmp_path / "x.toml").write_text(f"[dataset]\nsource = {source}\n")
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("a")
        with pytest.raises(BadValue, match="must not replace a private table"):
            outputs.require_harmless(tmp_path / name)
    assert outputs.input_kind(tmp_path / "c.csv") == (outputs.TABLE if source == '"."' else None)


@pytest.fixture
def survey_store(tmp_path):
    store = tmp_path / "answers.sqlite"
    Store.open_or_create(store, survey_for()).close()
    return store


def test_the_store_of_a_survey_and_its_logs_are_kept(survey_store, tmp_path, capfd):
    before = survey_store.read_bytes()
    for suffix in ("", "-wal", "-shm", "-journal", "-WAL"):
        file, link = Path(f"{survey_store}{suffix}"), tmp_path / f"link{suffix}.csv"
        link.symlink_to(file)
        for out in (file, link):
            assert outputs.input_kind(out) == (outputs.LOG if suffix else outputs.STORE)
            assert refused(capfd, main.status(["odds", "--eps", "1", "-o", str(out), "--yes"]))
    assert survey_store.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["answers-wal", "other.sqlite-wal", "answers.sqlite-wall", "answers.sqlite.wal", "-wal"]
)
def test_a_name_that_is_no_log_of_a_store_may_be_written(survey_store, tmp_path, name):
    assert outputs.input_kind(tmp_path / name) is None


def test_a_circle_of_links_is_no_input(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert outputs.input_kind(tmp_path / "a") is None


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3000, "nul\0byte"])
def test_a_name_that_no_file_can_have_is_no_input(tmp_path, name):
    (tmp_path / "x.toml").write_text('[dataset]\nsource = "a.csv"\n')
    assert outputs.input_kind(tmp_path / name) is None
    assert outputs.input_kind(tmp_path / name / "table.csv") is None
