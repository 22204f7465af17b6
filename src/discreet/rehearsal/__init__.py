"""Rehearsal: a dataset as it will be asked, over rows invented from its public facts; nothing private is opened.

    rows.py      rows invented from bounds, values, steps, hierarchies and max_rows
    table.py     the table over them: a ledger, a head and prepared files in a private folder that is removed
    engine.py    the engine, which says why it failed · reveal.py  the true cause in place of the gate's fixed reply
    stamp.py     the words on everything that comes out
    stamped.py   the classes that carry them: answers.py, releases.py, models.py, synthetic.py, files.py

The gate is the real one.  A rehearsal shows what the gate hides because it watches what it passes to the gate.
"""

from discreet.rehearsal.table import Rehearsal

__all__ = ["Rehearsal"]
