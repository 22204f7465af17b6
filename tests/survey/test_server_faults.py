"""The server of a survey when it is killed, stopped, starved or short of a disk."""

import asyncio
import http.client
import resource
import shutil
import signal
import socket
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from discreet.survey.invitations import draw_tokens
from discreet.survey.server import Patience
from discreet.survey.store import Store, read_rejected, read_reports
from discreet.survey.submission import REASONS, token_hash
from survey.serving import Client, serve_in_thread, serving_process, some_body, survey_for

SURVEY = survey_for()
KILLS, SENDERS = 4, 6


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


def stored_hashes(path):
    """The hash of each token of a stored report; reading repairs nothing."""
    connection = sqlite3.connect(path)
    try:
        return [token for (token,) in connection.execute("SELECT token FROM reports")]
    finally:
        connection.close()


class Sender(threading.Thread):
    """Sends reports over one connection, each with a token of its own, until the server is gone."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.acknowledged, self.sent, self.refused = port, [], [], []

    def run(self):
        with Client(self.port, timeout=10) as client:
            while True:
                (token,) = draw_tokens(1)
                self.sent.append(token)
                try:
                    status, _ = client.post(some_body(SURVEY, token))
                except (OSError, http.client.HTTPException):
                    return
                (self.acknowledged if status == 200 else self.refused).append(token)


def ended_senders(process, port, seconds, number):
    """Senders that met the signal `number` after so many seconds."""
    senders = [Sender(port) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    time.sleep(seconds)
    process.send_signal(number)
    for sender in senders:
        sender.join(20)
        assert not sender.is_alive()
    process.wait(20)
    return senders


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_server_that_ends_while_receiving_loses_no_acknowledged_report_and_counts_none_twice(path, number):
    acknowledged, sent = [], []
    for kill in range(KILLS if number == signal.SIGKILL else 1):
        with serving_process(path) as (process, port):
            with Client(port) as client:
                assert all(client.post(some_body(SURVEY, token))[0] == 409 for token in acknowledged[-20:])
            senders = ended_senders(process, port, 0.2 + 0.13 * kill, number)
            assert process.returncode == (-number if number == signal.SIGKILL else 0)
        assert not any(sender.refused for sender in senders)
        acknowledged += [token for sender in senders for token in sender.acknowledged]
        sent += [token for sender in senders for token in sender.sent]
        hashes = stored_hashes(path)
        assert len(set(hashes)) == len(hashes)
        assert {token_hash(token) for token in acknowledged} <= set(hashes) <= {token_hash(token) for token in sent}
    assert len(acknowledged) > 20
    assert len(read_reports(path, SURVEY).groups) == len(hashes)
    with Store.open_or_create(path, SURVEY) as store:
        assert store._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize(("dies", "status"), [("before", 200), ("after", 409)])
def test_a_report_that_a_server_was_killed_over_twice_is_stored_once_when_it_is_sent_again(path, dies, status):
    (token,), (earlier,) = draw_tokens(1), draw_tokens(1)
    body, first = some_body(SURVEY, token), some_body(SURVEY, earlier)
    with serving_process(path) as (_, port), Client(port) as client:
        assert client.post(first)[0] == 200
    for _ in range(2):
        with serving_process(path, dies=dies) as (process, port), Client(port) as client:
            with pytest.raises((OSError, http.client.HTTPException)):
                client.post(body)
            assert process.wait(20) == -signal.SIGKILL
    with serving_process(path) as (_, port), Client(port) as client:
        assert [client.post(sent)[0] for sent in (body, first)] == [status, 409]
    assert sorted(stored_hashes(path)) == sorted(map(token_hash, (token, earlier)))


def test_a_server_that_is_told_to_stop_says_nothing_and_leaves_one_file(path):
    with serving_process(path) as (process, port), Client(port) as client:
        assert client.post(some_body(SURVEY))[0] == 200
        assert client.post(b"malformed")[0] == 400
        process.terminate()
        output, errors = process.communicate(timeout=20)
    assert (process.returncode, output, errors) == (0, b"", b"")
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert read_rejected(path, SURVEY)["malformed"] == 1


def test_no_report_is_acknowledged_before_its_transaction_ends(path, monkeypatch):
    gate, take = threading.Event(), Store.take

    def slow_take(store, entries, **options):
        outcomes = take(store, entries, **options)
        assert gate.wait(10)
        return outcomes

    monkeypatch.setattr(Store, "take", slow_take)
    with serve_in_thread(SURVEY, path) as server, Client(server.port, timeout=0.3) as client:
        with pytest.raises(TimeoutError):
            client.post(some_body(SURVEY))
        gate.set()


def test_a_store_that_cannot_be_written_is_told_and_the_same_report_is_taken_later(path, monkeypatch):
    body, take = some_body(SURVEY), Store.take

    def full_disk(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        monkeypatch.setattr(Store, "take", full_disk)
        assert client.post(b"malformed")[0] == 400
        assert client.post(body) == (503, {"ok": False, "reason": "try again later"})
        monkeypatch.setattr(Store, "take", take)
        assert client.post(body)[0] == 200
    assert read_rejected(path, SURVEY)["malformed"] == 1


def test_a_server_on_a_full_disk_acknowledges_nothing_that_it_does_not_hold(path):
    acknowledged, refused = [], []
    usual, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:

        def post(token):
            status, _ = client.post(some_body(SURVEY, token))
            assert status in (200, 503)
            (acknowledged if status == 200 else refused).append(token)

        post(*draw_tokens(1))
        full = Path(f"{path}-wal").stat().st_size + 30_000
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (full, hard))
            for token in draw_tokens(30):
                post(token)
            assert client.post(b"malformed")[0] == 400
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (usual, hard))
        assert refused
        assert len(acknowledged) > 1
        copy = shutil.copytree(path.parent, path.parent.with_name("as a kill would leave it"))
        assert {token_hash(token) for token in acknowledged} <= set(stored_hashes(copy / path.name))
        body = some_body(SURVEY, refused[-1])
        assert [client.post(body)[0], client.post(body)[0]] == [200, 409]
    assert sorted(stored_hashes(path)) == sorted(map(token_hash, [*acknowledged, refused[-1]]))
    assert read_rejected(path, SURVEY) == dict.fromkeys(REASONS, 0) | {"malformed": 1, "used": 1}


def test_a_store_that_is_moved_away_is_told_and_the_same_report_is_taken_when_it_is_back(path):
    body, aside = some_body(SURVEY), path.with_name("aside")
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        assert client.post(some_body(SURVEY))[0] == 200
        path.rename(aside)
        assert client.post(body) == (503, {"ok": False, "reason": "try again later"})
        assert client.post(b"malformed")[0] == 400
        aside.rename(path)
        assert client.post(body)[0] == 200
    assert len(read_reports(path, SURVEY).groups) == 2
    assert read_rejected(path, SURVEY)["malformed"] == 1


def test_a_store_that_another_process_locks_is_waited_for(path):
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        sender = threading.Thread(target=lambda: statuses.append(client.post(some_body(SURVEY))[0]))
        statuses = []
        sender.start()
        time.sleep(0.3)
        assert statuses == []
        other.execute("ROLLBACK")
        other.close()
        sender.join(15)
        assert statuses == [200]


@pytest.mark.parametrize("begin", [b"", b"POST /rep", b"POST /report HTTP/1.1\r\nContent-Length: 99\r\n\r\n{"])
def test_clients_that_send_slowly_are_cut_off_and_others_are_served(path, begin):
    patience = Patience(head=0.4, body=0.4, connections=8)
    with serve_in_thread(SURVEY, path, patience=patience) as server:
        slow = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(8)]
        try:
            start = time.monotonic()
            for connection in slow:
                connection.sendall(begin)
            time.sleep(0.1)
            with pytest.raises(OSError), Client(server.port) as client:
                client.post(some_body(SURVEY))
            for connection in slow:
                assert received(connection) == b""
            assert time.monotonic() - start < 3
            with Client(server.port) as client:
                assert client.post(some_body(SURVEY))[0] == 200
        finally:
            for connection in slow:
                connection.close()


def received(connection):
    """What a server sent before it hung up."""
    try:
        return connection.recv(1000)
    except ConnectionResetError:
        return b""


def drip(connection):
    """Send a head without an end, a byte at a time."""
    for letter in b"POST /report HTTP/1.1\r\n" + b"X: y\r\n" * 100:
        connection.sendall(bytes([letter]))
        time.sleep(0.05)


def test_a_byte_now_and_then_does_not_hold_a_connection(path):
    patience = Patience(head=0.5, body=0.5)
    with (
        serve_in_thread(SURVEY, path, patience=patience) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection,
    ):
        start = time.monotonic()
        with pytest.raises(OSError):
            drip(connection)
        assert time.monotonic() - start < 3


def test_a_client_that_never_reads_is_cut_off(path):
    patience = Patience(reply=0.4)
    with (
        serve_in_thread(SURVEY, path, page="x" * 5_000_000, patience=patience) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
        time.sleep(0.2)
        assert server.connections == 1
        deadline = time.monotonic() + 5
        while server.connections and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.connections == 0


def test_an_address_holds_a_bounded_number_of_connections(path):
    with serve_in_thread(SURVEY, path, patience=Patience(per_address=3)) as server:
        held = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(4)]
        assert received(held[3]) == b""
        assert server.connections == 3
        for connection in held:
            connection.close()


def test_an_address_may_hold_all_connections_where_it_is_that_of_a_proxy(path):
    with serve_in_thread(SURVEY, path, patience=Patience(connections=3, per_address=None)) as server:
        held = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(4)]
        assert received(held[3]) == b""
        assert server.connections == 3
        for connection in held:
            connection.close()


def test_the_addresses_of_a_household_hold_connections_together(path, monkeypatch):
    hosts = iter(range(1, 5))
    monkeypatch.setattr(asyncio.StreamWriter, "get_extra_info", lambda *_: (f"2001:db8:1:2::{next(hosts)}", 50_000))
    with serve_in_thread(SURVEY, path, patience=Patience(per_address=3)) as server:
        held = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(4)]
        assert received(held[3]) == b""
        assert server.connections == 3
        for connection in held:
            connection.close()


def test_stopping_answers_what_was_received_and_ends_idle_connections(path, monkeypatch):
    begun, gate, take = threading.Event(), threading.Event(), Store.take

    def slow_take(store, entries, **options):
        begun.set()
        gate.wait(10)
        return take(store, entries, **options)

    monkeypatch.setattr(Store, "take", slow_take)
    statuses = []
    with serve_in_thread(SURVEY, path) as server:
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        client = Client(server.port)
        sender = threading.Thread(target=lambda: statuses.append(client.post(some_body(SURVEY))[0]))
        sender.start()
        assert begun.wait(10)
        threading.Timer(0.2, gate.set).start()
        start = time.monotonic()
    sender.join(10)
    assert statuses == [200]
    assert time.monotonic() - start < 3
    assert received(idle) == b""
    idle.close()
    client.connection.close()
