"""What the numbers of a release count where a cap can bind, in the words of answers."""

from discreet.answer.caps import of_at_most
from discreet.query import explain
from discreet.release.subject import Subject


def counted_of(subject: Subject) -> str | None:
    """The words for n and its estimate; None where no cap leaves anything out."""
    schema, wanted = subject.schema, subject.wanted
    if schema.unit is None:
        return None
    who, rows = explain.unit(schema), schema.max_rows
    if wanted.groups is not None:
        whole = wanted.groups == who
        return of_at_most(rows, who, groups=1 if whole else None, called="place")
    if wanted.count == "rows":
        return of_at_most(rows, who)
    looked_at = [schema.find(name) for name in (subject.tree.levels[-1], *wanted.by)]
    if all(column is not None and column.fixed_per_unit for column in looked_at):
        return None
    return of_at_most(rows, who, groups=1, called="cell", seen=True)
