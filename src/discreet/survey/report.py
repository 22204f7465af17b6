"""Write a page about a survey: what was asked, the estimates with a picture, how answers were protected, and limits.

The page needs no script and makes no request; every text of the survey is escaped.
"""

import math
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape

from discreet import amounts, real
from discreet.inert import visible, visible_lines
from discreet.local.estimate import Row
from discreet.local.number_protocol import NumberProtocol
from discreet.survey.chart import picture, value_text
from discreet.survey.collected import INVENTED
from discreet.survey.design import DISOBEDIENT, LIARS, NO_SHUFFLER, report_words
from discreet.survey.question import Question
from discreet.survey.results import Result, Results, radius
from discreet.survey.spec import Survey

_STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #6b6b6b; --line: #ddd; --bar: #0072b2; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eee; --faint: #aaa; --line: #444; --bar: #56b4e9; --page: #181818; }
}
body {
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
}
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .2rem .5rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
.stamp { border: 2px solid #d55e00; padding: .5rem 1rem; font-weight: bold; }
.faint { color: var(--faint); }
.wide { overflow-x: auto; }
p, li, h1, h2, h3 { overflow-wrap: anywhere; }
svg { width: 100%; max-width: 34rem; height: auto; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
@media (max-width: 30rem) { table { font-size: .85rem; } th, td { padding: .2rem .25rem; } }
"""
_MILD = 3  # above, whoever thought two answers equally likely is more than 95 % sure after the report


def report_page(survey: Survey, results: Results) -> str:
    """The HTML of the report."""
    style = b64encode(sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    title = _text(survey.title)
    body = [
        f"<h1>{title}</h1>",
        f'<p class="stamp">{_text(INVENTED)}</p>' if results.is_invented else "",
        *_section("What was asked", _questionnaire(survey)),
        *_section("What came out", (part for result in results for part in _result(survey, results, result))),
        *_caveats(results),
        *_section("How answers were protected", _protection(survey, results)),
        *_section("What people who break the rules could do", _attacks(survey, results)),
        *_section("Limits", _limits(survey)),
    ]
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body>\n"
    )
    return head + "\n".join(part for part in body if part) + "\n</body></html>\n"


def _section(title: str, parts: Iterable[str]) -> list[str]:
    return [f"<h2>{_text(title)}</h2>", *parts]


def _questionnaire(survey: Survey) -> list[str]:
    listed = ((_text(q.text), _text(_choices(q))) for q in survey.questions)
    items = "".join(f'<li>{text} <span class="faint">({choices})</span></li>' for text, choices in listed)
    dates = [f"{word} {day.isoformat()}" for word, day in (("from", survey.opens), ("to", survey.closes)) if day]
    consent = visible_lines(survey.consent)
    facts = [f"Asked {' '.join(dates)}." if dates else "", f"Contact: {survey.contact}" if survey.contact else ""]
    shown = [f"<p>{_text(fact)}</p>" for fact in facts if fact]
    told = [f"<p>People were told: <q>{escape(consent)}</q></p>"] if consent else []
    return [f"<ul>{items}</ul>", *told, *shown]


def _choices(question: Question) -> str:
    if isinstance(question.protocol, NumberProtocol):
        low, high = amounts.text_of(question.protocol.low), amounts.text_of(question.protocol.high)
        return f"a number from {low} to {high}"
    listed = ", ".join(question.values[:12])
    return listed if len(question.values) <= 12 else f"{listed} … {len(question.values)} values"


def _result(survey: Survey, results: Results, result: Result) -> list[str]:
    group = "" if result.group is None else f" — {result.group}"
    heading = f"<h3>{_text(result.text + group)}</h3>"
    if result.estimate is None:
        return [heading, f"<p>Not estimated: {_text(result.reason or '')}</p>"]
    head = "<tr><th>value</th><th>estimate</th><th>low</th><th>high</th><th>±</th></tr>"
    lines = "".join(_line(row) for row in result.estimate)
    asked = survey.question(result.question)
    is_number = asked is not None and isinstance(asked.protocol, NumberProtocol)
    drawn = picture(result.estimate, "mean" if is_number else "share", _reach(results, result.question))
    rejected = f" {result.rejected:,} more were rejected." if result.rejected else ""
    note = f'<p class="faint">{_text(result.estimate.words + rejected)}</p>'
    return [heading, f'<div class="wide">{drawn}</div>', f'<div class="wide"><table>{head}{lines}</table></div>', note]


def _reach(results: Results, question: str) -> tuple[float, float]:
    """The least and the largest number of a question in all groups, so that their pictures have one axis."""
    rows = [row for result in results if result.question == question for row in result.estimate or ()]
    return min(min(row.low, row.estimate) for row in rows), max(max(row.high, row.estimate) for row in rows)


def _line(row: Row) -> str:
    numbers = "".join(f"<td>{number:.4f}</td>" for number in (row.estimate, row.low, row.high, radius(row)))
    return f"<tr><td>{_text(value_text(row))}</td>{numbers}</tr>"


def _caveats(results: Results) -> list[str]:
    always = "Estimates are unbiased and may lie below 0 or above 1; only the possible part of an interval counts."
    return [f"<p>{_text(sentence)}</p>" for sentence in (always, *results.caveats) if sentence != INVENTED]


def _protection(survey: Survey, results: Results) -> list[str]:
    epsilon = amounts.text_up(results.epsilon)
    ratio = f"{amounts.rounded_up(real.upper(real.exp(results.epsilon)), 3):,f}"
    sure = amounts.float_up(real.upper(lambda: 1 / (1 + real.ball(-results.epsilon).exp())))
    proof = (
        f"Whoever thought two answers of someone equally likely is then at most {math.ceil(1000 * sure) / 10:g} % sure."
        f"{'' if results.epsilon <= _MILD else ' So large an ε protects little.'}"
    )
    lines = [
        "The page randomises every answer before it sends anything, and paper does so by coins. Whether everyone "
        "followed the rules, nobody can tell.",
        f"A whole submission has ε = {epsilon}: whatever someone sent, they would have sent it at most {ratio} times "
        f"less often with any other answers. {proof}",
        *(f"{question.name}: {report_words(question.protocol)}" for question in survey.questions),
        _mode(survey),
    ]
    if survey.every == "day":
        lines.append("The page sends its first report again each day: who kept its storage has this ε for all days.")
    if results.shuffled is not None:
        shuffled = amounts.text_up(results.shuffled.epsilon)
        behind = f"ε = {shuffled}, δ = {float(results.shuffled.delta):.3g}"
        lines.append(
            "The file was declared to come from an independent shuffler: whoever sees it alone has "
            f"{behind}, as long as the others follow the protocol."
        )
    return [f"<p>{_text(line)}</p>" for line in (*lines, NO_SHUFFLER)]


def _mode(survey: Survey) -> str:
    if survey.mode == "sampled":
        return (
            "Each person answered all questions, and their device drew one by chance and reported on that one alone. "
            "Whoever sees the submission sees which."
        )
    several = "" if len(survey.questions) == 1 else f" ε is shared among {len(survey.questions)} questions."
    silence = "" if all(question.required for question in survey.questions) else ", and silence is sent like an answer"
    return f"Every person sent a report to every question{silence}.{several}"


def _attacks(survey: Survey, results: Results) -> list[str]:
    lines = []
    groups = {result.group for result in results}
    among = "" if groups == {None} else " In the smallest group:"
    for question in survey.questions:
        reports = [result.reports for result in results if result.question == question.name and result.reports]
        people = min(reports, default=1)
        protocol, liars = question.protocol, min(LIARS, people)
        if isinstance(protocol, NumberProtocol):
            lines.append(f"{question.name}:{among} {protocol.poisoned(liars, people).words}")
            continue
        upward, downward = protocol.disobeyed(DISOBEDIENT, "0.5")
        obeyed = f"5 % who do not toss their coins move a share of ½ by {downward:+.3f} to {upward:+.3f}."
        lines.append(f"{question.name}:{among} {protocol.poisoned(liars, people).words} {obeyed}")
    return [f"<p>{_text(line)}</p>" for line in lines]


def _limits(survey: Survey) -> list[str]:
    lines = (
        "ε protects what a person answered, not that they took part, nor when or from where.",
        "Intervals of a population hold for people drawn at random from it; those who did not take part may differ.",
        "What is true of a group can still be concluded about its members, whether they took part or not.",
        f"The survey is the one with SHA-256 {survey.digest}.",
    )
    return [f"<p>{_text(line)}</p>" for line in lines]


def _text(text: str) -> str:
    return escape(visible(text))
