"""The facts of a release read back: whatever they state is held against the metadata and the noise."""

import json
import random
from fractions import Fraction

import pytest

from discreet.errors import BadValue, IntegrityError
from discreet.release import read
from discreet.release.publish import files, stated
from discreet.release.publish.facts import well_formed
from release.published import HOSTILE, known, made, restated, saved


@pytest.fixture
def built(tmp_path):
    return saved(tmp_path)


LONG = Fraction(10**300 + 1, 10**300 + 3)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(
    "price",
    [
        {"epsilon": "0.3", "delta": "1e-7", "sharing": "least", "share": {"ward": "0.12345"}},  # a half of a digit
        {"epsilon": 1, "delta": "1e-7"},
        {"epsilon": "3e-8", "delta": "0.3"},
        {"epsilon": "1e-8"},
        {"epsilon": LONG, "level": 1 - LONG},  # longer than what people write
        {"epsilon": "1.234567890123456789", "delta": "1.2345678901234567e-7"},
    ],
)
def test_every_price_that_can_be_planned_checks(tmp_path, price, relation):
    schema = known(relation=relation)
    files.save(made(schema, "sex and age", **price), tmp_path / "r")
    assert read.check_release(tmp_path / "r", schema).problems == ()


def of_levels(name, change):
    return {"levels": lambda levels: [level | {name: change(level[name])} for level in levels]}


STATED = {  # an edit of the facts, and what it is called
    "places": ({"places": 1}, "places is not what it should be"),
    "rules": ({"violations": {"sums": 7}}, "violations is not"),
    "rules left out": ({"violations": {}}, "violations is not"),
    "known": ({"known": ["Every number is exact."]}, "known is not"),
    "protects": ({"protects": "everyone"}, "protects is not"),
    "groups": ({"groups": "household"}, "groups is not"),
    "columns": ({"columns": {}}, "columns is not"),
    "labels": ({"attributes": [{"name": "sex", "labels": ["f", "m"]}]}, "its cells or labels are not"),
    "rows": ({"counts": "rows"}, "protects is not|its price is not"),
    "form": ({"form": "from the top"}, "its cells or labels are not"),
    "views twice": ({"marginals": [["sex"], ["sex"]]}, "its attributes or its hierarchy"),
    "epsilon": ({"epsilon": "0.0001"}, "its price is not"),
    "delta": ({"delta": "1e-9"}, "its price is not"),
    "a delta of another spelling": ({"delta": "0e9"}, "its price is not"),
    "no delta": ({"delta": "none"}, "its price is not"),
    "cells of levels": (of_levels("cells", lambda cells: cells + 1), "its levels are not"),
    "shares": (of_levels("share", lambda share: 0.3334), "the share of a level"),
    "longer shares": (of_levels("share", lambda share: 1 / 3), "the share of a level"),
    "epsilon of levels": (of_levels("epsilon", lambda epsilon: "0.3333"), "the epsilon of a level"),
    "views": (of_levels("noise", lambda noise: [noise[0] | {"marginal": "total"}]), "or noise do not fit"),
    "law": (of_levels("noise", lambda noise: [noise[0] | {"law": "Gaussian"}]), "its price is not"),
    "scale": (of_levels("noise", lambda noise: [noise[0] | {"scale": "5"}]), "its price is not"),
    "no noise": (of_levels("noise", lambda noise: [noise[0] | {"scale": f"1/{10**400}"}]), "its price is not"),
    "level": ({"level": f"1/{10**400}"}, "margins or ranges that are not as planned"),
}


@pytest.mark.parametrize("edit", STATED)
def test_what_the_facts_say_of_the_tables_is_checked(built, edit):
    folder, schema, _ = built
    change, told = STATED[edit]
    restated(folder, **change)
    problems = read.check_release(folder, schema).problems
    assert any(part in problem for problem in problems for part in told.split("|"))


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "0.299"},
        {"epsilon": "0.3001"},
        {"epsilon": "3/10"},
        {"delta": "9e-8"},
        {"delta": "0"},
        of_levels("share", lambda share: round(share + 0.0001, 4)),
        of_levels("epsilon", lambda epsilon: "0.1"),
        {
            "levels": lambda old: [
                old[0] | {"noise": [noise | {"law": "Laplace"} for noise in old[0]["noise"]]},
                *old[1:],
            ]
        },
    ],
)
def test_another_price_than_that_of_gaussian_noise_is_told(tmp_path, change):
    schema = known(relation="replace-one")
    files.save(made(schema, "sex and age", epsilon="0.3", delta="1e-7"), tmp_path / "r")
    assert json.loads((tmp_path / "r" / "release.json").read_text())["levels"][0]["noise"][0]["law"] == "Gaussian"
    restated(tmp_path / "r", **change)
    assert read.check_release(tmp_path / "r", schema).problems


