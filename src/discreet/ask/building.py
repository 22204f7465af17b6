"""Building: a question in the Python form, bound to the table it is about."""

from dataclasses import dataclass, replace
from typing import Any, Self

from discreet.ask.asking import Asking
from discreet.query.form.frame import Frame


@dataclass(frozen=True, repr=False)
class Building(Asking):
    """A question in the Python form.  Each method gives a new one, and `ask` works once there is an aggregate."""

    form: Frame

    def where(self, *conditions: Any) -> Self:
        """As `Frame.where`."""
        return replace(self, form=self.form.where(*conditions))

    def group_by(self, *keys: Any, **named_keys: Any) -> Self:
        """As `Frame.group_by`."""
        return replace(self, form=self.form.group_by(*keys, **named_keys))

    def agg(self, **outputs: Any) -> Self:
        """As `Frame.agg`."""
        return replace(self, form=self.form.agg(**outputs))

    def having(self, *conditions: Any) -> Self:
        """As `Frame.having`."""
        return replace(self, form=self.form.having(*conditions))

    def order_by(self, *names: str) -> Self:
        """As `Frame.order_by`."""
        return replace(self, form=self.form.order_by(*names))

    def limit(self, rows: int) -> Self:
        """As `Frame.limit`."""
        return replace(self, form=self.form.limit(rows))

    def offset(self, rows: int) -> Self:
        """As `Frame.offset`."""
        return replace(self, form=self.form.offset(rows))

    def caps(self, *, rows: int | None = None, groups: int | None = None) -> Self:
        """As `Frame.caps`."""
        return replace(self, form=self.form.caps(rows=rows, groups=groups))
