"""Words for what the numbers of a release count where a cap can bind."""

from discreet.answer.caps import of_at_most
from discreet.query import explain
from discreet.release.subject import Subject


def counted_of(subject: Subject) -> str | None:
    """What n counts, as answers say it; None where no cap can leave anything out."""
    schema, spec = subject.schema, subject.spec
    if schema.unit is None:
        return None
    who, rows = explain.unit(schema), schema.max_rows
    if spec.groups is not None:
        is_unit = spec.groups == who
        return of_at_most(rows, who, groups=1 if is_unit else None, called="place")
    if spec.count == "rows":
        return of_at_most(rows, who)
    looked_at = [schema.find(name) for name in (subject.tree.levels[-1], *spec.by)]
    if all(column is not None and column.fixed_per_unit for column in looked_at):
        return None
    return of_at_most(rows, who, groups=1, called="cell", seen=True)