@pytest.mark.parametrize(
    "text", ["1e5000", "1e-5000", "1e20000000", "9" * 423, "1/" + "9" * 423, "1/0", "0", "-1", "²"]
)
def test_numbers_too_long_to_be_read_are_not_read(built, text):
    """1e1000000000 would take hours and all memory: length and exponent are looked at first."""
    folder, _, _ = built
    told = json.loads((folder / "release.json").read_text())
    assert well_formed(told)
    assert not well_formed(told | {"level": text})
    noise = [level | {"noise": [level["noise"][0] | {"scale": text}]} for level in told["levels"]]
    assert not well_formed(told | {"levels": noise})


@pytest.mark.parametrize("views", [[["p"], ["p", "q"]], [["p", "q"]]], ids=["together", "at all"])
def test_more_cells_than_a_release_can_have_are_told_before_anything_is_made(built, views, monkeypatch):
    """20,000 cells in two views are minutes and gigabytes."""
    monkeypatch.setattr(stated, "subject_of", None)
    folder, schema, _ = built
    many = 50 if len(views) > 1 else 20_000
    attributes = [{"name": name, "labels": list(range(many))} for name in "pq"]
    cells = {"levels": lambda levels: [level | {"cells": level["places"] * many**2} for level in levels]}
    restated(folder, attributes=attributes, cells=many**2, marginals=views, **cells)
    told = "release.json: its attributes or its hierarchy do not fit the metadata."
    assert read.check_release(folder, schema).problems == (told,)


@pytest.mark.parametrize(
    "change",
    [
        {"why": "\ud800"},
        {"promise": lambda promise: promise | {"\udfff": 1}},
        of_levels("share", lambda share: 10**400),
        of_levels("share", lambda share: float("inf")),
        {"more": float("nan")},
        {"more": json.loads("[" * 400 + "]" * 400)},
    ],
    ids=["half a letter", "half a name", "beyond floats", "infinite", "no number", "deep"],
)
def test_facts_that_cannot_be_written_are_refused(built, change):
    folder, schema, _ = built
    restated(folder, **change)
    with pytest.raises(IntegrityError, match=r"release.json is not that of a release"):
        files.publish(folder, schema, folder.parent / "out")


def test_a_folder_without_a_release_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(BadValue, match="must hold a built release"):
            read.check_release(folder, known())


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{", '{"format": 2}', '{"format": 1, "kind": "release"}', "[" * 99999, b"\xff{}"]
)
def test_a_file_that_holds_no_facts_is_refused(tmp_path, text):
    (tmp_path / "release.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(IntegrityError, match=r"release.json is not that of a release"):
        read.check_release(tmp_path, known())


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (known(HOSTILE, relation="replace-one"), "neighbours is not that of the metadata"),
        (known(HOSTILE, tops=3), "its levels are not those of the tree"),
        (known(HOSTILE[:-1]), "its levels are not those of the tree"),
    ],
    ids=["relation", "levels", "places"],
)
def test_a_release_of_another_schema_is_told(built, other, told):
    folder, _, _ = built
    problems = read.check_release(folder, other).problems
    assert len(problems) == 1
    assert told in problems[0]


def test_facts_edited_at_random_never_break_the_reader(built):
    """200 edits, each a key removed or given a value of another kind: refused, told, or without effect."""
    folder, schema, _ = built
    whole, chance = files.as_json(json.loads((folder / "release.json").read_text())), random.Random(5)
    told = 0
    for _ in range(200):
        edited = json.loads(whole)
        here = edited
        while True:
            key = chance.choice(list(here) if isinstance(here, dict) else range(len(here)))
            if not isinstance(here[key], (dict, list)) or not here[key] or chance.random() < 0.3:
                break
            here = here[key]
        if chance.random() < 0.4:
            del here[key]
        else:
            here[key] = chance.choice([None, True, -1, 0.5, "x", "", [], {}, [1], {"a": 1}, 10**30])
        (folder / "release.json").write_text(json.dumps(edited))
        try:
            files.publish(folder, schema, folder.parent / "out", replace=True)
        except IntegrityError:
            told += 1
    assert told > 100
