"""The page of a survey in headless Chromium: what leaves it, how often, and whether chance does what is stated.

A proxy records every request.  Each test has a host, and so a storage, of its own.
"""

import dataclasses
import itertools
import json
import re
import threading
from base64 import urlsafe_b64decode
from collections import Counter
from datetime import date
from fractions import Fraction

import pytest
from scipy.stats import chi2

from discreet.local import face
from discreet.survey import page as page_module
from discreet.survey.page import page
from discreet.survey.question import Question
from discreet.survey.reading import survey_of
from discreet.survey.server import Server
from discreet.survey.store import Store
from discreet.survey.vectors import vectors
from survey.browser import Recorder, open_browser

TAB, ENTER, SPACE, UP, DOWN = "\ue004", "\ue007", " ", "\ue013", "\ue015"
TOKEN = "AAAAAAAAAAAAAAAAAAAAAA"
OTHER_TOKEN = "B" * 21 + "A"
FALSE_ALARM = 1e-6
DRAWS = 40_000
NUMBERS = itertools.count()
YES_NO = {"text": "Did you leave income out?", "values": ["no", "yes"], "required": True}
PARTY = {"text": "Which party?", "values": ["Left", "Zanzibarite", "Green"], "method": "k-ary"}
PLACE = {"text": "Which place?", "values": [f"place {index}" for index in range(40)], "method": "hashed"}
SETS = {"text": "Which fruit?", "values": list("abcdefghij"), "method": "subset"}
MARKS = {"text": "Which colour?", "values": ["red", "green", "blue"], "method": "unary"}
HOURS = {"text": "How many hours?", "low": 1000000, "high": 1000100, "step": "0.5", "required": True}


def survey(*questions, **more):
    listed = {f"q{index}": question for index, question in enumerate(questions)}
    return survey_of({"title": "Tax", "consent": "You are free.", "epsilon": "4", "questions": listed} | more)


@pytest.fixture(scope="module")
def recorder():
    recorder = Recorder()
    yield recorder
    recorder.stop()


