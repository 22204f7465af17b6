"""Files are written whole or not at all, and never through a link."""

import os

import pytest

from discreet import durable


def full(_):
    raise OSError(28, "No space left on device")


def test_the_old_file_stays_when_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    path = tmp_path / "people.toml"
    durable.write(path, b"old", new=True)
    with pytest.raises(FileExistsError):
        durable.write(path, b"new", new=True)
    durable.replace(path, b"second")
    assert path.read_bytes() == b"second"
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        durable.replace(path, b"third")
    assert path.read_bytes() == b"second"
    assert os.listdir(tmp_path) == ["people.toml"]


def test_a_new_file_that_cannot_be_written_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        durable.write(tmp_path / "new", b"text", new=True)
    assert os.listdir(tmp_path) == []


def test_a_file_written_in_part_is_an_error(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, content: write(handle, content[:2]))
    with pytest.raises(OSError, match="No space"):
        durable.write(tmp_path / "file", b"text")


def test_permissions_are_those_of_the_old_file_or_of_the_call(tmp_path):
    path = tmp_path / "file"
    durable.replace(path, b"", mode=0o600)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    durable.replace(path, b"", mode=0o600)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("new", [False, True])
def test_nothing_is_written_through_a_link(tmp_path, new):
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / "link").symlink_to("victim")
    with pytest.raises(OSError, match=r"link|exists"):
        durable.write(tmp_path / "link", b"other", new=new)
    durable.replace(tmp_path / "link", b"other")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "victim").read_bytes() == b"precious"


def test_files_of_a_folder_are_replaced_together_and_others_removed_if_named(tmp_path):
    folder = tmp_path / "below" / "folder"
    for content in (b"1", b"2"):
        with durable.replacing_files(folder, ("a", "last"), remove=("old",)) as draft:
            for name in ("a", "last"):
                (draft / name).write_bytes(content)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a": content, "last": content}
        (folder / "old").write_bytes(b"0")
    assert os.listdir(folder.parent) == ["folder"]


def test_files_of_a_folder_stay_when_the_new_ones_are_not_all_written(tmp_path):
    folder = tmp_path / "folder"
    with durable.replacing_files(folder, ("a", "last")) as draft:
        (draft / "a").write_bytes(b"1")
        (draft / "last").write_bytes(b"1")
    with pytest.raises(FileNotFoundError), durable.replacing_files(folder, ("a", "last")) as draft:
        (draft / "a").write_bytes(b"2")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a": b"1", "last": b"1"}
    assert os.listdir(tmp_path) == ["folder"]


def test_a_draft_of_metadata_is_not_read_as_metadata(tmp_path):
    assert durable.draft_name(tmp_path / "people.toml").suffix == ""
    assert durable.draft_name(tmp_path / "table.parquet").suffix == ".parquet"


def test_the_permissions_behind_a_link_are_not_taken_over(tmp_path):
    wide, link = tmp_path / "wide", tmp_path / "link"
    wide.write_bytes(b"")
    wide.chmod(0o777)
    link.symlink_to(wide)
    durable.replace(link, b"new", mode=0o600)
    assert not link.is_symlink()
    assert link.stat().st_mode & 0o777 == 0o600
