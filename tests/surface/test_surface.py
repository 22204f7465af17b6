"""What people and programs outside the package can name stays as it was in `surface.json`."""

import json
from pathlib import Path

import pytest

from surface.surface import surface

RECORDED = json.loads((Path(__file__).parent / "surface.json").read_text(encoding="utf-8"))
RENAMED = {  # members that no page ever named, and their names now
    "Answer.at": "Answer.row_index",
    "Answer.kept": "Answer.take",
    "Quote.alike": "Quote.has_one_moe",
    "Quote.most_epsilon": "Quote.max_epsilon",
    "Releasing.wanted": "Releasing.spec",
}


@pytest.fixture(scope="module")
def present(tmp_path_factory):
    folder = tmp_path_factory.mktemp("surface")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.chdir(folder)
        return surface(folder)


@pytest.mark.parametrize("group", ["names", "toml"])
def test_names_and_toml_keys_are_those_recorded(present, group):
    assert present[group] == RECORDED[group]


def test_every_recorded_error_has_its_code_and_exit_status(present):
    assert RECORDED["errors"].items() <= present["errors"].items()


def test_every_recorded_verb_takes_the_recorded_options(present):
    assert list(present["verbs"]) == list(RECORDED["verbs"])
    assert {verb: set(options) - set(present["verbs"][verb]) for verb, options in RECORDED["verbs"].items()} == {
        verb: set() for verb in RECORDED["verbs"]
    }


def test_every_recorded_member_of_a_public_object_is_there(present):
    recorded = {f"{owner}.{name}" for owner, names in RECORDED["members"].items() for name in names}
    there = {f"{owner}.{name}" for owner, names in present["members"].items() for name in names}
    assert recorded - there == set(RENAMED)
    assert set(RENAMED.values()) <= there


@pytest.mark.parametrize("command", RECORDED["json"])
def test_every_recorded_key_of_json_is_there(present, command):
    assert set(RECORDED["json"][command]) <= set(present["json"][command])
