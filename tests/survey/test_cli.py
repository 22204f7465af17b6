"""The verbs of surveys at the command line: the whole path, one object with --json, and no input written over."""

import contextlib
import csv
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet.cli import main
from discreet.operation.survey_serving import vectors_text
from discreet.survey.reading import read_survey, survey_of
from discreet.survey.server import Patience
from discreet.survey.store import Store
from discreet.survey.submission import body_of
from survey.surveys import TAX_TOML

COINS = """title = "Coins"
[questions.q1]
text = "Did you?"
values = ["no", "yes"]
method = "two coins"
required = true
"""
UNSERVED = ["serve", "tax.toml", "--tokens", "1", "--address", "refused after all names of files"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tax.toml").write_text(TAX_TOML)
    Path("coins.toml").write_text(COINS)
    return tmp_path


@pytest.fixture
def told(folder, capfd):
    """The one JSON object that a command prints."""

    def run(*arguments, exit_code=0):
        status = main.status(["survey", *arguments, "--json"])
        said = capfd.readouterr()
        assert said.out.count("\n") == 1, said
        reply = json.loads(said.out)
        assert (status, reply["ok"]) == (exit_code, exit_code == 0), reply
        return reply

    return run


@pytest.fixture
def shown(folder, capfd):
    def run(*arguments):
        assert main.status(["survey", *arguments]) == 0, capfd.readouterr()
        return capfd.readouterr().out

    return run


def test_a_survey_goes_from_its_design_to_its_report(told, folder):
    design = told("design", "tax.toml", "--precision", "3")
    assert (design["people_without_protection"], design["people"]) == (1068, 4997)
    assert design["trusts"]["factor"] > 40
    page = told("page", "tax.toml", "-o", "page.html")
    assert len(page["sha256"]) == 64
    assert (folder / "page.html").stat().st_size == page["bytes"]
    made_up = told("simulate", "tax.toml", "--people", "3000", "--truth", "q1=0.02", "--seed", "7", "-o", "r.parquet")
    assert made_up["truth"] == {"q1": {"no": 0.98, "yes": 0.02}}
    estimate = told("estimate", "tax.toml", "r.parquet", "--by", "region")
    assert [part["group"] for part in estimate["estimates"]] == ["North", "South"]
    assert estimate["invented"]
    shuffled = told("estimate", "tax.toml", "r.parquet", "--from-shuffler")
    assert 0 < shuffled["shuffled"]["epsilon"] < 0.2 < shuffled["epsilon"]
    told("report", "tax.toml", "r.parquet", "-o", "report.html")
    assert "Did you ever dodge a tax?" in (folder / "report.html").read_text()


def test_people_read_the_same_numbers(shown):
    assert "Of 100 who truly say no, 27 send yes." in shown("design", "tax.toml")
    assert "0.3240" in shown("estimate", "coins.toml", "--yes", "412", "--of", "1000")
    assert "SHA-256 " in shown("paper", "coins.toml", "-o", "slip.html")
    assert shown("page", "tax.toml").casefold().startswith("<!doctype html>")
    shown("simulate", "tax.toml", "--people", "500", "-o", "r.parquet")
    assert "INVENTED" in shown("estimate", "tax.toml", "r.parquet", "--of", "respondents")


def test_a_plot_is_drawn(told, folder):
    assert told("design", "tax.toml", "--plot", "d.svg")["plot"] == "d.svg"
    assert "√n" in (folder / "d.svg").read_text()
    told("design", "tax.toml", "--plot", "d.txt", exit_code=2)


@pytest.mark.parametrize(
    "words",
    [
        ["design", "tax.toml", "--precision", "0"],
        ["simulate", "tax.toml"],
        ["simulate", "tax.toml", "--truth", "q9=1", "-o", "r.parquet"],
        ["estimate", "tax.toml"],
        ["estimate", "tax.toml", "--yes", "412"],
        ["estimate", "tax.toml", "--yes", "412", "--of", "population"],
        ["estimate", "tax.toml", "r.parquet", "--yes", "412", "--of", "1000"],
        ["estimate", "tax.toml", "r.parquet", "--of", "1000"],
        ["estimate", "tax.toml", "r.parquet", "--project", "up"],
        ["estimate", "tax.toml", "r.parquet", "--level", "1"],
        ["estimate", "tax.toml", "r.parquet", "--cross", "q1,q2", "--by", "region"],
        ["estimate", "tax.toml", "r.parquet", "--question", "q1"],
        ["page", "tax.toml", "--server", "x"],
        ["serve", "tax.toml", "--store", "a.sqlite"],
        ["serve", "tax.toml", "--store", "a.sqlite", "--tokens", "0"],
        ["serve", "tax.toml", "--store", "a.sqlite", "--tokens", "5", "--open"],
        ["serve", "tax.toml", "--store", "a.sqlite", "--tokens", "5", "--port", "99999"],
        ["serve", "tax.toml", "--store", "a.sqlite", "--tokens", "5", "--address", "survey"],
        ["serve", "tax.toml", "--store", "tax.toml", "--tokens", "5"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_is_refused_with_a_fix(told, folder, words):
    assert told(*words, exit_code=2)["fix"]
    assert not (folder / "a.sqlite").exists()


@pytest.mark.parametrize("verb", ["design", "page", "paper", "simulate", "estimate", "report", "serve"])
def test_a_survey_that_cannot_be_read_is_refused(told, verb):
    more = {"serve": ["--store", "a.sqlite", "--open"], "simulate": ["-o", "x.parquet"]}.get(verb, [])
    assert told(verb, "nowhere.toml", *more, exit_code=3)["code"] == "metadata"


def test_no_output_replaces_an_input_or_a_store(told, folder):
    told("simulate", "tax.toml", "--people", "50", "-o", "r.parquet")
    before = (folder / "r.parquet").read_bytes()
    (folder / "link.html").symlink_to("r.parquet")
    os.link(folder / "r.parquet", folder / "hard.html")
    for name in ("r.parquet", "link.html", "hard.html"):
        told("report", "tax.toml", "r.parquet", "-o", name, "--yes", exit_code=2)
        told("estimate", "tax.toml", "r.parquet", "-o", name, "--replace", exit_code=2)
    for verb in ("page", "paper", "design"):
        told(verb, "coins.toml", "-o", "coins.toml", "--yes", exit_code=2)
    told("simulate", "coins.toml", "-o", "coins.toml", "--yes", exit_code=2)
    assert (folder / "r.parquet").read_bytes() == before
    assert (folder / "coins.toml").read_text() == COINS
    (folder / "a.sqlite").write_bytes(b"SQLite format 3\0" + bytes(52) + b"DPSV")
    assert "store" in told("page", "tax.toml", "-o", "a.sqlite", "--yes", exit_code=2)["what"]


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_no_verb_writes_over_the_log_of_a_store_or_of_a_file_of_its_call(told, folder, suffix):
    Store.open_or_create("a.sqlite", read_survey(Path("tax.toml"))).close()
    out = f"a.sqlite{suffix}"
    (folder / "link.html").symlink_to(out)
    for name in (out, "link.html"):
        told("report", "tax.toml", "a.sqlite", "-o", name, "--yes", exit_code=2)
        told("estimate", "tax.toml", "a.sqlite", "-o", name, "--replace", exit_code=2)
        for verb in ("page", "design", "simulate"):
            told(verb, "tax.toml", "-o", name, "--yes", exit_code=2)
        told("paper", "coins.toml", "-o", name, "--yes", exit_code=2)
    (folder / "link.html").unlink()
    (folder / "link.html").symlink_to(f"b.sqlite{suffix}")
    for name in (f"b.sqlite{suffix}", "link.html"):
        for flag in ("-o", "--invitations"):
            assert "must not replace" in told(*UNSERVED, "--store", "b.sqlite", flag, name, exit_code=2)["what"]
    assert "must not replace" in told(*UNSERVED, "--store", "b.sqlite", "-o", out, exit_code=2)["what"]
    assert "must not replace" in told(*UNSERVED, "--store", out, exit_code=2)["what"]
    assert sorted(file.name for file in folder.iterdir()) == ["a.sqlite", "coins.toml", "link.html", "tax.toml"]


def test_the_counts_of_a_server_replace_no_invitations(told, folder):
    (folder / "link.json").symlink_to("a-invitations.csv")
    for words in (
        ["-o", "a-invitations.csv"],
        ["-o", "link.json", "--yes"],
        ["-o", "links.csv", "--invitations", "links.csv"],
        ["--invitations", "a.sqlite"],
    ):
        assert "must not replace" in told(*UNSERVED, "--store", "a.sqlite", *words, exit_code=2)["what"]


def test_a_file_that_is_there_is_kept_unless_it_may_be_replaced(told, folder):
    (folder / "notes.html").write_text("mine")
    told("simulate", "tax.toml", "--people", "500", "-o", "r.parquet")
    for words in (
        ["page", "tax.toml"],
        ["paper", "coins.toml"],
        ["report", "tax.toml", "r.parquet"],
        ["design", "tax.toml"],
    ):
        assert "--yes" in told(*words, "-o", "notes.html", exit_code=2)["fix"]
    assert "--replace" in told("estimate", "tax.toml", "r.parquet", "-o", "notes.html", exit_code=2)["fix"]
    told("simulate", "tax.toml", "-o", "notes.html", exit_code=2)
    assert (folder / "notes.html").read_text() == "mine"
    told("report", "tax.toml", "r.parquet", "-o", "notes.html", "--yes")
    assert (folder / "notes.html").read_text() != "mine"


def wait_for(file, process):
    until = time.monotonic() + 30
    while "Ctrl-C" not in file.read_text():
        assert time.monotonic() < until, file.read_text()
        assert process.poll() is None, file.read_text()
        time.sleep(0.05)


def start(folder, *words):
    command = [sys.executable, "-m", "discreet", "survey", "serve", "tax.toml", "--store", "answers.sqlite", "--json"]
    errors = folder / "errors.txt"
    with errors.open("w") as said:
        process = subprocess.Popen([*command, "--port", "0", *words], stdout=subprocess.PIPE, stderr=said, cwd=folder)
    try:
        wait_for(errors, process)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process


def stop(process):
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=30)
    assert process.returncode == 0, printed
    return json.loads(printed)


def test_a_server_whose_store_is_gone_says_so_and_makes_no_other(folder):
    process = start(folder, "--tokens", "2")
    (folder / "answers.sqlite").unlink()
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=30)
    reply = json.loads(printed)
    assert (process.returncode, reply["code"]) == (7, "cannot-write")
    assert "no longer the file that was opened" in reply["what"]
    assert not (folder / "answers.sqlite").exists()


def test_a_program_that_looks_into_the_store_of_a_server_takes_nothing_from_it(folder):
    process = start(folder, "--tokens", "1")
    look = "import sqlite3; c = sqlite3.connect('answers.sqlite'); c.execute('SELECT * FROM reports'); c.close()"
    subprocess.run([sys.executable, "-c", look], cwd=folder, check=True)
    assert (folder / "answers.sqlite-wal").exists()  # else what the server writes to its log would be lost
    assert stop(process)["accepted"] == 0


def test_long_surveys_have_fewer_vectors_and_at_least_one():
    counts = []
    for number, values in ((1, 4), (4, 1000), (4, 4096), (32, 4096)):
        question = {"text": "Which?", "values": [f"v{value}" for value in range(values)], "method": "unary"}
        questions = {f"q{index}": question for index in range(number)}
        text = vectors_text(survey_of({"title": "T", "epsilon": "2", "questions": questions}))
        counts.append(len(json.loads(text)["vectors"]))
        assert counts[-1] == 1 or len(text) < 2**20
    assert counts[0] == 100
    assert counts[0] > counts[1] > counts[2] > counts[3] == 1


@pytest.mark.parametrize(("words", "is_served"), [([], False), (["--behind-proxy"], True)])
def test_only_a_server_behind_a_proxy_serves_many_clients_of_one_address(folder, words, is_served):
    process = start(folder, "--tokens", "1", *words)
    port = int(re.search(r"127\.0\.0\.1:(\d+)", (folder / "errors.txt").read_text())[1])
    with contextlib.ExitStack() as held:
        for _ in range(Patience().per_address):
            held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        last = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        received = b""
        with contextlib.suppress(ConnectionError):
            last.sendall(b"HEAD / HTTP/1.1\r\n\r\n")
            received = last.recv(1000)
    assert received.startswith(b"HTTP/1.1 200") == is_served
    stop(process)


def test_a_server_takes_one_report_for_each_invitation_until_it_is_interrupted(told, folder):
    process = start(folder, "--tokens", "2")
    file = folder / "answers-invitations.csv"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with file.open(newline="") as lines:
        invitations = list(csv.DictReader(lines))
    assert [line["group"] for line in invitations] == ["North", "South"] * 2
    survey = read_survey(folder / "tax.toml")
    address, _, token = invitations[0]["link"].partition("#t=")
    connection = http.client.HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=20)
    statuses = []
    for _ in range(2):
        connection.request("POST", "/report", body_of(survey, token, survey.encode({"q1": 0})))
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
    connection.request("GET", "/vectors.json")
    assert len(json.loads(connection.getresponse().read())["vectors"]) == 100
    connection.close()
    reply = stop(process)
    assert statuses == [200, 409]
    assert (reply["invited"], reply["accepted"], reply["rejected"]["used"]) == (4, 1, 1)
    assert token not in json.dumps(reply) + (folder / "errors.txt").read_text()
    assert token.encode() not in (folder / "answers.sqlite").read_bytes()
    told("serve", "tax.toml", "--store", "answers.sqlite", "--open", exit_code=2)
    told("serve", "tax.toml", "--store", "answers.sqlite", "--tokens", "2", exit_code=2)
    told("estimate", "tax.toml", "answers.sqlite", "--from-shuffler", exit_code=4)
    assert stop(start(folder))["accepted"] == 1
