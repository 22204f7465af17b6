"""The table of verbs: module, function and line of help.  Only the verb that is called is imported.

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
    "demo": Verb("demo", "demo", "Ask an invented hospital three questions and show what is left of its budget."),
    "demo lecture": Verb("demo", "lecture", "Show a lecture's results: blue eyes, the tax survey, the worth of trust."),
    "init": Verb("init", "init", "Write the metadata of a table from its header and a few answers."),
    "check": Verb("check", "check", "List what the metadata leaves open, each gap with a line to paste."),
    "prepare": Verb("prepare", "prepare", "Make the typed, capped copy of the table that questions run on."),
    "quote": Verb("quote", "quote", "Show what a question would cost and how exact it would be."),
    "ask": Verb("ask", "ask", "Ask a question: pay from the budget, get numbers with their ±."),
    "explain": Verb("explain", "explain", "Explain how a question is answered, before or after it is asked."),
    "budget": Verb("budget", "budget", "Show what may be spent, what is spent and what that promises."),
    "budget set": Verb("budget_set", "set_budget", "Change the budget or a cap, in the metadata and in the ledger."),
    "budget reopen": Verb("budget", "reopen", "Reopen a dataset that was closed after too many failures."),
    "ledger": Verb("ledger", "ledger", "List every charge and every act of the curator, oldest first."),
    "ledger adopt": Verb("ledger", "adopt", "Take over a ledger that was moved here."),
    "ledger abandon": Verb("ledger", "abandon", "End a run that is under way; what was set aside for it stays spent."),
    "release plan": Verb(
        "release_plan", "plan", "Show what tables that add up would cost and how exact each level would be."
    ),
    "release build": Verb(
        "release_build", "build", "Build tables that add up: pay once, measure every level, fit, and write a folder."
    ),
    "release check": Verb("release_check", "check", "Check a built release against every rule: sums, signs, margins."),
    "release publish": Verb("release_publish", "publish", "Write tables, measurements, a page and a report to share."),
    "learn plan": Verb("learn_fit", "plan", "Show what a model would cost and with which noise it would be fitted."),
    "learn fit": Verb("learn_fit", "fit", "Fit a model: pay once, and write a file that holds it and its promise."),
    "learn quote": Verb(
        "learn_score", "quote", "Show what a score or rates of groups would cost and how exact they are."
    ),
    "learn score": Verb("learn_score", "score", "Score a fitted model on the persons of a dataset, with its ±."),
    "learn fairness": Verb("learn_score", "fairness", "Compare how well a fitted model predicts each group, with ±."),
    "learn predict": Verb("learn_model", "predict", "Predict rows of your own with a model's file."),
    "learn card": Verb("learn_model", "card", "Describe a model: its promise in words, and what it is not for."),
    "learn verify": Verb("learn_model", "verify", "Recompute what a model's file states, against a ledger too."),
    "synth quote": Verb(
        "synth", "quote", "Show what a synthetic table would cost, how it would be measured and with which noise."
    ),
    "synth build": Verb("synth", "build", "Build a synthetic table: pay once, measure, fit, and write invented rows."),
    "synth report": Verb(
        "synth",
        "report",
        "Write a page about a synthetic table: its promise, what was measured, what it is not for, and a check.",
    ),
    "train": Verb(
        "train",
        "train",
        "Train a net on a dataset: pay before the first step, and write a file that holds it and its promise.",
    ),
    "train plan": Verb("train", "plan", "Show what training a net would cost, its steps and its noise."),
    "train card": Verb(
        "train_file", "card", "Describe a net: its promise in words, how it was trained, and what it is not for."
    ),
    "train predict": Verb("train_file", "predict", "Predict rows of your own with a net's file."),
    "survey design": Verb(
        "survey_design", "design", "Show how many people a survey needs, with protection and without."
    ),
    "survey page": Verb(
        "survey_design", "page", "Write the page of a survey, which randomises in the browser, and print its SHA-256."
    ),
    "survey paper": Verb("survey_design", "paper", "Write a slip to print, on which people randomise with two coins."),
    "survey serve": Verb(
        "survey_collect",
        "serve",
        "Serve a survey: hand out its page and collect randomised reports, one for each invitation.",
    ),
    "survey simulate": Verb(
        "survey_design",
        "simulate",
        "Simulate a survey: invent people with known shares and write their randomised reports.",
    ),
    "survey estimate": Verb(
        "survey_result", "estimate", "Estimate the share of every value, or a mean, with intervals."
    ),
    "survey report": Verb(
        "survey_result",
        "report",
        "Write a page about a survey: its estimates, how answers were protected, and what could be wrong.",
    ),
    "odds": Verb("odds", "odds", "Show what a promise lets someone conclude about you: beliefs, guesses, catches."),
    "audit": Verb("audit", "audit", "Look for a lower bound on ε above what each mechanism claims."),
    "curve": Verb("curve", "curve", "Measure a curve of the lectures: errors and prices beside their theory."),
    "picture": Verb("picture", "picture", "Flip every bit of a picture made of people and show what remains."),
    "attack": Verb(
        "attack",
        "attack",
        "Run an attack on its built-in example, without noise and at one ε, or on a file of your own.",
    ),
    "attack list": Verb(
        "attack", "attack_list", "List the attacks, and what each can be tried on besides its built-in example."
    ),
    "lecture": Verb(
        "lecture",
        "lecture",
        "Walk through a lecture: each figure that it prints beside the one that Discreet computes.",
    ),
}


class Verbs(typer.core.TyperGroup):
    """The group of verbs, each imported when it is called; `commands` holds names and help lines alone."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb itself, imported now."""
        return load(cmd_name) if cmd_name in VERBS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb and the words after it; two words where both together are a verb."""
        index = next((index for index, word in enumerate(args) if index and word != "--json"), len(args))
        second_word = args[index] if index < len(args) else ""
        two_words = f"{args[0]} {second_word}"
        if two_words in VERBS:
            return two_words, load(two_words), [*args[1:index], *args[index + 1 :]]
        if args[0] in VERBS:
            _require_file(ctx, args[0], second_word)
        elif parts := _second_words(args[0]):
            _require_no_slip(ctx, second_word, parts, before=f"{args[0]} ")
            if second_word in ctx.help_option_names:
                typer.echo("\n".join(f"discreet {args[0]} {part}: {VERBS[f'{args[0]} {part}'].help}" for part in parts))
                ctx.exit()
            ctx.fail(f"'{args[0]}' takes one more word: {', '.join(parts)}.")
        elif not args[0].startswith("-"):
            _require_no_slip(ctx, args[0], [name for name in VERBS if " " not in name])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list under --help, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])


def load(name: str) -> Any:
    """Import the verb and make its command."""
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
    parts = _second_words(verb)
    if parts and word and not word.startswith("-") and "." not in word:
        _require_no_slip(ctx, word, parts, before=f"{verb} ")


def _second_words(verb: str) -> list[str]:
    """The second words of a verb."""
    return [name.partition(" ")[2] for name in VERBS if name.startswith(f"{verb} ")]


def _require_no_slip(ctx: Any, word: str, choices: list[str], *, before: str = "") -> None:
    """Refuses a word that is a misspelt choice; any other word passes."""
    from discreet.schema.words import suggestion

    intended = suggestion(word, choices)
    if intended is not None:
        ctx.fail(f"No such command '{before}{word}'. Did you mean '{before}{intended}'?")


def _nothing(ctx: Any) -> None:
    """No words."""
