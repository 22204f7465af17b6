"""The card of a synthetic table in Markdown: what it is, its price in words, how it was built, what it is not for."""

from collections.abc import Iterable

from discreet.inert import markdown
from discreet.synth.report import words
from discreet.synth.synthetic import SyntheticTable
from discreet.terms import price_text

_MOST_PAIRS = 40  # that are listed


def card(table: SyntheticTable) -> str:
    """The card, in Markdown."""
    privacy = table.privacy_
    return "\n".join(
        [
            *([f"**{words.INVENTED}**", ""] if privacy.is_invented else []),
            f"# {markdown(words.title(table))}",
            "",
            markdown(words.what(table)),
            "",
            *_section("What it promises", words.promise(privacy)),
            *_section("How it was built", _built_lines(table)),
            "### What was measured",
            "",
            *_steps(table),
            "",
            *_section("What was left out", words.left_out(table)),
            *_section("What ± covers", [words.noise(table.build.plan), words.rows(table)]),
            *_section("What it must not be used for", words.not_for(table)),
            *_section("Receipt", [words.receipt(privacy)]),
        ]
    )


def _section(title: str, lines: Iterable[str]) -> list[str]:
    shown = [f"- {markdown(line)}" for line in lines]
    return [f"## {title}", "", *shown, ""] if shown else []


def _built_lines(table: SyntheticTable) -> list[str]:
    privacy, plan = table.privacy_, table.build.plan
    chosen = [" × ".join(measurement.columns) for measurement in words.pairs(table.measured)]
    more = f" … and {len(chosen) - _MOST_PAIRS:,} more" if len(chosen) > _MOST_PAIRS else ""
    return [
        words.method(table),
        plan.subject.words(),
        f"Columns: {', '.join(column.name for column in plan.subject.columns)}.",
        *([f"Pairs: {', '.join(chosen[:_MOST_PAIRS])}{more}."] if chosen else []),
        *words.impossible(table),
        f"Price: {price_text(privacy.to_json())}, neighbours by {privacy.relation}, protecting each {privacy.unit}.",
        f"Arithmetic: {privacy.arithmetic}.",
        f"The promise covers {privacy.covers}.",
    ]


def _steps(table: SyntheticTable) -> list[str]:
    lines = ["| Step | Tables | Cells | σ of one count | Share of the price |", "| --- | ---: | ---: | ---: | ---: |"]
    rows = (
        f"| {step.words} | {step.tables:,} | {step.cells:,} | {step.deviation} | {step.share} |"
        for step in words.steps(table.measured)
    )
    return [*lines, *rows]
