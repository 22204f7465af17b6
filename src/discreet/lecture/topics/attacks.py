"""Attacks that motivate privacy, with what is certain of them: what they find without noise, the most under it."""

from discreet.attack.ceiling import guess_of_many
from discreet.attack.linking.anonymous import CLINIC, HOSPITAL, REBECCA, SECRET, secrets_left
from discreet.attack.reconstruction.differencing import differencing as difference
from discreet.fix import Fix
from discreet.lecture.section import Section, rows_of, short


def anonymous() -> Section:
    """The printed hospital table without names (lecture 2)."""
    by_hospital, by_clinic = (secrets_left(table, REBECCA, secret=SECRET) for table in (HOSPITAL, CLINIC))
    return Section(
        "Rebecca, 55, in a table without names",
        "Ages are given by decades and names are stars. Whoever knows her age and sex finds her group.",
        rows_of(
            ("diagnoses that the printed table leaves", "2", str(len(by_hospital))),
            ("if an invented second table has her too", "", str(len(by_hospital & by_clinic))),
        ),
        command=Fix("", "attack", {"attack": "anonymous"}),
    )


def differencing() -> Section:
    """Two counts that differ in one person (lecture 2)."""
    return Section(
        "Two counts that each look harmless",
        "How many patients are there, and how many but Alice? A rule against small groups lets both pass.",
        rows_of(
            ("right guesses about Alice from exact counts", "", short(difference([20, 19], [19, 19], [1, 0]).raw)),
            ("most right guesses if both cost ε = 1 together", "", short(guess_of_many(1.0))),
        ),
        command=Fix("", "attack", {"attack": "differencing"}),
    )
