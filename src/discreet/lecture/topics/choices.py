"""Choices without numbers, databases that answer many questions, and tables that add up."""

import math
from fractions import Fraction

import numpy as np

from discreet.attack.packages import require
from discreet.bounded import cells, scalar
from discreet.fix import Fix
from discreet.lecture.section import Section, rows_of, short
from discreet.lecture.topics.laws import epsilon_of, laplace_scale
from discreet.mechanism.beta import bias
from discreet.mechanism.response import response
from discreet.mechanism.select import exponential, monotone_exponential
from discreet.privacy import price
from discreet.privacy.cost import Repeated
from discreet.relation import Relation
from discreet.release.fit import duals, integer
from discreet.release.tree import from_edges
from discreet.synth.small.size import lecture_size, tight_size


def choosing() -> Section:
    """The exponential mechanism (lectures 2 and 4)."""
    choice = exponential(scalar(1), "0.1")
    return Section(
        "The most common nationality, the best date",
        "Choose y with probability proportional to exp(ε·score/(2Δ)): good answers are likely, none is certain.",
        rows_of(
            ("exponent per score at ε = 0.1", "ε/(2Δ) = 0.05", short(choice.rate)),
            (
                "of 200 candidates, 95 choices in 100 fall short by less than",
                "(2Δ/ε)(ln|Y| − ln δ)",
                short(choice.shortfall(200, "0.05")),
            ),
            ("exponent where one row moves all scores one way", "", short(monotone_exponential(scalar(1), "0.1").rate)),
        ),
        "Lecture 4 prints the exponent without the 2: right only where one row can move every score in one direction.",
        Fix("", "ask", {"metadata": "people.toml", "sql": "SELECT MODE(nationality) FROM people", "epsilon": "0.1"}),
    )


def bernoulli() -> Section:
    """The bias of a coin by the exponential mechanism, and by Laplace (lecture 2)."""
    added = bias("0.1", low="0.1", high="0.9", points=801, under=Relation.ADD_REMOVE)
    replaced = bias("0.1", low="0.1", high="0.9", points=801, under=Relation.REPLACE_ONE)
    return Section(
        "The bias of a coin, kept private",
        "Score each θ in (0.1, 0.9) by its log-likelihood: the answer follows a Beta law, flattened by ε.",
        rows_of(
            ("exponent ε/(2Δ), Δ = −ln 0.1", "0.0217", short(added.exponent, 3)),
            ("exponent where a flip is changed, Δ = ln 9", "", short(replaced.exponent, 3)),
            ("Laplace scale on the counts, one more flip", "22", short(laplace_scale(cells(1, 1), "0.1"))),
            (
                "Laplace scale on the counts, one changed",
                "22",
                short(laplace_scale(cells(2, 1, Relation.REPLACE_ONE), "0.1")),
            ),
        ),
        "Lecture 2 scales noise on counts by the log-likelihood's Δ/ε = 22; the counts themselves have Δ = 1 or 2.",
        Fix("", "curve", {"curve": "bernoulli", "output": "bernoulli.svg"}),
    )


def naive_bayes() -> Section:
    """Naive Bayes from noisy joint counts (lecture 2)."""
    twelve = laplace_scale(cells(12, 1), "0.1")
    apart = laplace_scale(scalar(1), Fraction(1, 120))
    return Section(
        "Naive Bayes from noisy counts",
        "One person is in D joint counts, so the counts together have Δ = D.",
        rows_of(
            ("scale for D = 12 at ε = 0.1", "10·D", short(twelve)),
            ("scale of D questions at ε/D each", "10·D", short(apart)),
        ),
        command=Fix(
            "", "learn plan", {"metadata": "people.toml", "model": "naive-bayes", "target": "sick", "epsilon": 1}
        ),
    )


