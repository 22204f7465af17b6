"""The five lectures: a title each, its topics in the order of the lecture, and the pictures beside them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from discreet.lecture import attacked, shown
from discreet.lecture.picture import Picture
from discreet.lecture.section import Section
from discreet.lecture.topics import answers, attacks, choices, noise, together

Topic = Callable[[], Section]


@dataclass(frozen=True)
class Lecture:
    """A lecture by its number on the command line."""

    number: int
    title: str
    topics: tuple[Topic, ...]
    pictures: Mapping[Topic, tuple[Callable[[], Picture], ...]]

    def sections(self) -> tuple[Section, ...]:
        """Every topic computed now, with its pictures."""
        return tuple(
            replace(topic(), pictures=tuple(picture() for picture in self.pictures.get(topic, ())))
            for topic in self.topics
        )


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
        {
            answers.sums: (shown.worlds,),
            together.composition: (shown.composition,),
            noise.shame: (attacked.shame,),
        },
    ),
    Lecture(
        2,
        "Differential privacy: from two coins to small databases",
        (
            attacks.anonymous,
            attacks.differencing,
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
        {
            attacks.anonymous: (attacked.anonymous,),
            attacks.differencing: (attacked.differencing,),
            answers.coins: (attacked.coins,),
            answers.coin_estimate: (shown.response,),
            answers.beliefs: (shown.beliefs,),
            choices.bernoulli: (shown.bernoulli,),
        },
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
        {
            answers.ages: (attacked.ages,),
            answers.beliefs: (shown.beliefs,),
            choices.picture: (shown.mosaic,),
        },
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
        {
            noise.local: (shown.local, shown.shuffling),
            noise.gaussian: (shown.worlds_with_tail,),
            together.composition: (shown.odometer,),
            noise.many_numbers: (shown.dimensions,),
            together.sampling: (shown.sampling,),
        },
    ),
    Lecture(
        5,
        "Privacy in AI: response against Laplace",
        (answers.any_epsilon, answers.sums, noise.rates),
        {noise.rates: (shown.response,)},
    ),
)
