"""Run an attack: on its built-in example, or on a file of the curator's own, whose result is the curator's alone."""

from dataclasses import dataclass
from pathlib import Path

from discreet import amounts, outputs
from discreet.attack import words
from discreet.attack.catalog import ATTACKS, Attack, attack_named
from discreet.attack.result import Result
from discreet.errors import bad
from discreet.operation.reply import Reply, envelope

_MOST_SEED = 2**63 - 1
_MOST_EPSILON = 100
_KINDS = {"release": "a release", "synthetic": "a synthetic table", "model": "a model"}


@dataclass(frozen=True)
class AttackCall:
    """An attack's name with the ε of its private column, 1 by default, or the file that it is tried on."""

    name: str
    epsilon: str | None = None
    seed: str = "7"
    on: Path | None = None
    curator: bool = False
    plot: Path | None = None
    output: Path | None = None  # where the reply will be written


def attack(call: AttackCall) -> Reply[Result]:
    """Everything that was typed is checked before the attack begins, which takes up to two minutes."""
    chosen = attack_named(call.name)
    seed = amounts.whole(call.seed, "seed", 0, _MOST_SEED, such_as=7)
    if call.epsilon is not None and call.on is not None:
        rule = "goes with the built-in example alone: a file was made at an ε of its own"
        raise bad("epsilon", rule, call.epsilon, "Leave --eps out, or --on.")
    epsilon = amounts.epsilon("1" if call.epsilon is None else call.epsilon)
    if epsilon > _MOST_EPSILON:
        raise bad("epsilon", f"must be at most {_MOST_EPSILON} for an attack", call.epsilon, "Give, say, --eps 10.")
    if call.plot is not None:
        from discreet.plot.style import checked_path

        outputs.require_harmless(checked_path(call.plot), flag="plot")
    if call.on is not None:
        _require_spared(call.output, call.on, flag="output")
        _require_spared(call.plot, call.on, flag="plot")
    if call.on is None:
        if call.curator:
            raise bad("curator", "goes with --on and a file of your own", "no --on", "Leave it out for the example.")
        result = chosen.example((amounts.text_of(epsilon),), seed)
    else:
        result = _on_file(call.name, chosen, call.on, seed, curator=call.curator)
    return Reply(_data(result, call.plot), result)


def attack_list() -> Reply[dict[str, Attack]]:
    """Every attack, what it does, and what it can be tried on."""
    rows = [{"name": name, "title": entry.title, "on": list(entry.on)} for name, entry in ATTACKS.items()]
    return Reply(envelope(attacks=rows), dict(ATTACKS))


def _require_spared(file: Path | None, on: Path, *, flag: str) -> None:
    """Refuses to write over what is attacked, or over what the attack reads beside it: rows, metadata, their source."""
    if file is None:
        return
    from discreet.attack.models.beside import MEMBERS, OTHERS

    folder, inside = on.absolute().parent, list(on.glob("*"))  # none in a file
    if any(outputs.is_same_file(file, kept) for kept in (on, folder / MEMBERS, folder / OTHERS, *inside)):
        raise bad(flag, "must be another file than those that are attacked", str(file), "Give a name of its own.")
    for toml in sorted(folder.glob("*.toml")):
        outputs.require_harmless(file, toml, flag=flag)


def _on_file(name: str, chosen: Attack, path: Path, seed: int, *, curator: bool) -> Result:
    """The attack on the curator's own file, refused unless the caller says to be the curator."""
    if not chosen.on:
        able = ", ".join(other for other, entry in ATTACKS.items() if entry.on)
        raise bad("on", f"is not for {name}, which has its built-in example alone", str(path), f"It is for {able}.")
    if not curator:
        raise bad(
            "on",
            "must come with --curator: its result may be a function of rows, which must not leave the curator",
            str(path),
            "Add --curator if the rows are yours to see.",
        )
    if not path.exists():
        kinds = " or ".join(_KINDS[kind] for kind in chosen.on)
        raise bad("on", f"must be {kinds} that is there", str(path), "Give the path of what you built.")
    return chosen.on_file(path, seed)


def _data(result: Result, plot: Path | None) -> dict[str, object]:
    stamp = (words.STAMP,) if result.of_real_data else ()
    shown = None if plot is None else str(plot)
    return envelope(**{"result": result.to_json() | {"plot": shown}, "caveats": [*stamp, *words.caveats(result)]})
