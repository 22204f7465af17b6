"""Parts of a dataset's persons on which nets can be trained: what `people.split` gives."""

from collections.abc import Iterable
from typing import Any

from discreet.learn.heldout.split import Side


class Part(Side):
    """Some of the persons of a table; what is asked of them is charged to them alone where that is sound."""

    def train(
        self,
        trainer: Any,
        *,
        target: str,
        features: str | Iterable[str] | None = None,
        bins: Any = None,
        **options: Any,
    ) -> Any:
        """The trainer's net, trained on these persons; as `Dataset.train`."""
        from discreet.deep.table.train import train

        own = self._with_part(options)
        return train(self.table, trainer, target=target, features=features, bins=bins, **own)
