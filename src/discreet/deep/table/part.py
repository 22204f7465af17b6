"""Parts of a dataset's persons on which nets are trained and like which tables are made: what `people.split` gives."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from discreet.learn.heldout.split import Side

if TYPE_CHECKING:
    from discreet.synth.task import SynthTask


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

    def synthesize(self, columns: Sequence[str] | None = None, **options: Any) -> "SynthTask":
        """A synthetic table like these persons, to be quoted and built; as `Dataset.synthesize`."""
        from discreet.synth.task import require_names, task_of

        require_names(options)
        return task_of(self.table, columns=columns, **self._with_part(options))
