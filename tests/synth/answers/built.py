"""Synthetic tables of the invented people of `folk`, as rows of persons or of persons with several rows."""

import discreet as dp
from synth.folk import rows_of, written

ZEROS = [{"region": "north", "ill": True}]


def built(folder, *, max_rows=1, count=600, epsilon=20, rehearsal=False, **options):
    """A table whose dataset is closed: whatever is asked of it reads nothing."""
    toml = written(folder, rows_of(count, max_rows), max_rows=max_rows)
    with dp.open(toml, rehearsal=rehearsal) as people:
        return people.synthesize(**options).build(epsilon=epsilon)
