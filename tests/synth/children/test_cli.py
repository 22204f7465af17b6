"""Two tables at the command line: quoted for nothing, built once, and written beside each other."""

import json

import pandas
import pytest

from discreet.cli import main

from .clinic import opened, patients_of, spent, task, written


def ran(capsys, *words):
    code = main.status([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_quote_and_a_build_of_two_tables(tmp_path, capsys):
    folder = written(tmp_path / "clinic", patients_of(80))
    named = [folder / "patients.toml", "--child", folder / "visits.toml", "--eps", "2", "--columns", "age,reason"]
    code, out, _ = ran(capsys, "synth", "quote", *named, "--json")
    assert code == 0
    assert "Both ledgers are charged" in " ".join(json.loads(out)["words"])
    place = tmp_path / "out.parquet"
    code, out, err = ran(capsys, "synth", "build", *named, "-o", place, "--json")
    assert code == 0, err
    told = json.loads(out)
    child = tmp_path / "out.visits.parquet"
    assert told["children"]["visits"]["file"] == str(child)
    assert told["children"]["visits"]["columns"] == list(pandas.read_parquet(child)) == ["patient", "reason"]
    assert told["rows"] == len(pandas.read_parquet(place))
    with opened(folder) as both:
        assert spent(*both) == [2, 2]
    code, _, err = ran(capsys, "synth", "build", *named, "-o", place, "--json")
    assert code != 0
    place.unlink()
    code, _, err = ran(capsys, "synth", "build", *named, "--eps", "3", "-o", place, "--json")
    assert code != 0
    with opened(folder) as both:
        assert spent(*both) == [2, 2]


def test_no_pair_of_two_tables_is_not_called_independence(tmp_path, capsys):
    folder = written(tmp_path / "clinic", patients_of(80))
    named = [folder / "patients.toml", "--child", folder / "visits.toml", "--eps", "2", "--columns", "age,reason"]
    code, _, err = ran(capsys, "synth", "build", *named, "--method", "independent", "-o", tmp_path / "out.parquet")
    assert code == 0, err
    told = " ".join(err.split())
    assert "independently" not in told
    assert "Nothing joins columns but who has rows in the second table" in told


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_what_is_hidden_follows_the_neighbours(tmp_path, neighbours):
    folder = written(tmp_path / "clinic", patients_of(80), neighbours=neighbours)
    with opened(folder) as both:
        told = str(task(*both).quote(epsilon=1))
    if neighbours == "add-remove":
        assert "whether a patient is in patients, with which values, and its rows of visits." in told
        assert "not hidden" not in told
    else:
        assert "What is hidden: values of a patient in patients, and its rows of visits." in told
        assert "That it is in patients is not hidden." in told
