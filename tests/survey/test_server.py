"""The server of a survey takes randomised reports, each once, and nothing else."""

import concurrent.futures
import datetime
import json
import logging
import re
import socket

import numpy as np
import pytest

from discreet.errors import CannotWrite
from discreet.survey.invitations import draw_tokens, invite
from discreet.survey.limits import Rate
from discreet.survey.store import Store, read_rejected, read_reports
from discreet.survey.submission import REASONS, body_of, largest_body, token_hash
from survey.serving import Client, serve_in_thread, some_body, survey_for

SURVEY = survey_for()
NONE = dict.fromkeys(REASONS, 0)
MALFORMED_REPORTS = 5_000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


def accepted(path, survey=SURVEY):
    return len(read_reports(path, survey).groups)


def raw_reply(port, request: bytes) -> bytes:
    """All that comes back for these bytes, until the server hangs up or nothing more comes."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_report_is_taken_once_and_its_repetition_is_told_and_counted(path):
    (token,) = draw_tokens(1)
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        assert client.post(some_body(SURVEY, token)) == (200, {"ok": True})
        assert client.post(some_body(SURVEY, token)) == (409, {"ok": False, "reason": "used"})
        assert client.post(some_body(SURVEY, token, seed=8)) == (409, {"ok": False, "reason": "used"})
    assert accepted(path) == 1
    assert read_rejected(path, SURVEY) == NONE | {"used": 2}


def test_the_stored_reports_are_the_bytes_that_were_sent(path):
    reports = SURVEY.encode({"paid": 1, "ways": 4})
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        assert client.post(body_of(SURVEY, draw_tokens(1)[0], reports))[0] == 200
    stored = read_reports(path, SURVEY).questions
    assert {name: rows.tobytes() for name, rows in stored.items()} == reports


def test_only_invited_tokens_are_taken_and_their_groups_are_stored(path):
    survey = survey_for(groups={"region": ["North", "South"]})
    with Store.open_or_create(path, survey) as store:
        ((_, north), (_, south)) = invite(store, 2, ["North", "South"])
    with serve_in_thread(survey, path, open_to_all=False) as server, Client(server.port) as client:
        assert client.post(some_body(survey)) == (403, {"ok": False, "reason": "unknown token"})
        assert [client.post(some_body(survey, token))[0] for token in (south, north)] == [200, 200]
    assert sorted(read_reports(path, survey).groups) == ["North", "South"]
    assert read_rejected(path, survey) == NONE | {"unknown token": 1}


def test_of_many_threads_with_one_token_exactly_one_is_told_that_it_was_taken(path):
    with serve_in_thread(SURVEY, path) as server:

        def post(body):
            with Client(server.port) as client:
                return client.post(body)[0]

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for token in draw_tokens(20):
                statuses = sorted(pool.map(post, [some_body(SURVEY, token, seed) for seed in range(8)]))
                assert statuses == [200] + [409] * 7
    assert accepted(path) == 20
    assert read_rejected(path, SURVEY) == NONE | {"used": 140}


def malformed_body(generator: np.random.Generator) -> bytes:
    """A body that is certainly no submission: any byte of one less or one more, or another value or key in it."""
    document = json.loads(some_body(SURVEY))
    good = json.dumps(document, separators=(",", ":")).encode()
    place = int(generator.integers(len(good)))
    wrong = [None, True, 0, 1.5, -1, "", "x" * 22, [], {}, [[1]], {"paid": "AQ"}, float("nan"), 10 ** int(place)]
    value = wrong[generator.integers(len(wrong))]
    match generator.integers(8):
        case 0:
            return good[:place] + good[place + 1 :]
        case 1:
            return good[:place] + bytes([generator.integers(128, 256)]) + good[place:]
        case 2:
            return good[:place]
        case 3:
            return generator.bytes(place)
        case 4:
            document[("v", "survey", "reports")[place % 3]] = value
        case 5:
            document["reports"][("paid", "ways")[place % 2]] = value
        case 6:
            return b"[" * place * 4
        case 7:
            document[f"key {place}"] = value
    return json.dumps(document).encode()


def test_malformed_reports_are_all_rejected_and_counted_and_none_is_a_fault_of_the_server(path):
    generator = np.random.default_rng(16)
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        statuses = [client.post(malformed_body(generator))[0] for _ in range(MALFORMED_REPORTS)]
        assert client.post(some_body(SURVEY))[0] == 200
    assert set(statuses) == {400, 413}
    assert accepted(path) == 1
    rejected = read_rejected(path, SURVEY)
    assert rejected == NONE | {"malformed": statuses.count(400), "too large": statuses.count(413)}


def test_requests_that_are_no_http_are_refused_without_a_fault_of_the_server(path):
    generator = np.random.default_rng(17)
    body = some_body(SURVEY)
    good = b"POST /report HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    heads = [
        *(
            b"\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET / HTTP/2.0\r\n\r\n",
            b"get / HTTP/1.1\r\n\r\n",
            b"GET  / HTTP/1.1\r\n\r\n",
        ),
        *(b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"GET / HTTP/1.1\r\n folded: x\r\n\r\n", b"\x16\x03\x01\r\n\r\n"),
        b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
        b"X" * 100_000,
        good.replace(b"Content-Length: ", b"Content-Length: -"),
        good.replace(b"Content-Length: ", b"Content-Length: +"),
        good.replace(b"Content-Length: ", b"Content-Length: 1\r\nContent-Length: "),
        good.replace(b"Host: x", b"Transfer-Encoding: chunked"),
        good.replace(b"Host: x", b"X : y"),
        *(good[:place] + generator.bytes(3) + good[place:] for place in range(0, len(good) - 4, 3)),
    ]
    with serve_in_thread(SURVEY, path) as server:
        for head in heads:
            reply = raw_reply(server.port, head + body)
            assert re.match(rb"HTTP/1\.1 (2|4)|$", reply)
        assert raw_reply(server.port, good + body)[:12] in (b"HTTP/1.1 200", b"HTTP/1.1 409")
    assert accepted(path) == 1


def test_a_body_above_the_size_of_a_submission_is_too_large_and_counted(path):
    limit = largest_body(SURVEY)
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        assert client.post(some_body(SURVEY).ljust(limit))[0] == 200
        assert client.post(some_body(SURVEY).ljust(limit + 1)) == (413, {"ok": False, "reason": "too large"})
        assert client.post(b"x" * 500_000)[0] == 413
        assert client.post(some_body(SURVEY))[0] == 200
    assert read_rejected(path, SURVEY) == NONE | {"too large": 2}


@pytest.mark.parametrize("slow", ["overall", "per_address"])
def test_reports_that_come_too_fast_are_told_so_and_counted(path, slow):
    with serve_in_thread(SURVEY, path, **{slow: Rate(0.001, 3)}) as server, Client(server.port) as client:
        replies = [client.post(some_body(SURVEY)) for _ in range(5)]
        assert client.send("GET", "/")[0] == 429
    assert replies == [(200, {"ok": True})] * 3 + [(429, {"ok": False, "reason": "too fast"})] * 2
    assert accepted(path) == 3
    assert read_rejected(path, SURVEY) == NONE | {"too fast": 2}


@pytest.mark.parametrize(("today", "status"), [(1, 403), (2, 200), (3, 200), (4, 200), (5, 403)])
def test_reports_are_taken_from_the_first_to_the_last_day(path, today, status):
    survey = survey_for(opens=datetime.date(2026, 11, 2), closes=datetime.date(2026, 11, 4))
    noon = datetime.datetime(2026, 11, today, 12, tzinfo=datetime.UTC).timestamp()
    with serve_in_thread(survey, path, clock=lambda: noon) as server, Client(server.port) as client:
        assert client.post(some_body(survey))[0] == status
        assert client.send("GET", "/")[0] == 200
    assert accepted(path, survey) == (status == 200)
    assert read_rejected(path, survey) == NONE | {"closed": int(status != 200)}


def test_a_daily_survey_takes_a_token_once_each_day(path):
    survey, now = survey_for(every="day"), [20_000 * 86_400.0]
    body = some_body(survey)
    with serve_in_thread(survey, path, clock=lambda: now[0]) as server, Client(server.port) as client:
        statuses = [client.post(body)[0], client.post(body)[0]]
        now[0] += 86_399
        statuses.append(client.post(body)[0])
        now[0] += 1
        statuses.append(client.post(body)[0])
    assert statuses == [200, 409, 409, 200]
    assert len(read_reports(path, survey, day=20_000).groups) == len(read_reports(path, survey, day=20_001).groups) == 1
    assert accepted(path, survey) == 1


def test_a_daily_survey_takes_no_second_draw_of_a_token_on_a_later_day(path):
    survey, now, (token,) = survey_for(every="day"), [20_000 * 86_400.0], draw_tokens(1)
    first, second = ({"paid": bytes([paid]), "ways": b"\x00\x00"} for paid in (0, 1))
    with serve_in_thread(survey, path, clock=lambda: now[0]) as server, Client(server.port) as client:
        assert client.post(body_of(survey, token, first))[0] == 200
        now[0] += 86_400
        assert client.post(body_of(survey, token, second)) == (409, {"ok": False, "reason": "used"})
        assert client.post(body_of(survey, token, first))[0] == 200
    assert read_reports(path, survey, day=20_001).questions["paid"].tolist() == [[0]]
    assert read_rejected(path, survey) == NONE | {"another draw": 1}


def test_page_and_vectors_are_served_and_nothing_else_is_there(path):
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        status, headers, page = client.send("GET", "/?from=mail")
        assert (status, headers["Content-Type"], page) == (200, "text/html; charset=utf-8", b"<p>page")
        status, headers, vectors = client.send("GET", "/vectors.json")
        assert (status, headers["Content-Type"], vectors) == (200, "application/json", b'{"v":1}')
        assert client.send("HEAD", "/")[2] == b""
        for target in ("/reports", "/report/", "/answers.sqlite", "//", "/../etc/passwd", "/%2e%2e/", "/favicon.ico"):
            assert client.send("GET", target)[0] == 404
        for method, target in (("GET", "/report"), ("DELETE", "/report"), ("POST", "/"), ("PUT", "/vectors.json")):
            status, headers, _ = client.send(method, target)
            assert status == 405
            assert method not in headers["Allow"]


def test_every_reply_forbids_to_guess_to_refer_and_to_store(path):
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        requests = [("GET", "/", None), ("GET", "/x", None), ("PUT", "/", b"x"), ("POST", "/report", b"x")]
        requests += [
            ("POST", "/report", some_body(SURVEY)),
            ("POST", "/report", b"x" * 9_999),
            ("OPTIONS", "/report", None),
        ]
        for request in requests:
            _, headers, _ = client.send(*request)
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["Cache-Control"] == "no-store"
            assert headers["Server"] is None


def test_a_page_that_is_hosted_elsewhere_may_send_reports(path):
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        status, headers, body = client.send("OPTIONS", "/report")
        assert (status, body) == (204, b"")
        assert headers["Access-Control-Allow-Headers"] == "Content-Type"
        for sent in (some_body(SURVEY), b"malformed", b"x" * 9_999):
            assert client.send("POST", "/report", sent)[1]["Access-Control-Allow-Origin"] == "*"


def test_replies_have_one_form_and_repeat_nothing_that_was_sent(path):
    (token,) = draw_tokens(1)
    body = some_body(SURVEY, token)
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        replies = [
            client.send("POST", "/report", sent) for sent in (body, body, body.replace(b"1", b"2", 1), b"x" * 9_999)
        ]
    assert [status for status, _, _ in replies] == [200, 409, 400, 413]
    forms = {tuple(sorted(headers)) for _, headers, _ in replies}
    assert len(forms) == 1
    for _, headers, reply in replies:
        assert set(json.loads(reply)) <= {"ok", "reason"}
        assert token.encode() not in str(headers).encode() + reply


def test_nothing_is_logged(path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    (token,) = draw_tokens(1)
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        caplog.clear()
        for body in (some_body(SURVEY, token), some_body(SURVEY, token), b"x", b"x" * 9_999):
            client.post(body)
        client.send("GET", f"/?t={token}")
        raw_reply(server.port, b"no http\r\n\r\n")
        with socket.create_connection(("127.0.0.1", server.port)) as broken:
            broken.sendall(b"POST /report HTTP/1.1\r\nContent-Length: 50\r\n\r\nx")
    told = caplog.text + "".join(capfd.readouterr())
    assert token not in told
    assert "127.0.0.1" not in told
    assert told == ""


def test_stored_bytes_hold_no_address_and_no_token(path):
    (token,) = draw_tokens(1)
    with serve_in_thread(SURVEY, path) as server, Client(server.port) as client:
        client.post(some_body(SURVEY, token))
        content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert token_hash(token) in content
    assert token.encode() not in content
    assert b"127.0.0.1" not in content


def test_requests_sent_at_once_are_answered_in_their_order(path):
    bodies = [some_body(SURVEY), b"{}"]
    request = b"".join(b"POST /report HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    with serve_in_thread(SURVEY, path) as server:
        reply = raw_reply(server.port, request + b"GET / HTTP/1.0\r\n\r\n")
    assert re.findall(rb"HTTP/1\.1 (\d+)", reply) == [b"200", b"400", b"200"]


def test_a_client_that_asks_before_it_sends_its_body_is_told_to_go_on(path):
    body = some_body(SURVEY)
    head = b"POST /report HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serve_in_thread(SURVEY, path) as server:
        assert re.findall(rb"HTTP/1\.1 (\d+)", raw_reply(server.port, head + body)) == [b"100", b"200"]


def test_a_port_that_is_taken_is_refused(path, tmp_path):
    with serve_in_thread(SURVEY, path) as server:
        other = serve_in_thread(SURVEY, tmp_path / "other.sqlite", port=server.port)
        with pytest.raises(CannotWrite, match="cannot listen"), other:
            pass
