"""The columns of an answer as HAVING sees them: typed like those of the table, so that one rule holds for both."""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import NotAnswerable, quoted
from discreet.query.meaning.known import Domain
from discreet.query.meaning.names import in_sql
from discreet.schema import Schema, Type
from discreet.schema.words import suggestion

COUNTED = Domain(Type.NUMBER)  # what is counted, added up or averaged: a number without public bounds
LISTED = Domain(Type.TEXT)  # several favourites, written one after the other


@dataclass(frozen=True)
class Released:
    """What is publicly known of each released column, by its name as the answer spells it."""

    domains: Mapping[str, Domain]

    def spelled(self, given: str) -> str:
        """The name as the answer spells it; refused where it has none such."""
        names = {name.casefold(): name for name in self.domains}
        if given.casefold() in names:
            return names[given.casefold()]
        meant = suggestion(given, names.values())
        fix = f"Did you mean {in_sql(meant)}?" if meant else f"Released are: {', '.join(map(in_sql, names.values()))}."
        what = f"{quoted(given)} is not in the answer."
        raise NotAnswerable(what, "HAVING and ORDER BY speak of released columns only.", fix)


Scope = Schema | Released  # where a name is looked up
