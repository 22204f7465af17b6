"""A release in words: what it is, who is protected, what was spent, how exact it is, and what not to do with it."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet import amounts, shares
from discreet.inert import markdown
from discreet.release.publish.facts import number
from discreet.shares import EPSILON, PRECISION, Share, listed
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
    """What the release is called."""
    return f"{facts['dataset']} over {facts['hierarchy']}"


def counted(facts: Facts) -> str:
    """What the numbers count, and what caps leave of it.

    >>> counted({"counts": "groups", "groups": "household", "unit": "person"})
    'groups (household) by size'
    >>> counted({"counts": "rows", "unit": "person", "of": "of at most 5 rows per person"})
    'rows, of at most 5 rows per person,'
    """
    capped = f", {facts['of']}," if facts.get("of") else ""
    if facts["counts"] == "groups":
        return f"groups ({facts['groups']}) by size{capped}"
    return (f"units ({facts['unit']})" if facts["counts"] == "units" else "rows") + capped


def what(facts: Facts) -> str:
    """One sentence on what is there."""
    levels = [f"{one['places']:,} × {one['level']}" for one in facts["levels"]]
    names = [one["name"] for one in facts["attributes"]]
    by = f", by {listed(names)}" if names and facts["counts"] != "groups" else ""
    return f"Numbers of {counted(facts)} in {facts['places']:,} places ({', '.join(levels)}){by}."


def adds_up(facts: Facts) -> str:
    """One sentence on the rules that hold."""
    rules = "Every place is the sum of the places in it, cell by cell; all numbers are whole and none is negative."
    return " ".join([rules, *facts["known"], f"Rules broken: {sum(facts['violations'].values()):,}."])


def protected(facts: Facts) -> str:
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
    widths = _by_level([short(one["noise"][-1]["scale"]) for one in facts["levels"]], facts)
    return f"{law} noise of {'σ' if law == 'Gaussian' else 'scale'} {widths}."


def _by_level(values: list[str], facts: Facts) -> str:
    """One value for all levels, or each with its level."""
    if len(set(values)) == 1:
        return f"{values[0]} on every level"
    return ", ".join(f"{value} ({one['level']})" for value, one in zip(values, facts["levels"], strict=True))


def of_100(facts: Facts) -> str:
    """What a margin means."""
    return f"Of 100 such margins, {hundredths(facts)} hold the exact number."


def columns(facts: Facts) -> str:
    """What the columns of numbers on the page are."""
    return (
        "Number (bar): adds up with all others, and may lie outside its range. Estimate ±: unbiased, before that. "
        f"Range (line): the same cut at 0; {hundredths(facts)} of 100 hold the exact number."
    )


def hundredths(facts: Facts) -> str:
    """The level of confidence as so many of 100."""
    return amounts.shown(100 * number(facts["level"]))


def exactness(facts: Facts) -> list[str]:
    """One sentence for each level, or for those that are equally exact."""
    alike: dict[tuple[int, int], list[str]] = {}
    for one in facts["levels"]:
        alike.setdefault((one["moe"], one["total_moe"]), []).append(one["level"])
    told = []
    for (moe, total), names in alike.items():
        sums = f"; of a place's sum, within {total:,}" if facts["cells"] > 1 and total else ""
        near = f"{hundredths(facts)} of 100 estimates (n_estimate) lie within {moe:,} of the exact number"
        told.append(f"{listed(names)}: {near}{sums}.")
    return told


def level_shares(facts: Facts) -> list[Share]:
    """How the price was shared among levels, as the facts tell it: in four digits."""
    whole = EPSILON if facts["levels"][0]["noise"][-1]["law"] == "Laplace" else PRECISION
    return [Share(one["level"], Fraction(one["share"]), of=whole) for one in facts["levels"]]


def cited(facts: Facts) -> str:
    """How to cite it."""
    receipt = "" if facts["receipt"] is None else f", receipt {facts['receipt']}"
    return (
        f"{title(facts)}: tables that add up, with noise for privacy ({price_text(facts)} per "
        f"{facts['unit'] or 'row'}, {facts['neighbours']}{receipt}). Made with {facts['software']}."
    )


def short(fraction: str) -> str:
    """A noise scale in three digits, rounded up."""
    return amounts.shown(amounts.rounded_up(number(fraction), 3))


# --- the report ------------------------------------------------------------------------------------------------------


def report(facts: Facts) -> str:
    """Half a page of Markdown; names are shown as they are, never as Markdown."""
    shared = shares.words(level_shares(facts))
    return "\n".join(
        [
            f"# {marked(title(facts))}",
            "",
            marked(what(facts)),
            "",
            f"**Who is protected.** {marked(protected(facts))} {marked(' '.join(facts['promise']['sentences']))}",
            "",
            f"**What was spent.** {marked(spent(facts))} {marked(shared)} {marked(noise(facts))}",
            "",
            f"**How exact.** {marked(of_100(facts))} In words:",
            "",
            *(f"- {marked(line)}" for line in exactness(facts)),
            "",
            *(f"**In doubt.** {marked(line)}\n" for line in facts["doubts"]),
            f"**What adds up.** {marked(adds_up(facts))} {marked(facts['why'])}",
            "",
            "**What to know.**",
            "",
            *(f"- {marked(line)}" for line in facts["caveats"]),
            "",
            "**What not to do with it.**",
            "",
            *(f"- {marked(line)}" for line in NOT_TO_DO),
            "",
            f"**How to cite.** {marked(cited(facts))}",
            "",
            *_files(facts),
        ]
    )


def approximate(facts: Facts) -> str:
    """What the re-simulated margins are, where there are any."""
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


def marked(text: str) -> str:
    """Text that Markdown shows letter by letter.

    >>> marked("a*b <i>")
    'a\\\\*b \\\\<i\\\\>'
    """
    return markdown(" ".join(text.split()))
