"""Every attack by its name: the module that runs it, and what it can be tried on besides its built-in example.

A module of an attack has `example(epsilons, seed)`, which runs it on invented or public rows, raw and at each ε.
Where `on` names a kind of file, the module has `on_file(path, seed)` for the curator's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.attack.packages import one_thread, require
from discreet.errors import bad
from discreet.fix import Fix
from discreet.schema.words import suggestion

if TYPE_CHECKING:
    from discreet.attack.result import Result

_READS = {"release": "pyarrow", "synthetic": "pyarrow"}  # the package that opens a kind of file


@dataclass(frozen=True)
class Attack:
    """One attack: its module below `discreet.attack`, what it does in a line, and the files it can be tried on.

    `needs` are the packages beyond the core that its example takes; they are asked for before it begins.
    """

    module: str
    title: str
    on: tuple[str, ...] = ()  # of "release", "synthetic", "model"
    needs: tuple[str, ...] = ()

    def example(self, epsilons: Sequence[str], seed: int) -> "Result":
        """The attack on its built-in example, raw and at each ε."""
        require(*self.needs)
        home = self._home()
        with one_thread(self.needs):
            result: Result = home.example(tuple(epsilons), seed)
        return result

    def on_file(self, path: Path, seed: int) -> "Result":
        """The attack on a file of the curator's own."""
        require(*(_READS[kind] for kind in self.on if kind in _READS))
        home = self._home()
        with one_thread(()):
            result: Result = home.on_file(path, seed)
        return result

    def _home(self) -> Any:
        return import_module(f"discreet.attack.{self.module}")


ATTACKS: dict[str, Attack] = {
    "ages": Attack(
        "consistent.ages", "Count the databases that could have led to averages of five ages.", needs=("ortools",)
    ),
    "anonymous": Attack("linking.anonymous", "See what a k-anonymous table leaves of one person's secret."),
    "attribute": Attack(
        "models.attribute",
        "Tell a hidden cell by a model's answers or a synthetic table.",
        on=("synthetic",),
        needs=("pyarrow", "sklearn"),
    ),
    "averaging": Attack("reconstruction.averaging", "Repeat a question until the noise averages out."),
    "canary": Attack(
        "models.canary", "A secret line, planted in what a language model learnt, is recited.", needs=("torch",)
    ),
    "differencing": Attack("reconstruction.differencing", "Subtract two counts that differ in one person."),
    "gradient": Attack(
        "models.gradient", "The gradient of one example at a linear layer is that example.", needs=("torch",)
    ),
    "linkage": Attack(
        "linking.linkage", "Name people by zip code, birth date and sex.", on=("synthetic",), needs=("pyarrow",)
    ),
    "membership": Attack(
        "models.membership", "Tell members from others by a model's loss and by shadow models.", on=("model",)
    ),
    "missing_row": Attack(
        "models.missing_row", "All rows but one and an exact logistic model give the missing row.", needs=("sklearn",)
    ),
    "ratings": Attack("linking.ratings", "Find a person among rating histories from a few ratings and dates."),
    "shame": Attack("reconstruction.shame", "Publish rows under a δ that is too large."),
    "small_area": Attack(
        "consistent.small_area", "Rebuild small areas from their tables.", on=("release",), needs=("ortools",)
    ),
    "subset_sums": Attack("reconstruction.subset_sums", "Solve for secret bits from sums over random subsets."),
    "vectors": Attack(
        "models.vectors", "Rows stand in the file of a support-vector machine with a kernel.", needs=("sklearn",)
    ),
    "worlds": Attack(
        "consistent.block",
        "Count the databases that could have led to the tables of a census block.",
        needs=("ortools",),
    ),
}


def attack_named(name: str) -> Attack:
    """The attack of that name, or a refusal that lists them."""
    if name not in ATTACKS:
        closest = suggestion(name, ATTACKS)
        fix = Fix("See", "attack list") if closest is None else f"Did you mean {closest}?"
        raise bad("attack", f"must be one of {', '.join(ATTACKS)}", name, fix)
    return ATTACKS[name]
