"""What an attack needs beyond the core is asked for before it begins, and its numbers take one thread."""

import json
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from discreet import attack
from discreet.attack.catalog import ATTACKS, Attack
from discreet.attack.packages import EXTRAS, one_thread, require
from discreet.cli.main import status
from discreet.errors import BadValue

PROJECT = Path(__file__).parents[2]
NEEDY = [(name, package) for name, entry in ATTACKS.items() for package in entry.needs]


def threads():
    return [torch.get_num_threads(), *(library["num_threads"] for library in threadpool_info())]


def test_every_extra_is_one_of_the_project_and_holds_its_package():
    facts = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = facts["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        title = "scikit-learn" if package == "sklearn" else package
        assert any(line.startswith(title) for line in extras[extra])


@pytest.mark.parametrize(("name", "package"), NEEDY)
def test_attack_without_its_package_is_refused_before_it_begins(name, package, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    monkeypatch.setattr(Attack, "_home", lambda self: pytest.fail("began"))
    assert status(["attack", name, "--json"]) == 2
    reply = json.loads(capfd.readouterr().out)
    assert reply["fix"] == f"Install discreet[{EXTRAS[package]}]."
    assert "needs the package" in reply["what"]


@pytest.mark.parametrize("name", ["linkage", "attribute", "small_area"])
def test_file_that_cannot_be_read_without_its_package_is_refused(name, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadValue, match=r"Install discreet\[frames\]"):
        ATTACKS[name].on_file(tmp_path, 1)


def test_two_absent_packages_are_named_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadValue, match=r"the packages pyarrow and scikit-learn\..*Install discreet\[frames,learn\]"):
        require("pyarrow", "sklearn")


def test_attacks_in_python_name_the_extra_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools", None)
    with pytest.raises(BadValue, match=r"Install discreet\[release\]"):
        attack.worlds([{"mean": 30}], {"count": 2, "columns": {"age": range(100)}})
    with pytest.raises(BadValue, match=r"Install discreet\[release\]"):
        import_module("discreet.attack.consistent.small_area").rebuilt([], [], (1,))
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BadValue, match=r"Install discreet\[deep\]"):
        import_module("discreet.attack.models.line_net").line_net(None)


def test_file_of_a_net_without_torch_is_refused(monkeypatch, tmp_path):
    from discreet.attack.models.beside import model_in

    (tmp_path / "net.dp").write_bytes(b"discreet net 1\n")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BadValue, match=r"Install discreet\[deep\]"):
        model_in(tmp_path / "net.dp")


def test_numbers_take_one_thread_inside_and_as_many_as_before_afterwards():
    usual = torch.get_num_threads()
    with threadpool_limits(2):
        torch.set_num_threads(2)
        before, inside = threads(), []

        def fail():
            with one_thread(["torch"]):
                inside.extend(threads())
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        after = threads()
    torch.set_num_threads(usual)
    assert (before[0], set(inside)) == (2, {1})
    assert after == before


@pytest.mark.parametrize("absent", ["threadpoolctl", "torch"])
def test_threads_are_limited_where_what_limits_them_is_there(absent, monkeypatch):
    monkeypatch.setitem(sys.modules, absent, None)
    with one_thread([]):
        pass


def test_examples_and_files_are_attacked_by_one_thread(monkeypatch, tmp_path):
    seen = []
    home = SimpleNamespace(example=lambda *_: seen.append(threads()), on_file=lambda *_: seen.append(threads()))
    monkeypatch.setattr(Attack, "_home", lambda self: home)
    with threadpool_limits(2):
        ATTACKS["canary"].example(("1",), 7)
        ATTACKS["membership"].on_file(tmp_path, 7)
    assert [set(counts) for counts in seen] == [{1}, {1}]
