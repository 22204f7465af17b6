"""Every verb, where it lives and its one line of help; only the verb that is called is imported.

A verb of two words, such as `budget set`, is an entry of its own; after `budget` any other word is the metadata file.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
import typer.core


@dataclass(frozen=True)
class Verb:
    """The module and the function of a verb, and the first sentence of that function's docstring."""

    module: str
    function: str
    help: str


VERBS = {  # in the order of a first afternoon
    "demo": Verb("demo", "demo", "An invented hospital: three questions through the gate, and what is left."),
    "demo lecture": Verb("demo", "lecture", "A short tour: blue eyes, the tax survey, and what trust is worth."),
    "init": Verb("init", "init", "Write the metadata of a table from its header and a few answers."),
    "check": Verb("check", "check", "What the metadata leaves open: each gap with a line to paste."),
    "prepare": Verb("prepare", "prepare", "Make the typed, capped copy of the table that questions run on."),
    "quote": Verb("quote", "quote", "What a question would cost and how exact it would be."),
    "ask": Verb("ask", "ask", "Ask a question: pay from the budget, get numbers with their ±."),
    "explain": Verb("explain", "explain", "How a question is answered, before or after it is asked."),
    "budget": Verb("budget", "budget", "What may be spent, what is spent, and what that promises."),
    "budget set": Verb("budget_set", "set_budget", "Change the budget or a cap, in the metadata and in the ledger."),
    "budget reopen": Verb("budget", "reopen", "Open a dataset again that too many failures have closed."),
    "ledger": Verb("ledger", "ledger", "Every charge and every act of the curator, oldest first."),
    "ledger adopt": Verb("ledger", "adopt", "Take a ledger that was moved here as it lies."),
    "ledger abandon": Verb("ledger", "abandon", "End a run that is under way; what was set aside for it stays spent."),
    "release plan": Verb(
        "release_plan", "plan", "What tables that add up would cost, and how exact each level would be."
    ),
    "release build": Verb(
        "release_build", "build", "Build tables that add up: pay once, measure every level, fit, and write a folder."
    ),
    "release check": Verb("release_check", "check", "Whether a built release keeps every rule: sums, signs, margins."),
    "release publish": Verb("release_publish", "publish", "Tables, measurements, a page and a report, ready to share."),
    "odds": Verb("odds", "odds", "What a promise lets someone conclude about you: beliefs, guesses, catches."),
    "audit": Verb("audit", "audit", "Look for a lower bound on ε above what each mechanism claims."),
}


class Verbs(typer.core.TyperGroup):
    """The verbs as a group that imports on demand: `commands` holds names and helps alone."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb itself, imported now."""
        return loaded(cmd_name) if cmd_name in VERBS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb and the words after it; two words where both together are a verb."""
        place = next((place for place, word in enumerate(args) if place and word != "--json"), len(args))
        second = args[place] if place < len(args) else ""
        both = f"{args[0]} {second}"
        if both in VERBS:
            return both, loaded(both), [*args[1:place], *args[place + 1 :]]
        if args[0] in VERBS:
            _require_file(ctx, args[0], second)
        elif parts := _parts(args[0]):
            _refuse(ctx, second, parts, before=f"{args[0]} ")
            if second in ctx.help_option_names:
                typer.echo("\n".join(f"discreet {args[0]} {part}: {VERBS[f'{args[0]} {part}'].help}" for part in parts))
                ctx.exit()
            ctx.fail(f"'{args[0]}' takes one more word: {', '.join(parts)}.")
        elif not args[0].startswith("-"):
            _refuse(ctx, args[0], [name for name in VERBS if " " not in name])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list under --help, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])


def loaded(name: str) -> Any:
    """The command of a verb."""
    verb = VERBS[name]
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name)(getattr(import_module(f"discreet.cli.{verb.module}"), verb.function))
    command: Any = typer.main.get_command(single)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = _nothing  # beside NAME its help shall not say <list[str]>
    return command


def _require_file(ctx: Any, verb: str, word: str) -> None:
    """Refuses a second word that is a misspelt part of the verb rather than a file."""
    parts = _parts(verb)
    if parts and word and not word.startswith("-") and "." not in word:
        _refuse(ctx, word, parts, before=f"{verb} ")


def _parts(verb: str) -> list[str]:
    """The second words of a verb."""
    return [name.partition(" ")[2] for name in VERBS if name.startswith(f"{verb} ")]


def _refuse(ctx: Any, word: str, known: list[str], *, before: str = "") -> None:
    """Fails with the word that was probably meant; a word that is like none of them is left to others."""
    from discreet.schema.words import suggestion

    meant = suggestion(word, known)
    if meant is not None:
        ctx.fail(f"No such command '{before}{word}'. Did you mean '{before}{meant}'?")


def _nothing(ctx: Any) -> None:
    """No words."""
