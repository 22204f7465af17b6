"""Where `discreet synth` writes: a file that is there is named with --yes, and each file with its rows."""

import shlex

import pytest

from discreet.operation import synth as operation
from discreet.operation.synth import SynthCall
from synth.folk import rows_of, written

BUILD = ("synth", "build", "people.toml", "--eps", "1", "-o", "s.parquet")


def test_the_same_command_again_names_what_replaces_the_file(people, told):
    told(*BUILD)
    for words in (BUILD, ("synth", "report", "s.parquet", "people.toml", "-o", "s.html")):
        if words is not BUILD:
            told(*words)
        refused = told(*words, exit_code=2)
        assert "must not be there yet" in refused["what"]
        assert "replace=True" not in str(refused)
        line = next(line for line in refused["fix"].splitlines() if "discreet synth" in line)
        assert "--yes" in shlex.split(line)
    assert told(*BUILD, "--yes")["replayed"]


def test_an_input_is_never_offered_to_be_replaced(people, told):
    people.with_name("s.parquet").write_bytes(b"")
    refused = told("synth", "build", "people.toml", "--eps", "1", "-o", "people.toml", exit_code=2)
    assert "--yes" not in str(refused)


def test_fit_and_file_are_made_while_the_progress_is_shown(tmp_path):
    told, shown = [], []

    class Watch:
        def __enter__(self):
            return lambda step, share: told.append(step)

        def __exit__(self, *_):
            shown.append((tmp_path / "s.parquet").exists())

    call = SynthCall(written(tmp_path, rows_of(40)), epsilon="1", output=tmp_path / "s.parquet")
    operation.build(call, watch=Watch)
    assert "fitting the model" in told
    assert shown == [True]


@pytest.mark.parametrize("rows", ["30", None])
def test_persons_with_several_rows_are_counted_beside_their_rows(tmp_path, capsys, rows):
    from discreet.cli import main

    toml = written(tmp_path, rows_of(40, 3), max_rows=3)
    more = [] if rows is None else ["--rows", rows]
    assert main.status(["synth", "build", str(toml), "--eps", "20", "-o", str(tmp_path / "s.parquet"), *more]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert " rows of 6 columns, of " in told
    assert "units (who)." in told
    assert rows is None or "of 30 units (who)" in told


def test_two_files_are_named_with_their_rows_and_what_follows(tmp_path, capsys):
    from discreet.cli import main
    from synth.children.clinic import patients_of
    from synth.children.clinic import written as clinic

    folder, place = clinic(tmp_path / "clinic", patients_of(80)), tmp_path / "out.parquet"
    named = [str(folder / "patients.toml"), "--child", str(folder / "visits.toml"), "--columns", "age,reason"]
    assert main.status(["synth", "build", *named, "--eps", "2", "-o", str(place)]) == 0
    out, err = capsys.readouterr()
    assert out.split() == [str(place), str(tmp_path / "out.visits.parquet")]
    told = " ".join(err.split())
    assert "patients: " in told
    assert "rows of 2 columns in" in told
    assert "visits: " in told
    assert "patient says which patient each belongs to." in told
    assert "Next:" in told