@pytest.fixture(scope="module")
def browser(recorder, tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile"), recorder.port) as browser:
        yield browser


@pytest.fixture
def opened(browser, recorder):
    """A function that serves a survey on a fresh host and opens it; scripts run before the page's own."""
    scripts = []

    def open_survey(asked, *, script="", fragment="", text=None, **more):
        host = f"survey{next(NUMBERS)}.test"
        site = recorder.serve(host, text or page(asked), **more)
        if script:
            scripts.append(browser.before_load(script))
        browser.open(f"http://{host}/{fragment}")
        return site

    yield open_survey
    for identifier in scripts:
        browser.forget(identifier)
    browser.open("about:blank")


def words_stub(*words):
    """A script that makes the browser's generator repeat these words."""
    return f"""{{ const words = {list(words)}; let place = 0;
        Crypto.prototype.getRandomValues = (array) => array.map(() => words[place++ % words.length]); }}"""


def choose(browser, question, value):
    browser.click(f"#q{question} label:nth-of-type({value + 1})")


def bodies(site):
    return {request.body for request in site.posts}


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_the_page_is_answered_by_keyboard_alone(browser, opened):
    site = opened(survey(YES_NO, PARTY, PLACE, HOURS))
    browser.press(TAB, SPACE, DOWN, TAB, DOWN, TAB, UP, TAB, *"1000042", TAB)
    assert browser.run("return document.activeElement.id") == "send"
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press(ENTER)
    browser.wait_for_status("received")
    assert len(site.posts) == 1
    text = browser.text("#reports")
    assert all(f"You said {said}." in text for said in ("yes", "Left", "place 39", "1000042"))


def test_the_page_is_answered_by_touch_on_a_phone_without_scrolling_sideways(browser, opened):
    long = YES_NO | {"text": "W" * 120, "values": ["n" * 90, "yes"]}
    width = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.cdp("Emulation.setDeviceMetricsOverride", **width)
    browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        site = opened(survey(long, PARTY, PLACE, HOURS | {"low": 0, "high": 10}, title="T" * 80))
        widest = "return Math.max(document.documentElement.scrollWidth, visualViewport.width)"
        assert browser.run(widest) == 360
        heights = (
            "return [...document.querySelectorAll('label, select, button:not([hidden])')].map(n => n.offsetHeight)"
        )
        assert min(browser.run(heights)) >= 44
        browser.tap("#q0 label:nth-of-type(2)")
        browser.run("document.querySelector('#q3 input').value = '7.5'")
        browser.tap("#send")
        browser.wait_for_status("received")
        assert browser.run(widest) == 360
        assert len(site.posts) == 1
    finally:
        browser.cdp("Emulation.clearDeviceMetricsOverride")
        browser.cdp("Emulation.setTouchEmulationEnabled", enabled=False)


def test_light_and_dark_pages_have_readable_text(browser, opened):
    opened(survey(YES_NO))
    colours = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    backgrounds = set()
    try:
        for scheme in ("light", "dark"):
            browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            ink, paper = (luminance(colour) for colour in browser.run(colours))
            assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 7
            backgrounds.add(paper)
    finally:
        browser.cdp("Emulation.setEmulatedMedia", features=[])
    assert len(backgrounds) == 2


def luminance(colour):
    """The relative luminance of `rgb(r, g, b)`, as WCAG defines it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_required_question_without_an_answer_is_named_and_nothing_is_sent(browser, opened):
    site = opened(survey(PARTY, YES_NO, HOURS))
    browser.click("#send")
    assert "still needs an answer" in browser.text("#status")
    assert browser.text("#q1-problem")
    assert browser.run("return document.activeElement.closest('fieldset').id") == "q1"
    choose(browser, 1, 0)
    browser.run("document.querySelector('#q2 input').value = '1000000.25'")
    browser.click("#send")
    assert "1000100" in browser.text("#q2-problem")
    assert not site.posts
    assert not browser.storage()


def test_a_number_in_tiny_steps_is_answered_exactly(browser, opened):
    site = opened(survey(HOURS | {"low": "-0.5", "high": "-0.4999", "step": "1e-7"}))
    assert "From −0.5 to −0.4999, in steps of 0.0000001." in browser.text("#q0")
    browser.run("document.querySelector('#q0 input').value = '-0.4999997'")
    browser.click("#send")
    browser.wait_for_status("received")
    assert "You said −0.4999997." in browser.text("#reports")
    assert len(site.posts) == 1


def test_the_page_says_what_leaves_before_and_what_has_left_after(browser, opened):
    opened(survey(YES_NO, epsilon="1"), script=words_stub(2**32 - 1))
    before = browser.text("#leaving")
    assert "Of 100 who truly say no, 27 send yes." in before
    assert "ε = 1" in before
    assert "2.72 times" in before
    assert "a private window or cleared storage draws anew, and each draw costs ε again" in before
    choose(browser, 0, 0)
    browser.click("#send")
    browser.wait_for_status("received")
    assert "You said no. This leaves your device: “yes”." in browser.text("#reports")
    browser.reload()
    after = browser.text("#reports")
    assert "You said" not in after
    assert "This leaves your device: “yes”." in after


def test_sentences_about_chance_give_the_numbers_of_the_exact_law(browser, opened):
    asked = survey(YES_NO, PARTY, MARKS, HOURS | {"low": 0, "high": 8, "step": 1}, mode="split")
    opened(asked)
    sentences = [
        browser.run("return discreet.lawSentence(discreet.survey.questions[arguments[0]])", q) for q in range(4)
    ]
    numbers = [[int(text) for text in re.findall(r"[0-9]+", sentence)] for sentence in sentences]
    yes_no, party, marks, hours = (question.protocol for question in asked.questions)
    assert numbers[0] == [100, of_hundred(yes_no.law("no")[b"\x01"])]
    own = party.law("Left")[b"\x00"]
    assert numbers[1] == [100, of_hundred(own), of_hundred(1 - own)]
    marked = [sum(chance for bits, chance in marks.law(value).items() if bits[0] & 1) for value in ("red", "green")]
    assert numbers[2] == [100, of_hundred(marked[0]), 100, of_hundred(marked[1])]
    code, law = asked.compiled["questions"][3]["protocol"], {bits[0]: p for bits, p in hours.law(0).items()}
    ranges, fitting = (
        sum(law[out] for out in range(size)) for size in (code["steps"] + code["window"], code["window"])
    )
    high = law[code["steps"] + code["window"] + 1] / (1 - ranges)
    top = hours.law(8)[bytes([code["steps"] + code["window"] + 1])] / (1 - ranges)
    ends = [100, 0, of_hundred(high), 100, 8, of_hundred(top)]
    assert numbers[3] == [100, of_hundred(fitting), of_hundred(ranges - fitting), *ends]


@pytest.mark.parametrize(("count", "epsilon", "chosen"), [(6, "0.5", 2), (11, "0.1", 5), (6, "4", 1)])
def test_sentences_about_lists_of_answers_give_the_numbers_of_the_exact_law(browser, opened, count, epsilon, chosen):
    asked = survey(SETS | {"values": list("abcdefghijk")[:count], "required": True}, epsilon=epsilon)
    assert asked.compiled["questions"][0]["protocol"]["chosen"] == chosen
    opened(asked)
    sentence = browser.run("return discreet.lawSentence(discreet.survey.questions[0])")
    law = asked.questions[0].protocol.law("a")
    own, other = (of_hundred(sum(chance for bits, chance in law.items() if bits[0] & bit)) for bit in (1, 2))
    if chosen == 1:
        said = f"One answer is sent. Of 100 people, {own} send their own answer, and {other} any other answer you name."
    else:
        said = f"A list of {chosen} answers is sent. Of 100 people, {own} send a list with their own answer, and "
        said += f"{other} a list with any other answer you name."
    assert sentence == said


@pytest.mark.parametrize(
    ("epsilon", "sent"), [("4", "“a”."), ("1", "a list of “a”, "), ("0.01", "a list of 10 answers, among them “a”, ")]
)
def test_a_list_that_is_sent_is_named_in_words(browser, opened, epsilon, sent):
    listed = SETS | {"values": list("abcdefghijklmnopqrst"), "required": True}
    opened(survey(listed, epsilon=epsilon), script=words_stub(0))
    browser.run("document.querySelector('select').value = '0'")
    browser.click("#send")
    browser.wait_for_status("received")
    assert f"This leaves your device: {sent}" in browser.text("#reports")


def of_hundred(chance):
    return int(100 * chance + Fraction(1, 2))


def test_texts_of_a_survey_are_shown_and_never_run(browser, opened):
    evil = '</script><script>window.ran = 1</script><img src=x onerror="window.ran = 2">{{script}}'
    opened(survey(YES_NO | {"text": evil, "values": [evil, "yes"]}, title=evil, consent=evil, contact=evil))
    assert browser.run("return window.ran || 0") == 0
    assert browser.text("h1") == evil
    assert browser.text("legend") == evil
    assert browser.text("#q0 label") == evil


# --- what leaves -----------------------------------------------------------------------------------------------------


def test_requests_and_storage_are_the_same_for_different_answers_when_chance_hides_them(browser, opened):
    asked = survey(YES_NO, PARTY, PLACE, SETS, MARKS, HOURS, mode="split")
    seen = []
    for yes_no, party, hours in ((0, 3, "1000000"), (1, 1, "1000073.5")):
        site = opened(asked, script=words_stub(2**32 - 2**20))  # no choice is rejected, no coin falls on the truth
        choose(browser, 0, yes_no)
        choose(browser, 1, party)
        browser.run("document.querySelector('#q5 input').value = arguments[0]", hours)
        browser.click("#send")
        browser.wait_for_status("received")
        assert f"You said {hours}." in browser.text("#reports")
        sent = [(request.method, request.path, request.body) for request in site.posts]
        seen.append((sent, browser.storage(), browser.run("return document.cookie + sessionStorage.length")))
    assert seen[0] == seen[1]
    assert len(seen[0][0]) == 1


def test_the_exact_answer_is_in_no_request_no_storage_and_no_file_of_the_browser(recorder, tmp_path):
    host = f"survey{next(NUMBERS)}.test"
    site = recorder.serve(host, page(survey(HOURS, PARTY)))
    with open_browser(tmp_path, recorder.port) as browser:
        browser.open(f"http://{host}/")
        choose(browser, 1, 1)
        browser.run("document.querySelector('#q0 input').focus()")
        browser.press(*"1000073.5")
        browser.click("#send")
        browser.wait_for_status("received")
        assert "You said 1000073.5." in browser.text("#reports")
        browser.reload()
        report, received = sorted(browser.storage().values(), key=len, reverse=True)
        elsewhere = """const done = arguments[arguments.length - 1];
            indexedDB.databases().then((list) => done([document.cookie, sessionStorage.length, list.length]))"""
        assert browser.call("POST", "/execute/async", script=elsewhere, args=[]) == ["", 0, 0]
    assert set(json.loads(report)) == {"token", "reports"}
    assert len(received) == len("2026-11-18")
    token = json.loads(report)["token"].encode()
    requests = "\n".join(map(repr, recorder.requests)).encode()
    assert token in requests
    assert not any(word in requests for word in (b"1000073", b"Zanzibarite"))
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(token in content for content in files)  # the browser has written its storage to disk
    assert not any(b"1000073" in content for content in files)
    assert len(site.posts) == 1


def test_pages_with_and_without_answers_send_equally_long_requests(browser, opened):
    lengths = set()
    for mode, party, place in itertools.product(("split", "sampled"), (0, 3), ("0", "40")):
        site = opened(survey(PARTY, PLACE, MARKS, mode=mode))
        choose(browser, 0, party)
        browser.run("document.querySelector('#q1 select').value = arguments[0]", place)
        browser.click("#send")
        browser.wait_for_status("received")
        (request,) = site.posts
        headers = {name: text.replace(site.host, "host") for name, text in request.headers.items()}
        lengths.add((mode, len(request.body), len(str(headers))))
    assert len(lengths) == 2


def test_the_page_makes_no_request_outside_its_origin(browser, opened, recorder):
    browser.call("POST", "/se/log", type="performance")
    site = opened(survey(YES_NO))
    choose(browser, 0, 1)
    browser.click("#send")
    browser.wait_for_status("received")
    events = [json.loads(entry["message"])["message"] for entry in browser.call("POST", "/se/log", type="performance")]
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    own = [url for url in urls if not url.startswith(("data:", "about:"))]
    assert own == [f"http://{site.host}/", f"http://{site.host}/report"]
    attempt = """const done = arguments[arguments.length - 1];
        fetch("http://outside.test/").then(() => done("sent"), () => done("blocked"))"""
    assert browser.call("POST", "/execute/async", script=attempt, args=[]) == "blocked"
    browser.run("document.body.append(Object.assign(new Image(), {src: 'http://outside.test/picture'}))")
    assert not [request for request in recorder.requests if request.host == "outside.test"]


# --- one report, however often it is sent ----------------------------------------------------------------------------


def test_double_tap_reload_and_back_send_one_distinct_report(browser, opened):
    site = opened(survey(PLACE, PLACE, PLACE), reply=lambda count, request: 503 if count < 4 else 200)
    browser.run("const send = document.getElementById('send'); send.click(); send.click(); send.click();")
    browser.wait_for_status("waiting")
    assert len(site.posts) < 3  # three taps send once, and at times the page has tried again by itself
    browser.reload()
    browser.wait_for_status("waiting")
    browser.open("about:blank")
    browser.back()
    browser.wait("return document.getElementById('status').dataset.kind !== 'sending'")
    browser.run("const retry = document.getElementById('retry'); retry.click(); retry.click();")
    browser.wait_for_status("received")
    browser.reload()
    browser.wait_for_status("received")
    assert len(site.posts) >= 4  # a slow machine gives the page time to try again by itself
    assert len(bodies(site)) == 1


def test_a_lost_network_sends_the_same_report_once_it_is_back(browser, opened):
    site = opened(survey(PLACE, PLACE, PLACE))
    conditions = {"latency": 0, "download_throughput": 10**7, "upload_throughput": 10**7}
    browser.call("POST", "/chromium/network_conditions", network_conditions=conditions | {"offline": True})
    try:
        browser.click("#send")
        browser.wait_for_status("waiting")
        stored = browser.storage()
        assert not site.posts
    finally:
        browser.call("POST", "/chromium/network_conditions", network_conditions=conditions | {"offline": False})
    browser.wait_for_status("received")
    browser.call("DELETE", "/chromium/network_conditions")
    assert len(bodies(site)) == 1
    assert stored.items() <= browser.storage().items()


def test_an_edit_of_title_contact_or_dates_does_not_draw_anew(browser, opened):
    asked = survey(PLACE, PLACE, PLACE)
    site = opened(asked, reply=lambda count, request: 503 if count == 1 else 200)
    browser.click("#send")
    browser.wait_for_status("waiting")
    site.page = page(dataclasses.replace(asked, title="Taxes", contact="room 12", closes=date(2999, 1, 1)))
    browser.reload()
    browser.wait_for_status("received")
    assert "room 12" in browser.text()
    assert len(site.posts) == 2
    assert len(bodies(site)) == 1


def drop_first(count, request):
    return None if count == 1 else 200


def test_a_dropped_response_is_followed_by_the_same_bytes(browser, opened):
    site = opened(survey(PLACE, PLACE, PLACE), reply=drop_first)
    browser.click("#send")
    browser.wait_for_status("received")
    assert len(site.posts) >= 2
    assert len(bodies(site)) == 1


def test_a_page_that_draws_anew_for_each_attempt_is_caught(browser, opened, monkeypatch):
    memory = "await post(stored)"
    forgetful = "await post({ token: stored.token, reports: encodeSubmission(survey, exact, systemWord) })"
    site = opened(None, text=mutant(survey(PLACE, PLACE, PLACE), memory, forgetful, monkeypatch), reply=drop_first)
    browser.click("#send")
    browser.wait_for_status("received")
    assert len(bodies(site)) > 1


def mutant(asked, before, after, monkeypatch):
    """The page with a line of its script replaced."""
    original = page_module.asset
    assert page_module.script_text().count(before) == 1
    with monkeypatch.context() as patch:
        patch.setattr(page_module, "asset", lambda name: original(name).replace(before, after))
        return page(asked)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_gets_the_same_report_later(browser, opened, status):
    site = opened(survey(PLACE), reply=lambda count, request: status if count == 1 else 409)
    browser.click("#send")
    browser.wait_for_status("received")
    assert len(site.posts) == 2
    assert len(bodies(site)) == 1


@pytest.mark.parametrize(
    ("every", "nothing"), [("once", "Nothing more is sent."), ("day", "Nothing more is sent today.")]
)
def test_a_used_invitation_is_not_thanked_for_and_nothing_more_is_sent(browser, opened, every, nothing):
    site = opened(survey(PLACE, every=every), fragment=f"#t={TOKEN}", reply=lambda count, request: 409)
    browser.click("#send")
    browser.wait_for_status("received")
    for _ in range(2):
        said = browser.text("#status")
        assert said.startswith("A report under this invitation was received")
        assert "unless another was sent from another browser" in said
        assert said.endswith(nothing)
        browser.reload()
        browser.wait_for_status("received")
    assert len(site.posts) == 1


def test_the_report_is_stored_before_it_is_sent(browser, opened):
    arrived, looked = threading.Event(), threading.Event()

    def hold(count, request):
        arrived.set()
        looked.wait(20)
        return 200

    site = opened(survey(PLACE, YES_NO | {"required": False}), reply=hold)
    try:
        browser.click("#send")
        assert arrived.wait(10)
        ((key, text),) = browser.storage().items()
    finally:
        looked.set()
    browser.wait_for_status("received")
    sent = json.loads(site.posts[0].body)
    assert json.loads(text) == {"token": sent["token"], "reports": sent["reports"]}
    assert key == f"discreet:{sent['survey']}"


DENIED = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
FORGETFUL = "Storage.prototype.setItem = () => {}"


@pytest.mark.parametrize("script", [DENIED, FULL, FORGETFUL])
def test_without_storage_nothing_is_sent_and_the_page_says_why(browser, opened, script):
    site = opened(survey(PLACE), script=script)
    browser.run("document.getElementById('send') && document.getElementById('send').click()")
    browser.wait_for_status("problem")
    assert "does not let the page store the report" in browser.text("#status")
    assert not site.posts


NO_RECEIPT = """{ const real = Storage.prototype.setItem;
    Storage.prototype.setItem = function (key, text) {
        if (key.endsWith(":received")) throw new DOMException("full", "QuotaExceededError");
        real.call(this, key, text);
    }; }"""


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (200, "received", "Your report was received."),
        (409, "received", "A report with the code of this browser was received before."),
        (403, "problem", "The server did not accept the report."),
    ],
)
def test_a_receipt_that_cannot_be_stored_is_not_told_as_a_report_that_was_not_sent(
    browser, opened, status, kind, sentence
):
    site = opened(survey(PLACE, PLACE), script=NO_RECEIPT, reply=lambda count, request: status)
    browser.click("#send")
    browser.wait_for_status(kind)
    said = browser.text("#status")
    assert said.startswith(sentence)
    assert said.endswith(
        "This browser could not store that, so the same report is sent again when this page is opened."
    )
    browser.reload()
    browser.wait_for_status(kind)
    assert len(site.posts) >= 2
    assert len(bodies(site)) == 1


def test_a_stored_report_that_cannot_be_read_is_not_drawn_anew(browser, opened):
    asked = survey(PLACE)
    site = opened(asked)
    browser.run("localStorage.setItem(arguments[0], '{\"token\":')", f"discreet:{asked.digest}")
    browser.click("#send")
    browser.wait_for_status("problem")
    browser.reload()
    assert "cannot be read" in browser.text("#status")
    assert not site.posts


# --- invitations, dates, days and places ------------------------------------------------------------------------------


def test_the_token_of_an_invitation_is_sent_and_an_incomplete_one_is_not(browser, opened):
    site = opened(survey(PLACE), fragment=f"#t={TOKEN}")
    browser.click("#send")
    browser.wait_for_status("received")
    assert json.loads(site.posts[0].body)["token"] == TOKEN
    cut = opened(survey(PLACE), fragment=f"#t={TOKEN[:-1]}")
    browser.click("#send")
    browser.wait_for_status("problem")
    assert "incomplete" in browser.text("#status")
    assert not cut.posts
    assert not browser.storage()


def test_a_refused_token_gives_way_to_an_invitation_when_asked_and_the_reports_stay(browser, opened):
    accepts = lambda count, request: 200 if json.loads(request.body)["token"] == TOKEN else 403  # noqa: E731
    site = opened(survey(PLACE, PLACE), reply=accepts)
    browser.click("#send")
    browser.wait_for_status("problem")
    for _ in range(2):
        browser.open("about:blank")
        browser.open(f"http://{site.host}/#t={TOKEN}")
        browser.wait_for_status("problem")
        assert "Only if it is your own" in browser.text("#status")
        assert len(site.posts) == 1
    browser.click("#renew")
    browser.wait_for_status("received")
    first, second = (json.loads(request.body) for request in site.posts)
    assert first["token"] != second["token"]
    assert first["reports"] == second["reports"]
    assert "This leaves your device" in browser.text("#reports")
    assert not browser.run("return document.getElementById('renew').checkVisibility()")


def test_the_link_of_a_second_person_in_the_same_tab_shows_nothing_of_the_first(browser, opened):
    site = opened(survey(YES_NO), fragment=f"#t={TOKEN}")
    choose(browser, 0, 1)
    browser.click("#send")
    browser.wait_for_status("received")
    assert "You said yes." in browser.text("#reports")
    stored = browser.storage()
    browser.open(f"http://{site.host}/#t={OTHER_TOKEN}")
    browser.wait_for_status("problem")
    assert "under another invitation" in browser.text("#status")
    assert "another browser, in another profile or on another device" in browser.text("#status")
    seen = browser.run("return document.querySelector('main').textContent")
    assert "You said" not in seen
    assert "This leaves your device" not in seen
    assert not browser.run("return document.getElementById('renew').checkVisibility()")
    assert browser.storage() == stored
    assert len(site.posts) == 1


def test_a_link_in_the_same_tab_empties_a_form_that_was_being_filled_in(browser, opened):
    site = opened(survey(YES_NO, PLACE), fragment=f"#t={TOKEN}")
    choose(browser, 0, 1)
    browser.run("document.querySelector('select').value = '7'; window.isFirst = true")
    browser.open(f"http://{site.host}/#t={OTHER_TOKEN}")
    browser.wait("return !window.isFirst && document.getElementById('send')")
    assert not browser.run("return document.querySelector('#q0 :checked')")
    assert browser.run("return document.querySelector('select').value") == "40"
    choose(browser, 0, 0)
    browser.click("#send")
    browser.wait_for_status("received")
    assert json.loads(site.posts[0].body)["token"] == OTHER_TOKEN


def test_a_page_that_is_left_forgets_the_exact_answers(browser, opened):
    leave = "dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))"
    opened(survey(YES_NO, PLACE))
    choose(browser, 0, 1)
    browser.run(leave)
    assert not browser.run("return document.querySelector('#q0 :checked')")
    assert browser.run("return document.querySelector('select').value") == "40"
    choose(browser, 0, 1)
    browser.click("#send")
    browser.wait_for_status("received")
    assert "You said yes." in browser.text("#reports")
    browser.run(leave)
    assert "You said" not in browser.run("return document.querySelector('main').textContent")
    assert "This leaves your device" in browser.text("#reports")


def test_a_report_waits_for_the_link_of_its_own_invitation(browser, opened):
    ready = threading.Event()
    reply = lambda count, request: 200 if ready.is_set() else 503  # noqa: E731
    site = opened(survey(PLACE, PLACE), fragment=f"#t={TOKEN}", reply=reply)
    browser.click("#send")
    browser.wait_for_status("waiting")
    browser.open("about:blank")
    ready.set()
    before = len(site.posts)
    browser.open(f"http://{site.host}/#t={OTHER_TOKEN}")
    browser.wait_for_status("problem")
    browser.run("dispatchEvent(new Event('online')); document.getElementById('retry').click()")
    assert "under another invitation" in browser.text("#status")
    assert len(site.posts) == before
    browser.open("about:blank")
    browser.open(f"http://{site.host}/#t={TOKEN}")
    browser.wait_for_status("received")
    assert len(site.posts) == before + 1
    assert len(bodies(site)) == 1


@pytest.mark.parametrize("dates", [{"opens": "2999-01-01"}, {"closes": "2001-01-01"}])
def test_outside_its_dates_a_survey_says_so_and_sends_nothing(browser, opened, dates):
    asked = survey(PLACE)
    site = opened(dataclasses.replace(asked, **{name: date.fromisoformat(day) for name, day in dates.items()}))
    assert next(iter(dates.values())) in browser.text("#status")
    assert not browser.run("return document.getElementById('send').checkVisibility()")
    browser.run("document.getElementById('send').click()")
    assert not site.posts
    assert not browser.storage()


def test_a_daily_report_is_sent_again_on_another_day_with_the_same_bytes(browser, opened):
    asked = survey(PLACE, PLACE, every="day")
    site = opened(asked)
    assert "holds for all days together" in browser.text("#leaving")
    browser.click("#send")
    browser.wait_for_status("received")
    browser.reload()
    browser.wait_for_status("received")
    assert len(site.posts) == 1
    browser.run("localStorage.setItem(arguments[0], '2026-01-01')", f"discreet:{asked.digest}:received")
    browser.reload()
    browser.wait_for_status("received")
    assert len(site.posts) == 2
    assert len(bodies(site)) == 1


def test_a_page_from_disk_sends_to_its_server_or_says_that_it_has_none(browser, recorder, opened, tmp_path):
    site = recorder.serve("elsewhere.test", "")
    path = tmp_path / "page.html"
    path.write_text(page(survey(PLACE), "http://elsewhere.test"), encoding="utf-8")
    browser.open(path.as_uri())
    browser.click("#send")
    browser.wait_for_status("received")
    assert len(site.posts) == 1
    path.write_text(page(survey(PARTY)), encoding="utf-8")
    browser.open(path.as_uri())
    browser.click("#send")
    browser.wait_for_status("problem")
    assert "names no server" in browser.text("#status")


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_the_survey_server_takes_what_the_page_sends(browser, opened, recorder, tmp_path, is_elsewhere):
    asked = survey(YES_NO, PARTY, PLACE, MARKS, mode="sampled")
    with Store.open_or_create(tmp_path / "answers.sqlite", asked) as store:
        server = Server(asked, store, page=page(asked), vectors="[]", open_to_all=True)
        server.start()
        try:
            site = recorder.serve(f"server{next(NUMBERS)}.test", "", upstream=server.port)
            if is_elsewhere:
                opened(asked, text=page(asked, f"http://{site.host}"))
            else:
                browser.open(f"http://{site.host}/")
            choose(browser, 0, 1)
            browser.click("#send")
            browser.wait_for_status("received")
        finally:
            server.stop()
    assert len(site.posts) == 1
    reports = json.loads(site.posts[0].body)["reports"]
    decoded = {name: urlsafe_b64decode(text + "==") for name, text in reports.items()}
    assert all(question.is_report(decoded[question.name]) for question in asked.questions)


def test_two_tabs_send_one_distinct_report(browser, opened):
    site = opened(survey(PLACE, PLACE, PLACE), reply=lambda count, request: 200 if count == 1 else 409)
    first = browser.call("GET", "/window")
    second = browser.call("POST", "/window/new", type="tab")["handle"]
    browser.call("POST", "/window", handle=second)
    try:
        browser.open(f"http://{site.host}/")
        late = "setTimeout(() => document.getElementById('send').click(), arguments[0] - Date.now())"
        start = browser.run("return Date.now() + 500")
        for handle in (first, second):
            browser.call("POST", "/window", handle=handle)
            browser.run(late, start)
        said = ""
        for handle in (first, second):
            browser.call("POST", "/window", handle=handle)
            browser.wait_for_status("received")
            said += browser.text("#reports")
        assert said.count("You said") == 3  # in the tab that drew the report alone
    finally:
        browser.call("POST", "/window", handle=second)
        browser.call("DELETE", "/window")
        browser.call("POST", "/window", handle=first)
    assert len(bodies(site)) == 1


# --- chance ----------------------------------------------------------------------------------------------------------

LAWS = {
    "response": (survey(YES_NO, epsilon="1"), 0),
    "k-ary": (survey(PARTY, epsilon="1"), 2),
    "hashed": (survey(PLACE | {"values": ["a", "b", "c", "d"]}, epsilon="1"), 3),
    "subset": (survey(SETS | {"values": list("abcdef"), "required": True}, epsilon="0.5"), 4),
    "unary": (survey(MARKS, epsilon="1"), 1),
    "number": (survey(HOURS | {"low": 0, "high": 8, "step": 1}, epsilon="1"), 5),
}


def draw_counts(browser, answer):
    """How often each report came in so many draws by the page's own code and generator."""
    script = """const counts = {};
        for (let draw = 0; draw < arguments[1]; draw++) {
            const report = discreet.draw({q0: arguments[0]}).q0;
            counts[report] = (counts[report] || 0) + 1;
        }
        return counts;"""
    counts = browser.run(script, answer, DRAWS)
    return Counter({urlsafe_b64decode(text + "=="): count for text, count in counts.items()})


def is_rejected(counts, law):
    """Pearson's test: whether so many draws are too far from the law, with a false alarm of at most 10⁻⁶ in all."""
    if not set(counts) <= {report for report, chance in law.items() if chance}:
        return True
    expected = {report: DRAWS * float(chance) for report, chance in law.items() if chance}
    assert min(expected.values()) > 50  # so that the χ² law is close to the true one
    statistic = sum((counts[report] - mean) ** 2 / mean for report, mean in expected.items())
    return bool(statistic > chi2.isf(FALSE_ALARM / len(LAWS), len(expected) - 1))


def law_of(asked, answer):
    """The exact law of a question's only report."""
    protocol = asked.questions[0].protocol
    return protocol.law(protocol.values[answer] if asked.questions[0].values else answer)


@pytest.mark.parametrize("kind", LAWS)
def test_reports_drawn_through_the_page_follow_the_law(browser, opened, kind):
    asked, answer = LAWS[kind]
    opened(asked)
    counts, law = draw_counts(browser, answer), law_of(asked, answer)
    assert sum(counts.values()) == DRAWS
    assert not is_rejected(counts, law)
    assert is_rejected(counts, ten_percent_off(law))


def ten_percent_off(law):
    """The law with a tenth of the likeliest reports' weight moved to the others."""
    largest = max(law.values())
    likeliest = [report for report, chance in law.items() if chance == largest]
    moved = Fraction(1, 10) * largest * len(likeliest)
    others = len(law) - len(likeliest)
    return {
        report: chance * 9 / 10 if report in likeliest else chance + moved / others for report, chance in law.items()
    }


HIGH_BIT = "getRandomValues = (array) => real.call(crypto, array).map((word) => word & 0x7fffffff)"
SHORT = "getRandomValues = (array) => array.map(() => Math.floor(Math.random() * 65536))"


@pytest.mark.parametrize("bias", [HIGH_BIT, SHORT])
@pytest.mark.parametrize("kind", ["response", "k-ary", "unary"])
def test_a_biased_generator_of_the_browser_is_caught(browser, opened, kind, bias):
    asked, answer = LAWS[kind]
    opened(asked, script=f"{{ const real = Crypto.prototype.getRandomValues; Crypto.prototype.{bias}; }}")
    assert is_rejected(draw_counts(browser, answer), law_of(asked, answer))


def with_uses(asked, **more):
    """The survey with one more question, whose number protects one use."""
    protocol = face.number("1", 0, 20, 1, protects="use")
    question = Question("uses", "How often?", protocol, required=True, is_sampled=asked.mode == "sampled")
    return dataclasses.replace(asked, questions=(*asked.questions, question), **more)


def hashed_in(field):
    """A survey whose only question is hashed over a field of that order."""
    values = [f"value {index}" for index in range(60)]
    question = Question("q0", "Which?", face.hashed("1", values, field=field), required=True, is_sampled=False)
    return dataclasses.replace(survey(PLACE), questions=(question,))


ENCODED = {
    "split": with_uses(survey(YES_NO, PARTY, PLACE, SETS, MARKS, HOURS, mode="split")),
    "sampled": with_uses(survey(YES_NO, PARTY, PLACE, SETS, MARKS, HOURS, mode="sampled")),
    "sets": survey(SETS, SETS | {"values": [f"v{i}" for i in range(200)]}, epsilon="2", mode="split"),
    "two coins": survey(YES_NO | {"method": "two coins"}),
    "coarse number": survey(HOURS | {"low": -1, "high": 1, "step": 2}, epsilon="0.2"),
    **{f"field {order}": hashed_in(order) for order in (2, 3, 4, 5, 8, 16)},
}


@pytest.mark.parametrize("name", ENCODED)
def test_vectors_are_equal_in_python_and_in_the_browser(browser, opened, name):
    asked = ENCODED[name]
    opened(asked)
    listed = vectors(asked, 100)
    assert len({json.dumps(vector["reports"]) for vector in listed}) > 1
    script = """return arguments[0].map(({answers, words}) => {
        let place = 0;
        return discreet.encode(discreet.survey, answers, () => words[place++]);
    })"""
    assert browser.run(script, listed) == [vector["reports"] for vector in listed]


def test_the_hash_of_the_answer_is_computed_whether_the_coin_keeps_it_or_not(browser, opened, monkeypatch):
    asked = survey(PLACE, epsilon="1")
    line = "function inner(seed, value, { field, polynomial, digits }) {"
    counting = f"{line} window.products = (window.products || 0) + 1;"
    opened(None, text=mutant(asked, line, counting, monkeypatch))
    keep = asked.compiled["questions"][0]["protocol"]["keep"]
    script = """window.products = 0;
        discreet.encode(discreet.survey, {q0: 5}, ((words) => () => words.shift())([7, arguments[0], 0]));
        return window.products;"""
    assert [browser.run(script, coin) for coin in (0, keep - 1, keep, 2**32 - 1)] == [1, 1, 1, 1]


# --- the file --------------------------------------------------------------------------------------------------------


def test_a_server_that_is_no_origin_is_refused():
    for server in ("survey.example", "https://survey.example/path", "https://a b", "https://a; script-src *"):
        with pytest.raises(ValueError, match="origin"):
            page(survey(PLACE), server)


def test_a_page_is_one_file_with_the_same_digest_each_time():
    text = page(survey(PLACE))
    assert page_module.page_digest(text) == page_module.page_digest(page(survey(PLACE)))
    assert "src=" not in text.replace("default-src", "")
    assert "http://" not in text
    assert "https://" not in text
    assert "Math.random" not in text
    assert "crypto.subtle" not in text


# --- left in the middle ----------------------------------------------------------------------------------------------


def test_a_page_that_is_left_while_it_draws_does_not_tell_what_was_said(browser, opened):
    """The draw waits for other tabs; the page is hidden meanwhile, and goes on when it comes back."""
    opened(survey(YES_NO, epsilon="1"))
    choose(browser, 0, 1)
    browser.run("""document.getElementById('form').requestSubmit();
        setTimeout(() => dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true})), 50);""")
    browser.wait_for_status("received")
    assert "This leaves your device" in browser.text("#reports")
    assert "You said" not in browser.text()


def test_a_report_that_is_gone_from_storage_is_said_to_be_gone(browser, opened):
    site = opened(survey(YES_NO, epsilon="1"), reply=lambda count, request: 503)
    choose(browser, 0, 1)
    browser.click("#send")
    browser.wait_for_status("waiting")
    browser.run("localStorage.clear()")
    browser.wait_for_status("problem")
    assert "gone from the storage" in browser.text("#status")
    assert len(bodies(site)) == 1


@pytest.mark.parametrize("fragment", ["#x", "#T=AAAAAAAAAAAAAAAAAAAAAA", "#t%3DAAAAAAAAAAAAAAAAAAAAAA"])
def test_a_fragment_that_is_no_invitation_is_called_incomplete(browser, opened, fragment):
    site = opened(survey(YES_NO, epsilon="1"))
    browser.open(f"http://{site.host}/{fragment}")
    browser.reload()
    choose(browser, 0, 1)
    browser.click("#send")
    browser.wait_for_status("problem")
    assert "incomplete" in browser.text("#status")
    assert not bodies(site)
