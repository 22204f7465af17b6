"""Sentences on a release: its content, who is protected, its price, how exact it is, and how not to use it."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet import amounts, shares
from discreet.inert import markdown
from discreet.release.publish.facts import number
from discreet.shares import EPSILON, PRECISION, Share, name_list
from discreet.terms import price_text

Facts = Mapping[str, Any]

NOT_TO_DO = (
    "Do not publish exact numbers of the same people beside these, nor take one from the other: what is left over is "
    "the noise, or a small group without it.",
    "Do not read a number smaller than its ± as more than “few”.",
    "Do not add up n_estimate over small places; take n, or the n_estimate of the larger place.",
    "Do not compare two numbers whose ranges overlap as if they differed.",
)


def title(facts: Facts) -> str:
    """The title of the release."""
    return f"{facts['dataset']} over {facts['hierarchy']}"


def counted_words(facts: Facts) -> str:
    """What the numbers count, and what caps leave of it.

    >>> counted_words({"counts": "groups", "groups": "household", "unit": "person"})
    'groups (household) by size'
    >>> counted_words({"counts": "rows", "unit": "person", "of": "of at most 5 rows per person"})
    'rows, of at most 5 rows per person,'
    """
    capped = f", {facts['of']}," if facts.get("of") else ""
    if facts["counts"] == "groups":
        return f"groups ({facts['groups']}) by size{capped}"
    return (f"units ({facts['unit']})" if facts["counts"] == "units" else "rows") + capped


def what(facts: Facts) -> str:
    """One sentence on the content."""
    levels = [f"{level['places']:,} × {level['level']}" for level in facts["levels"]]
    names = [attribute["name"] for attribute in facts["attributes"]]
    by = f", by {name_list(names)}" if names and facts["counts"] != "groups" else ""
    return f"Numbers of {counted_words(facts)} in {facts['places']:,} places ({', '.join(levels)}){by}."


def adds_up(facts: Facts) -> str:
    """One sentence on the rules that hold."""
    rules = "Every place is the sum of the places in it, cell by cell; all numbers are whole and none is negative."
    return " ".join([rules, *facts["known"], f"Rules broken: {sum(facts['violations'].values()):,}."])


def who_is_protected(facts: Facts) -> str:
    """One sentence on who is protected."""
    apart = "one more or one fewer" if facts["neighbours"] == "add-remove" else "one of them replaced by another"
    return f"Protected is {facts['protects']}; compared are tables with {apart} ({facts['neighbours']})."


def spent(facts: Facts) -> str:
    """One sentence on the price."""
    receipt = "" if facts["receipt"] is None else f", receipt {facts['receipt']}"
    strength = facts["promise"]["strength"]
    called = f"a promise that {strength}" if strength.startswith("needs") else f"a {strength} promise"
    return f"{price_text(facts)} for all levels together{receipt}; {called}."


def noise(facts: Facts) -> str:
    """One sentence on the noise of all levels.

    >>> noise({"levels": [{"level": "ward", "noise": [{"law": "Laplace", "scale": "10/3"}]}]})
    'Laplace noise of scale 3.34 on every level.'
    """
    law = facts["levels"][0]["noise"][-1]["law"]
    widths = _by_level([short(level["noise"][-1]["scale"]) for level in facts["levels"]], facts)
    return f"{law} noise of {'σ' if law == 'Gaussian' else 'scale'} {widths}."


def _by_level(values: list[str], facts: Facts) -> str:
    """One value for all levels, or each with its level."""
    if len(set(values)) == 1:
        return f"{values[0]} on every level"
    return ", ".join(f"{value} ({level['level']})" for value, level in zip(values, facts["levels"], strict=True))


def of_100(facts: Facts) -> str:
    """One sentence on what a margin means."""
    return f"Of 100 such margins, {hundredths(facts)} hold the exact number."


def columns(facts: Facts) -> str:
    """Sentences on the columns of numbers of the page."""
    return (
        "Number (bar): adds up with all others, and may lie outside its range. Estimate ±: unbiased, before that. "
        f"Range (line): the same cut at 0; {hundredths(facts)} of 100 hold the exact number."
    )


def hundredths(facts: Facts) -> str:
    """The level of confidence as so many of 100."""
    return amounts.text_of(100 * number(facts["level"]))


def exactness(facts: Facts) -> list[str]:
    """One sentence for each level, or for those that are equally exact."""
    names_by_margin: dict[tuple[int, int], list[str]] = {}
    for level in facts["levels"]:
        names_by_margin.setdefault((level["moe"], level["total_moe"]), []).append(level["level"])
    sentences = []
    for (moe, total), names in names_by_margin.items():
        sums = f"; of a place's sum, within {total:,}" if facts["cells"] > 1 and total else ""
        within = f"{hundredths(facts)} of 100 estimates (n_estimate) lie within {moe:,} of the exact number"
        sentences.append(f"{name_list(names)}: {within}{sums}.")
    return sentences


def level_shares(facts: Facts) -> list[Share]:
    """The shares of the levels, in the four digits of the facts."""
    shared_amount = EPSILON if facts["levels"][0]["noise"][-1]["law"] == "Laplace" else PRECISION
    return [Share(level["level"], Fraction(level["share"]), of=shared_amount) for level in facts["levels"]]


def citation(facts: Facts) -> str:
    """The citation."""
    receipt = "" if facts["receipt"] is None else f", receipt {facts['receipt']}"
    return (
        f"{title(facts)}: tables that add up, with noise for privacy ({price_text(facts)} per "
        f"{facts['unit'] or 'row'}, {facts['neighbours']}{receipt}). Made with {facts['software']}."
    )


def short(fraction: str) -> str:
    """A noise scale in three digits, rounded up."""
    return amounts.text_up(number(fraction), 3)


# --- the report ------------------------------------------------------------------------------------------------------


def report(facts: Facts) -> str:
    """The report, half a page of Markdown; names are escaped."""
    shared, promise = shares.words(level_shares(facts)), " ".join(facts["promise"]["sentences"])
    return "\n".join(
        [
            f"# {escaped(title(facts))}",
            "",
            escaped(what(facts)),
            "",
            f"**Who is protected.** {escaped(who_is_protected(facts))} {escaped(promise)}",
            "",
            f"**What was spent.** {escaped(spent(facts))} {escaped(shared)} {escaped(noise(facts))}",
            "",
            f"**How exact.** {escaped(of_100(facts))} In words:",
            "",
            *(f"- {escaped(line)}" for line in exactness(facts)),
            "",
            *(f"**In doubt.** {escaped(line)}\n" for line in facts["doubts"]),
            f"**What adds up.** {escaped(adds_up(facts))} {escaped(facts['why'])}",
            "",
            "**What to know.**",
            "",
            *(f"- {escaped(line)}" for line in facts["caveats"]),
            "",
            "**What not to do with it.**",
            "",
            *(f"- {escaped(line)}" for line in NOT_TO_DO),
            "",
            f"**How to cite.** {escaped(citation(facts))}",
            "",
            *_files(facts),
        ]
    )


def approximate(facts: Facts) -> str:
    """Sentences on the re-simulated margins; empty where there are none."""
    if facts["resimulated"] is None:
        return ""
    return (
        f"`n_moe_approx` is an approximate ± of n itself: the noise was drawn {facts['resimulated']:,} times more as "
        "if n were exact. It promises nothing, least of all for small numbers; the range from n_low to n_high does. "
    )


def _files(facts: Facts) -> list[str]:
    return [
        "**Files.** `table.csv`, `table.parquet`: n adds up; n_low to n_high is n_estimate ± n_moe, cut at 0. "
        f"{approximate(facts)}"
        "In CSV a name that a spreadsheet would run has a ' before it; Parquet has it as it is. "
        "`noisy.csv`, `noisy.parquet`: the measurements, for statistics of your own. `release.json`: these facts. "
        "`index.html`: a page to look around in.",
        "",
    ]


def escaped(text: str) -> str:
    """The text, escaped for Markdown.

    >>> escaped("a*b <i>")
    'a\\\\*b \\\\<i\\\\>'
    """
    return markdown(" ".join(text.split()))
