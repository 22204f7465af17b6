"""The five lectures: a title each, and its topics in the order of the lecture."""

from collections.abc import Callable
from dataclasses import dataclass

from discreet.lecture.section import Section
from discreet.lecture.topics import answers, choices, noise, together


@dataclass(frozen=True)
class Lecture:
    """A lecture by its number on the command line."""

    number: int
    title: str
    topics: tuple[Callable[[], Section], ...]


LECTURES = (
    Lecture(
        1,
        "Trustworthy AI: noise, δ and models",
        (
            answers.sums,
            noise.vectors,
            noise.groups,
            together.composition,
            noise.shame,
            noise.gaussian,
            together.minimisers,
            together.descent,
        ),
    ),
    Lecture(
        2,
        "Differential privacy: from two coins to small databases",
        (
            answers.coins,
            answers.coin_estimate,
            answers.beliefs,
            answers.neighbours,
            answers.blue_eyes,
            noise.groups,
            choices.naive_bayes,
            choices.choosing,
            choices.bernoulli,
            choices.small_database,
        ),
    ),
    Lecture(
        3,
        "Responsible AI: censuses that add up",
        (
            answers.ages,
            answers.sums,
            answers.beliefs,
            answers.neighbours,
            noise.proof,
            choices.picture,
            choices.two_sided,
            choices.cost_tables,
        ),
    ),
    Lecture(
        4,
        "Privacy-preserving learning: sensitivity, phones and steps",
        (
            noise.groups,
            answers.sums,
            noise.local,
            noise.gaussian,
            together.composition,
            noise.many_numbers,
            together.minimisers,
            together.descent,
            together.sampling,
            choices.choosing,
        ),
    ),
    Lecture(
        5,
        "Privacy in AI: response against Laplace",
        (answers.any_epsilon, answers.sums, noise.rates),
    ),
)
