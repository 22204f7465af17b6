"""The columns of an answer for HAVING, typed as the table's are, so that the same rules hold."""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import NotAnswerable, short_text
from discreet.query.meaning.known import Domain
from discreet.query.meaning.names import in_sql
from discreet.schema import Schema, Type
from discreet.schema.words import suggestion

COUNTED = Domain(Type.NUMBER)  # what is counted, added up or averaged: a number without public bounds
LISTED = Domain(Type.TEXT)  # several favourites, written one after the other


@dataclass(frozen=True)
class Released:
    """The domain of each released column, by its name as the answer spells it."""

    domains: Mapping[str, Domain]

    def spelled(self, name: str) -> str:
        """The name as the answer spells it; refused if the answer has no such column."""
        names = {name.casefold(): name for name in self.domains}
        if name.casefold() in names:
            return names[name.casefold()]
        close = suggestion(name, names.values())
        fix = f"Did you mean {in_sql(close)}?" if close else f"Released are: {', '.join(map(in_sql, names.values()))}."
        what = f"{short_text(name)} is not in the answer."
        raise NotAnswerable(what, "HAVING and ORDER BY take the answer's columns only.", fix)


Scope = Schema | Released  # where a name is looked up