def small_database() -> Section:
    """The small database mechanism (lecture 2)."""
    queries, alpha = 1_000, "0.1"
    return Section(
        "One small database that answers every question",
        "Choose, by the exponential mechanism, a small table whose K answers are all close, and publish that.",
        rows_of(
            ("rows for K = 1,000, α = 0.1", "⌈log₂K/α²⌉ = 997", short(lecture_size(queries, alpha))),
            ("rows that already suffice", "", short(tight_size(queries, alpha))),
        ),
        "ln(2K)/(2α²) rows suffice. All |X|^N̂ databases can be listed only for tiny universes; real tables are made "
        "from noisy marginals.",
        Fix("", "synth quote", {"metadata": "people.toml", "epsilon": 1}),
    )


def cost_tables() -> Section:
    """The dynamic program on a tree of three regions (lecture 3)."""
    require("numba")
    tree = from_edges([("US", "GA"), ("US", "MI")])
    noisy, weights = np.array([[2], [3], [0]]), np.array([1, 1, 1])
    whole = integer.fit(tree, noisy, weights)[:, 0].tolist()
    three = integer.fit(tree, noisy, weights, total=3)[:, 0].tolist()
    real = duals.projection(tree, noisy, weights)[:, 0].tolist()
    children = [((v - 3) ** 2, v**2) for v in range(5)]
    root = [(v - 2) ** 2 + min(children[a][0] + children[v - a][1] for a in range(v + 1)) for v in range(5)]
    return Section(
        "Regions that must add up",
        "Noisy counts: Georgia 3, Michigan 0, the US 2. Find whole numbers nearest to them that add up.",
        rows_of(
            ("costs of Georgia = 0 … 4", "9 4 1 0 1", " ".join(str(pair[0]) for pair in children)),
            ("costs of the US = 0 … 4", "", " ".join(map(str, root))),
            ("the fit: US, Georgia, Michigan", "", " ".join(map(str, whole))),
            ("the fit if the US is publicly 3", "", " ".join(map(str, three))),
            ("without whole numbers", "", " ".join(short(value) for value in real)),
        ),
        "Two optima tie at cost 1. The table's 0 + 4 at v = 2 is 9 + 4, and a total that holds in every region (H2) "
        "contradicts (H3): it holds at the root.",
        Fix("", "release plan", {"metadata": "people.toml", "epsilon": 1}),
    )


def two_sided() -> Section:
    """The noise of group sizes (lecture 3)."""
    levels, epsilon = 3, Fraction(1, 10)
    scale = laplace_scale(cells(2 * levels, 1), epsilon)
    gives_away = -math.expm1(-1 / float(scale))
    return Section(
        "Noise for sizes of groups on L levels",
        "One person moves one group from size s to s − 1: two cells on each of L levels.",
        rows_of(
            ("scale, L = 3, ε = 0.1", "2L/ε = 60", short(scale)),
            ("chance that a one-sided law rules a table out, per cell", "", short(gives_away, 3)),
        ),
        "Geom(2L/ε) must be two-sided: one-sided noise only adds, so a smaller output is proof.",
        Fix("", "release plan", {"metadata": "people.toml", "epsilon": "0.1"}),
    )


def picture() -> Section:
    """The picture metaphor (lecture 3)."""
    bit = Fraction(math.nextafter(math.log(0.51 / 0.49), 1))
    mechanism = response(bit)
    tile = Repeated(mechanism.cost, 64 * 64)
    return Section(
        "A picture made of people",
        "Each person's small picture is flipped bit by bit until nothing is seen of it; the big picture remains.",
        rows_of(
            ("ε of a bit flipped with 51 %", "", short(epsilon_of(mechanism.cost))),
            ("ε of a person's 64 × 64 bits", "", short(price.epsilon(tile, 0).value)),
            ("the same at δ = 10⁻⁶", "", short(price.epsilon(tile, "1e-6").value)),
        ),
        "At 51 % unbiasing turns the big picture back, and with 2,048² bits no block up to 128² shows it (correlation "
        "below 0.9); at 25 % blocks of 16² do.",
        Fix("", "picture", {"flip": "0.25", "output": "picture.png"}),
    )
