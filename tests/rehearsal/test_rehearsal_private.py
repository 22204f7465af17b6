"""A rehearsal opens nothing private and leaves nothing behind."""

import gc
import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import discreet as dp
from discreet.errors import MetadataError
from discreet.ledger.registry import Registry
from discreet.privacy.cost import Pure
from rehearsal.parts import SQL, TOML, as_bytes, contents, parts_of, written


def state_folder():
    return Path(os.environ["XDG_STATE_HOME"])


def everything(dataset, out):
    """All that can be done with a dataset."""
    dataset.prepare()
    dataset.sql(SQL).quote(epsilon=1)
    dataset.sql(SQL).ask(epsilon="0.5")
    dataset.group_by("diagnosis").agg(n=dp.count()).ask(epsilon="0.5")
    dataset.release("geo", by="sex").build(epsilon="0.5").publish(out, replace=True)
    with closing(dataset.table.view()) as view:
        request, mechanism, _ = parts_of(dataset.table, view)
    run = dataset.table.run(request, Pure(1))
    run.step("one", mechanism, parts_of(dataset.table, run.view)[2], pack=as_bytes)
    run.done(b"{}")
    assert dataset.budget.charges > 3


def test_private_files_and_the_state_folder_stay_as_they_are(tmp_path):
    toml = written(tmp_path / "data")
    with dp.open(toml) as real:
        real.sql(SQL).ask(epsilon=1)
        spent = real.budget.spent
    before = contents(toml.parent, state_folder())
    assert {"people.csv", "people.key", "people.ledger"} < {Path(path).name for path in before}
    with dp.open(toml, rehearsal=True) as rehearsed:
        everything(rehearsed, tmp_path / "out")
    assert contents(toml.parent, state_folder()) == before
    with dp.open(toml) as real:
        assert real.budget.spent == spent


@pytest.mark.parametrize("source", ["people.csv", "https://example.org/people", None])
def test_a_source_that_is_not_there_is_not_missed(tmp_path, source):
    toml = written(tmp_path / "data", rows=0)
    line = 'source = "people.csv"\n'
    toml.write_text(TOML.replace(line, "" if source is None else f'source = "{source}"\n'))
    with dp.open(toml, rehearsal=True) as rehearsed:
        everything(rehearsed, tmp_path / "out")
    assert [path.name for path in toml.parent.iterdir()] == ["people.toml"]
    assert not list(state_folder().rglob("*"))


def test_a_table_in_memory_is_not_looked_at(tmp_path):
    with dp.open(written(tmp_path, rows=0), table=object(), rehearsal=True) as rehearsed:
        assert len(rehearsed.sql(SQL).ask(epsilon=1)) == 2


def test_no_private_file_is_opened_not_even_to_be_read(tmp_path):
    """An audit hook sees what this process opens; the worker is given paths of the private folder alone."""
    toml = written(tmp_path / "data")
    program = f"""
import os, sys
seen = set()
private = {str(toml.parent)!r}, os.environ["XDG_STATE_HOME"]
def hook(event, arguments):
    if event in ("open", "sqlite3.connect", "subprocess.Popen") and arguments:
        for argument in [str(arguments[0]), *map(str, arguments[1] if event == "subprocess.Popen" else ())]:
            if os.path.abspath(argument).startswith(private):
                seen.add(os.path.basename(argument))
sys.addaudithook(hook)
import discreet as dp
with dp.open({str(toml)!r}, rehearsal=True) as rehearsed:
    rehearsed.sql({SQL!r}).ask(epsilon=1)
    rehearsed.release("geo").build(epsilon=1)
print(sorted(seen))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['people.toml']\n"


def test_the_private_source_is_no_public_file_of_a_rehearsed_release(tmp_path):
    toml = written(tmp_path)
    with dp.open(toml, rehearsal=True) as rehearsed, pytest.raises(MetadataError, match="not the private table"):
        rehearsed.release("geo").quote(epsilon=1, zeros=tmp_path / "people.csv")


def test_the_registry_of_sources_knows_no_rehearsal(tmp_path, monkeypatch):
    def entered(*_):
        raise AssertionError("a rehearsal was entered")

    monkeypatch.setattr(Registry, "entering", entered)
    with dp.open(written(tmp_path), rehearsal=True) as rehearsed:
        rehearsed.sql(SQL).ask(epsilon=1)


# --- the folder ------------------------------------------------------------------------------------------------------


def test_the_folder_is_the_owners_alone_and_goes_on_close(tmp_path):
    rehearsed = dp.open(written(tmp_path), rehearsal=True)
    rehearsed.sql(SQL).ask(epsilon=1)
    folder = rehearsed.table.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {"invented.csv", "people.key", "people.ledger", "head"} <= {path.name for path in folder.iterdir()}
    rehearsed.close()
    assert not folder.exists()
    rehearsed.close()


def test_a_quote_needs_no_folder(tmp_path):
    with dp.open(written(tmp_path), rehearsal=True) as rehearsed:
        rehearsed.sql(SQL).quote(epsilon=1)
        assert rehearsed.table._place is None


def test_the_folder_goes_after_an_exception(tmp_path):
    folders = []

    def broken():
        with dp.open(written(tmp_path), rehearsal=True) as rehearsed:
            rehearsed.prepare()
            folders.append(rehearsed.table.folder)
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        broken()
    assert not folders[0].exists()


def test_the_folder_goes_with_a_dataset_that_nobody_closed(tmp_path):
    rehearsed = dp.open(written(tmp_path), rehearsal=True)
    folder = rehearsed.table.folder
    del rehearsed
    gc.collect()
    assert not folder.exists()


def test_the_folder_goes_with_its_process_and_not_with_a_forked_child(tmp_path):
    program = f"""
import os, sys
import discreet as dp
rehearsed = dp.open({str(written(tmp_path))!r}, rehearsal=True)
folder = rehearsed.table.folder
child = os.fork()
if not child:
    sys.exit(0)
os.waitpid(child, 0)
print(folder, folder.exists())
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    folder, existed = done.stdout.split()
    assert existed == "True"
    assert not Path(folder).exists()


def test_after_closing_a_rehearsal_begins_anew(tmp_path):
    rehearsed = dp.open(written(tmp_path), rehearsal=True)
    rehearsed.sql(SQL).ask(epsilon=2)
    rehearsed.close()
    assert rehearsed.budget is None
    rehearsed.sql(SQL).ask(epsilon=2)
    rehearsed.close()
