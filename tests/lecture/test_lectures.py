"""The five lectures, walked through: golden figures, where they are loose, and a page that asks nobody for anything."""

import json
import re
import shlex

import pytest

from discreet.cli.main import status
from discreet.cli.verbs import VERBS, load
from discreet.errors import BadValue
from discreet.fix import command_line
from discreet.lecture.catalog import LECTURES
from discreet.lecture.page import page
from discreet.lecture.section import _STANDS_FOR, Row, Section
from discreet.lecture.topics import answers, attacks, choices, noise, together
from discreet.operation.lecture import lecture

TOPICS = {topic for chosen in LECTURES for topic in chosen.topics}
COMPUTED = {  # lectures/README, the worked figures
    attacks.anonymous: ["2", "1"],
    attacks.differencing: ["1", "0.7311"],
    answers.coins: ["3/4", "1/4", "1.099 = ln 3", "0.05769"],
    answers.coin_estimate: ["1", "0.75", "4", "0.91", "1.657", "1.5"],
    answers.any_epsilon: ["0.7311", "1", "0.9207"],
    answers.beliefs: ["0.3763", "0.4242"],
    answers.blue_eyes: ["10", "199.83", "9.983"],
    answers.neighbours: ["1", "2", "5", "2"],
    answers.sums: ["1", "7", "£200K", "0.01"],
    answers.ages: ["30.4", "34", "28"],
    noise.vectors: ["3", "30"],
    noise.gaussian: ["48.45", "30.75", "3.731", "0.4999", "0.006877"],
    noise.many_numbers: ["1.357, 3.742", "5.642, 7.467", "90.51, 29.85", "7"],
    noise.groups: ["30", "0.3"],
    noise.local: ["10", "5", "500"],
    noise.rates: ["100 ×", "10 ×", "70.7 ×"],
    noise.proof: ["1.105", "1.105"],
    noise.shame: ["1", "0.632", "0.00995"],
    together.composition: ["10", "4.307"],
    together.sampling: ["0.01704", "2.756"],
    together.descent: ["0.01704", "1.828"],
    together.minimisers: ["0.2", "0.1"],
    choices.choosing: ["0.05", "165.9", "0.1"],
    choices.bernoulli: ["0.0217", "0.0228", "10", "20"],
    choices.naive_bayes: ["120", "120"],
    choices.small_database: ["997", "381"],
    choices.cost_tables: ["9 4 1 0 1", "13 5 1 1 5", "2 2 0", "3 3 0", "2.5 2.5 0"],
    choices.two_sided: ["60", "0.0165"],
    choices.picture: ["0.04001", "163.9", "14.87"],
}


@pytest.fixture(scope="module")
def sections():
    """Each topic computed once."""
    return {topic: topic() for topic in TOPICS}


def test_every_topic_has_golden_figures():
    assert set(COMPUTED) == TOPICS


@pytest.mark.parametrize("topic", COMPUTED, ids=lambda topic: topic.__name__)
def test_topic_computes_the_worked_figures(topic, sections):
    assert [row.computed for row in sections[topic].rows] == COMPUTED[topic]


def test_commands_of_topics_are_ones_that_the_command_line_takes(sections):
    for section in sections.values():
        if section.command is not None:
            words = shlex.split(command_line(section.command))
            assert words[0] == "discreet"
            verb = section.command.verb
            assert verb in VERBS
            rest = words[1 + len(verb.split()) :]
            assert "…" not in rest
            load(verb).make_context(verb, rest)  # parses, runs nothing


def test_lectures_that_are_loose_say_what_is_right(sections):
    assert sum(bool(section.loose) for section in sections.values()) >= 15


@pytest.mark.parametrize("number", ["1", "2", "3", "4", "5"])
def test_lecture_prints_its_sections(number, capsys):
    assert status(["lecture", number, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    chosen = LECTURES[int(number) - 1]
    assert len(told["lecture"]["sections"]) == len(chosen.topics)
    assert all(part["figures"] for part in told["lecture"]["sections"])


@pytest.mark.parametrize("number", ["0", "6", "one", "", "1.5"])
def test_unknown_lecture_is_refused(number):
    with pytest.raises(BadValue, match="from 1 to 5"):
        lecture(number)


def test_page_makes_no_request_and_escapes_what_it_shows():
    hostile = Section("<script>alert(1)</script>", "a & b", (Row("<b>", "x", "y"),), "<i>")
    html = page(LECTURES[0], [hostile])
    assert "<script" not in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert not re.search(r"(src|href)=|https?://|url\(", html)
    assert "default-src 'none'" in html.replace("&#x27;", "'")


def test_files_of_commands_are_explained_once_where_there_are_some(sections, capsys):
    people = "people.toml stands for a dataset of your own"
    chosen = next(chosen for chosen in LECTURES if chosen.number == 4)
    assert status(["lecture", "4"]) == 0
    for text in (page(chosen, [sections[topic] for topic in chosen.topics]), capsys.readouterr().out):
        assert " ".join(text.split()).count(people) == 1
        assert "tax.toml stands" not in text
    files = {part.command.arguments.get("metadata") for part in sections.values() if part.command}
    assert set(_STANDS_FOR) == files - {None}
    assert people not in page(LECTURES[0], [Section("a", "b", ())])


def test_page_is_written_to_html_alone(tmp_path, capsys):
    assert status(["lecture", "5", "-o", str(tmp_path / "five.txt")]) == 2
    assert "ending in .html" in capsys.readouterr().err
    assert status(["lecture", "5", "-o", str(tmp_path / "five.html")]) == 0
    assert "<h2>Errors of a mean as the table grows</h2>" in (tmp_path / "five.html").read_text(encoding="utf-8")
