"""`discreet learn`: the plan, one charge and a file; predictions, card and verification from the file alone."""

import csv
import io
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from cli.screen import type_answer
from discreet.cli.budget_set import set_budget
from discreet.cli.learn_fit import plan as plan_verb
from discreet.learn.learners import EXAMPLES, MODELS
from discreet.operation.learn import LearnCall
from discreet.rehearsal.stamp import SENTENCE
from fixes import words_of
from learn.folk import rows, write_people

Told = Callable[..., dict[str, Any]]
Shown = Callable[..., tuple[str, str]]
ABOUT = ("people.toml", "--model", "naive-bayes", "--target", "income", "--features", "region,age,code", "--eps", "1")
FIT = ("learn", "fit", *ABOUT, "-o", "income.dp")


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """People with an income, in a folder of its own that is also the present one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return write_people(tmp_path)


def spent(told: Told) -> str:
    return str(told("budget", "people.toml")["spent"]["epsilon"])


# --- plan ------------------------------------------------------------------------------------------------------------


def test_plan_costs_nothing_and_offers_the_fit(people: Path, told: Told) -> None:
    people.with_suffix(".csv").unlink()
    reply = told("learn", "plan", *ABOUT)
    assert reply["cost"] == {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person_id"}
    assert (reply["remaining"]["epsilon"], reply["remaining_after"]["epsilon"], reply["fits"]) == ("20", "19", True)
    assert shlex.split(reply["next"][0])[:3] == ["discreet", "learn", "fit"]
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.toml"]


@pytest.mark.parametrize("model", MODELS)
def test_every_model_can_be_planned(people: Path, told: Told, model: str) -> None:
    target = "secret" if model == "linear-regression" else "income"
    features = "age" if model == "gaussian-naive-bayes" else "region,age"
    flags = ("--model", model, "--target", target, "--features", features, "--eps", "1", "--delta", "1e-8")
    assert told("learn", "plan", "people.toml", *flags)["words"]


def test_help_names_every_model(people: Path, told: Told) -> None:
    assert plan_verb.__doc__
    helped = " ".join(told("learn", "plan", "--help")["text"].split())
    assert all(model in helped for model in MODELS)


def test_a_plan_that_does_not_fit_offers_what_does(people: Path, told: Told) -> None:
    reply = told("learn", "plan", *ABOUT[:-1], "100")
    assert reply["fits"] is False
    assert told(*shlex.split(reply["next"][0])[1:])["receipt"]


@pytest.mark.parametrize(
    "flags",
    [
        ("--target", "income", "--eps", "1"),
        ("--model", "naive-bayes", "--eps", "1"),
        ("--model", "naive-bayes", "--target", "income"),
    ],
    ids=["no model", "no target", "no price"],
)
def test_what_is_missing_is_refused_with_a_call_that_has_it(people: Path, told: Told, flags: tuple[str, ...]) -> None:
    problem = told("learn", "plan", "people.toml", *flags, exit_code=2)
    (fix,) = problem["fixes"]
    assert fix["verb"] == "learn plan"
    if "…" not in fix["arguments"].values():
        told(*shlex.split(problem["fix"].partition("discreet ")[2]))


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--model", "naive-byes", "--target", "income"), "naive-bayes"),
        (("--model", "naive-bayes", "--target", "incom"), "income"),
        (("--model", "naive-bayes", "--target", "income", "--features", "age,,region"), "--features age,region"),
        (("--model", "naive-bayes", "--target", "income", "--features", "person_id"), "must not be the unit's key"),
        (("--model", "naive-bayes", "--target", "income", "--features", "income,age"), "Leave out 'income'."),
        (("--model", "naive-bayes", "--target", "secret"), "linear regression for a number"),
        (("--model", "logistic", "--target", "income", "--solver", "adassp"), "Leave out the solver."),
        (("--model", "hinge", "--target", "code", "--delta", "0"), "use logistic regression"),
        (("--model", "naive-bayes", "--target", "income", "--rho", "0.05"), "Leave out one of the two."),
        (("--model", "naive-bayes", "--target", "income", "--max-rows", "many"), "max-rows"),
        (("--model", "naive-bayes", "--target", "income", "--rho", "0.1"), "rho"),
        (("--model", "naive-bayes", "--target", "income", "--test", "2"), "0.02 holds out 2 of 100"),
        (("--model", "naive-bayes", "--target", "income", "--test", "20"), "0.2 holds out 20 of 100"),
        (("--model", "naive-bayes", "--target", "income", "--test", "0"), "such as 0.2"),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else None,
)
def test_flags_that_break_a_rule_are_refused(people: Path, told: Told, flags: tuple[str, ...], said: str) -> None:
    problem = told("learn", "plan", "people.toml", *flags, "--eps", "1", exit_code=2)
    assert said in f"{problem['what']} {problem['fix']}"


# --- options of models ----------------------------------------------------------------------------------------------

GIVEN = [
    ("naive-bayes", "income", ("--bins", "8"), {"bins": 8}),
    ("random-forest", "income", ("--trees", "5", "--depth", "2"), {"trees": 5, "depth": 2}),
    ("decision-tree", "income", ("--depth", "2"), {"depth": 2}),
    (
        "logistic",
        "income",
        ("--class-weight", "high=2", "--class-weight", "low=1/2", "--passes", "4", "--norm", "1.5", "--rows", "600"),
        {"class_weight": [["high", 2.0], ["low", 0.5]], "passes": 4, "norm": "1.5", "rows": 600},
    ),
    ("hinge", "income", ("--solver", "output", "--alpha", "1"), {"solver": "output", "alpha": "1"}),
    (
        "logistic",
        "code",
        (
            "--class-weight",
            "3=2",
        ),
        {"class_weight": [[3, 2.0]]},
    ),
    ("linear-regression", "secret", ("--solver", "adassp"), {"solver": "adassp"}),
]
ESTIMATORS = {
    "naive-bayes": "NaiveBayes",
    "random-forest": "RandomForest",
    "decision-tree": "DecisionTree",
    "logistic": "LogisticRegression",
    "hinge": "LinearClassifier",
    "linear-regression": "LinearRegression",
}


@pytest.mark.parametrize(("model", "target", "flags", "options"), GIVEN, ids=lambda value: str(value)[:30])
def test_a_fit_with_options_replays_the_one_in_python(
    people: Path, told: Told, model: str, target: str, flags: tuple[str, ...], options: dict[str, Any]
) -> None:
    import discreet as dp

    given = {name: dict(value) if name == "class_weight" else value for name, value in options.items()}
    with dp.open("people.toml") as dataset:
        task = dataset.learn(getattr(dp.learn, ESTIMATORS[model])(**given), target=target, features=["age", "region"])
        receipt = task.fit(epsilon=1).privacy_.receipt
    about = ("people.toml", "--model", model, "--target", target, "--features", "age,region", "--eps", "1", *flags)
    planned = told("learn", "plan", *about)
    assert (planned["model"], planned["options"]) == (model, options)
    reply = told(*shlex.split(planned["next"][0])[1:])
    assert (reply["receipt"], reply["replayed"], reply["options"]) == (receipt, True, options)
    card = told("learn", "card", "people.dp")
    assert (card["model"], card["card"]["model"]) == (model, model)


@pytest.mark.parametrize(
    ("model", "flags", "takers"),
    [
        ("naive-bayes", ("--trees", "5"), "random-forest"),
        ("gaussian-naive-bayes", ("--depth", "2"), "random-forest and decision-tree"),
        ("linear-regression", ("--class-weight", "high=2"), "logistic and hinge"),
        ("logistic", ("--bins", "8"), "naive-bayes and additive"),
        ("additive", ("--solver", "auto"), "logistic, hinge and linear-regression"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_an_option_of_other_models_is_refused_and_they_are_named(
    people: Path, told: Told, model: str, flags: tuple[str, ...], takers: str
) -> None:
    about = ("people.toml", "--model", model, "--target", "income", "--features", "age", "--eps", "1")
    problem = told("learn", "fit", *about, *flags, exit_code=2)
    assert problem["what"] == f"{model} has no option {flags[0]}."
    assert problem["why"] == f"{flags[0]} is an option of {takers}."
    assert not Path("people.ledger").exists()
    (fix,) = problem["fixes"]
    assert flags[0].strip("-").replace("-", "_") not in fix["arguments"]
    if model != "linear-regression":
        assert told(*shlex.split(problem["fix"].partition("discreet ")[2]))["receipt"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--model", "random-forest", "--trees", "many"), "--trees 50"),
        (("--model", "random-forest", "--trees", "0"), "between 1 and 1000"),
        (("--model", "random-forest", "--depth", "2.5"), "--depth 4"),
        (("--model", "naive-bayes", "--bins", "1"), "--bins 32"),
        (("--model", "logistic", "--passes", "1001"), "--passes 50"),
        (("--model", "logistic", "--rows", "-5"), "--rows 10000"),
        (("--model", "logistic", "--norm", "0"), "--norm 2"),
        (("--model", "logistic", "--alpha", "x"), "--alpha 0.1"),
        (("--model", "logistic", "--solver", "descent", "--alpha", "1"), "must be left out for descent"),
        (("--model", "logistic", "--solver", "sgd"), "auto, descent, objective, output, adassp"),
        (("--model", "logistic", "--class-weight", "balanced"), "CLASS=WEIGHT"),
        (("--model", "logistic", "--class-weight", "high=0"), "--class-weight yes=2"),
        (("--model", "logistic", "--class-weight", "middle=2"), "low, high"),
        (("--model", "logistic", "--class-weight", "low=2", "--class-weight", "low=3"), "each class once"),
    ],
    ids=lambda value: " ".join(value[2:]) if isinstance(value, tuple) else None,
)
def test_options_that_break_a_rule_are_refused_before_the_charge(
    people: Path, told: Told, flags: tuple[str, ...], said: str
) -> None:
    problem = told("learn", "fit", "people.toml", "--target", "income", *flags, "--eps", "1", exit_code=2)
    assert said in f"{problem['what']} {problem['fix']}"
    assert '="' not in problem["fix"]
    assert not Path("people.ledger").exists()


def test_every_option_of_a_model_has_a_flag_a_call_and_an_example(people: Path, told: Told) -> None:
    helped = told("learn", "fit", "--help")["text"]
    options = {option for named in MODELS.values() for option in named.options}
    assert options == set(EXAMPLES)
    assert all(f"--{option.replace('_', '-')} " in helped for option in options)
    assert options <= {field.name for field in fields(LearnCall)}


# --- fit -------------------------------------------------------------------------------------------------------------


def test_fit_charges_once_and_its_next_steps_run(people: Path, told: Told) -> None:
    planned, reply = told("learn", "plan", *ABOUT), told(*FIT)
    assert (reply["cost"], reply["remaining"]["epsilon"]) == (planned["cost"], "19")
    assert (reply["file"], reply["replayed"], spent(told)) == ("income.dp", False, "1")
    assert reply["privacy"]["receipt"] == reply["receipt"]
    for line in reply["next"]:
        told(*(word.replace("…", "people.csv") for word in shlex.split(line)[1:]))


def test_a_replayed_fit_tells_the_price_that_it_had(people: Path, told: Told) -> None:
    call = ("learn", "fit", "people.toml", "--model", "logistic", "--target", "income", "--eps", "1", "--yes")
    first = told(*call)
    set_budget(Path("people.toml"), delta="1e-8", why="a test")
    replayed = told(*call)
    assert replayed["replayed"] is True
    assert replayed["cost"] == first["cost"]
    assert replayed["cost"]["delta"] == replayed["privacy"]["delta"]
    assert replayed["words"] == first["words"]


def test_a_fit_again_is_free_and_writes_the_same_bytes(people: Path, told: Told) -> None:
    told(*FIT)
    before = Path("income.dp").read_bytes()
    assert "must not be there yet" in told(*FIT, exit_code=2)["what"]
    assert told(*FIT, "--yes")["replayed"] is True
    assert Path("income.dp").read_bytes() == before
    assert spent(told) == "1"


def test_the_default_file_lies_beside_the_metadata(people: Path, told: Told) -> None:
    assert told("learn", "fit", *ABOUT)["file"] == "people.dp"


@pytest.mark.parametrize("name", ["people.toml", "people.csv", "people.ledger", "nowhere/income.dp", "."])
def test_a_file_that_cannot_be_written_is_refused_before_the_charge(people: Path, told: Told, name: str) -> None:
    told("learn", "fit", *ABOUT, "-o", name, "--yes", exit_code=2)
    assert not Path("people.ledger").exists()


def test_a_fit_beyond_the_budget_is_refused_with_one_that_fits(people: Path, told: Told) -> None:
    problem = told("learn", "fit", *ABOUT[:-1], "50", exit_code=5)
    assert problem["code"] == "budget-exceeded"
    assert told(*shlex.split(problem["fix"].splitlines()[0].partition("discreet ")[2]))["receipt"]


def test_an_analyst_has_a_cap(people: Path, told: Told) -> None:
    assert told("learn", "plan", *ABOUT, "--as", "ana")["remaining"]["epsilon"] == "1"
    told(*FIT, "--as", "ana")
    told("learn", "fit", *ABOUT[:-1], "0.5", "--as", "ana", "-o", "more.dp", exit_code=5)


def test_a_rehearsed_fit_is_marked_and_charges_nothing(people: Path, told: Told) -> None:
    reply = told("learn", "fit", *ABOUT, "--rehearse")
    assert reply["rehearsal"] is True
    assert (reply["file"], Path("people.ledger").exists()) == ("people.rehearsal.dp", False)
    assert "rehearsal" in reply["privacy"]["covers"].casefold()
    assert "invented" in told("learn", "card", "people.rehearsal.dp")["card"]["privacy"]["covers"]
    told("learn", "fit", *ABOUT, "--rehearse", "--yes", exit_code=2)


def test_a_model_of_a_rehearsal_is_scored_in_one(people: Path, told: Told, shown: Shown) -> None:
    people.with_suffix(".csv").unlink()
    reply = told("learn", "fit", *ABOUT, "--test", "0.25", "--rehearse")
    scoring, card, fitting = reply["next"]
    assert scoring.endswith("people.rehearsal.dp --metric accuracy --eps 1 --test 0.25 --rehearse")
    assert (card, fitting) == (
        "discreet learn card people.rehearsal.dp",
        f"discreet {shlex.join(['learn', 'fit', *ABOUT, '--test', '0.25'])}",
    )
    commands = [
        shlex.split(scoring)[1:],
        ["learn", "quote", *shlex.split(scoring)[3:]],
        ["learn", "fairness", "people.toml", "people.rehearsal.dp", "--by", "region", "--eps", "1", "--rehearse"],
    ]
    for command in commands:
        assert next(iter(told(*command).items())) == ("rehearsal", True)
        out, _ = shown(*command)
        assert out.startswith("REHEARSAL: ")
        assert SENTENCE in out
    (fix,) = told(*commands[1])["next"]
    assert fix.endswith("--rehearse")
    assert told(*commands[0])["receipt"].startswith("rehearsal-")
    problem = told(*commands[0], "--eps", "500", exit_code=5)
    assert problem["what"].startswith("REHEARSAL: ")
    assert problem["fix"].splitlines()[0].endswith("--rehearse")
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.rehearsal.dp", "people.toml"]


def test_a_file_of_a_rehearsal_says_so_first(people: Path, told: Told, shown: Shown) -> None:
    told("learn", "fit", *ABOUT, "--rehearse")
    file = "people.rehearsal.dp"
    for words in (["card", file], ["verify", file]):
        out, _ = shown("learn", *words)
        assert out.strip("*").startswith("REHEARSAL: ")
    out, _ = shown("learn", "predict", file, "people.csv")
    assert out.splitlines()[0].startswith("rehearsal,row,")
    assert all(line.startswith("invented,") for line in out.splitlines()[1:])
    for words in (["card", file], ["verify", file], ["predict", file, "people.csv"]):
        reply = told("learn", *words)
        assert next(iter(reply.items())) == ("rehearsal", True)
        assert reply["caveats"][0].startswith("REHEARSAL: ")
    assert next(iter(told("learn", "card", file)["card"])) == "rehearsal"
    problem = told("learn", "verify", file, "--ledger", "people.toml", exit_code=6)
    assert problem["what"] == "REHEARSAL: no ledger holds this model."
    assert "Fit the model without a rehearsal" in problem["fix"]


def test_a_model_of_a_rehearsal_is_not_scored_on_the_table(people: Path, told: Told, shown: Shown) -> None:
    _, err = shown("learn", "fit", *ABOUT, "--rehearse")
    assert "nothing was charged" in err
    for verb, flag in (
        ("score", ("--metric", "accuracy")),
        ("quote", ("--metric", "accuracy")),
        ("fairness", ("--by", "region")),
    ):
        problem = told("learn", verb, "people.toml", "people.rehearsal.dp", *flag, "--eps", "1", exit_code=2)
        assert problem["what"] == "The model is of a rehearsal, and this table is not."
        assert "--rehearse" in problem["fix"]
    assert not Path("people.ledger").exists()


def test_a_picture_of_rates_of_a_rehearsal_is_stamped(people: Path, told: Told) -> None:
    told("learn", "fit", *ABOUT, "--rehearse")
    flags = ("--by", "region", "--eps", "1", "--plot", "rates.svg", "--rehearse")
    told("learn", "fairness", "people.toml", "people.rehearsal.dp", *flags)
    assert "REHEARSAL: naive bayes for income" in Path("rates.svg").read_text()


@pytest.mark.parametrize(
    ("flags", "offered"),
    [
        ((), "--metric accuracy --eps 1"),
        (("--test", "0.25"), "--metric accuracy --eps 1 --test 0.25"),
        (("--as", "ana", "--test", "0.25"), "--metric accuracy --eps 1 --test 0.25 --as ana"),
        (("--eps", "19.5"), "--metric accuracy --eps 0.5"),
        (("--eps", "20"), None),
        (("--target", "secret", "--model", "linear-regression", "--delta", "1e-8"), "--metric r2 --eps 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_fit_offers_the_score_that_fits_it(
    people: Path, told: Told, flags: tuple[str, ...], offered: str | None
) -> None:
    commands = [line for line in told(*FIT, *flags)["next"] if line.startswith("discreet learn score")]
    assert commands == ([] if offered is None else [f"discreet learn score people.toml income.dp {offered}"])
    if "ana" not in flags:  # whose cap is spent
        assert all(told(*shlex.split(command)[1:])["receipt"] for command in commands)


def test_explain_tells_of_the_last_fit(people: Path, told: Told) -> None:
    receipt = told(*FIT)["receipt"]
    explained = told("explain", "people.toml", "last")
    assert explained["receipt"] == receipt
    assert any("tables of counts" in line for line in explained["explain"]["words"])


def test_on_a_terminal_the_plan_is_shown_and_n_leaves_it(people: Path, told: Told) -> None:
    command = ["learn", "fit", *ABOUT, "-o", "income.dp"]
    code, screen = type_answer(people.parent, command, answer=b"n\n")
    assert code == 130
    assert "Laplace noise" in screen
    assert not Path("people.ledger").exists()
    code, screen = type_answer(people.parent, command, answer=b"\n")
    assert (code, Path("income.dp").is_file()) == (0, True)


# --- from the file ---------------------------------------------------------------------------------------------------


def test_predictions_are_a_csv_of_classes_and_their_probabilities(people: Path, told: Told, shown: Shown) -> None:
    told(*FIT)
    out, _ = shown("learn", "predict", "income.dp", "people.csv")
    lines = list(csv.DictReader(io.StringIO(out)))
    right = sum(line["prediction"] == row["income"] for line, row in zip(lines, rows(), strict=True))
    assert right > 0.8 * len(lines)
    assert all(abs(float(line["P(low)"]) + float(line["P(high)"]) - 1) < 1e-9 for line in lines)
    shown("learn", "predict", "income.dp", "people.csv", "-o", "out.csv")
    assert Path("out.csv").read_text() == out
    told_rows = told("learn", "predict", "income.dp", "people.csv")["rows"]
    assert [row["prediction"] for row in told_rows] == [line["prediction"] for line in lines]


def test_rows_in_parquet_are_predicted_alike(people: Path, told: Told) -> None:
    import pandas

    told(*FIT)
    pandas.DataFrame(rows()).to_parquet("rows.parquet")
    assert (
        told("learn", "predict", "income.dp", "rows.parquet")["rows"]
        == told("learn", "predict", "income.dp", "people.csv")["rows"]
    )


def test_cells_that_cannot_be_read_are_empty_and_no_error(people: Path, told: Told) -> None:
    told(*FIT)
    Path("odd.csv").write_text("age,region,code\nold,west,x\n,,\n1e400,north,3\n-5,south,2.0\n")
    reply = told("learn", "predict", "income.dp", "odd.csv")
    assert (len(reply["rows"]), reply["unread"]) == (4, {"region": 2, "age": 2, "code": 2})


def test_cells_that_cannot_be_read_are_told_on_stderr(people: Path, told: Told, shown: Shown) -> None:
    told(*FIT)
    Path("odd.csv").write_text("age,region,code\nold,west,1\n,north,1\n")
    assert "2 of age" in shown("learn", "predict", "income.dp", "odd.csv")[1]
    assert "missing" not in shown("learn", "predict", "income.dp", "people.csv")[1]


@pytest.mark.parametrize(
    "content", [b"age,region\n1,north\n", b"", b"age,age,region,code\n", b"\xff\xfe\x00", b'a,"b\n']
)
def test_rows_that_lack_the_columns_are_refused(people: Path, told: Told, content: bytes) -> None:
    told(*FIT)
    Path("rows.csv").write_bytes(content)
    told("learn", "predict", "income.dp", "rows.csv", exit_code=2)
    told("learn", "predict", "income.dp", "nowhere.csv", exit_code=2)


def test_no_output_replaces_an_input_of_the_same_call(people: Path, told: Told) -> None:
    told(*FIT)
    Path("rows.csv").write_text("age,region,code\n1,north,1\n")
    Path("link.csv").symlink_to("rows.csv")
    for name in ("rows.csv", "income.dp", "link.csv", "people.csv", "people.toml"):
        before = Path(name).read_bytes()
        told("learn", "predict", "income.dp", "rows.csv", "-o", name, "--yes", exit_code=2)
        assert Path(name).read_bytes() == before
    told("learn", "card", "income.dp", "-o", "income.dp", "--yes", exit_code=2)
    told("learn", "verify", "income.dp", "-o", "income.dp", "--yes", exit_code=2)


def test_the_card_is_markdown_or_an_object(people: Path, told: Told, shown: Shown) -> None:
    told(*FIT)
    out, _ = shown("learn", "card", "income.dp")
    assert out.startswith("# naive bayes for income")
    assert told("learn", "card", "income.dp")["card"]["target"] == "income"
    shown("learn", "card", "income.dp", "-o", "income.md")
    assert Path("income.md").read_text() == out


def test_verify_is_silent_about_nothing(people: Path, told: Told, shown: Shown) -> None:
    told(*FIT)
    assert len(told("learn", "verify", "income.dp", "--ledger", "people.toml")["checks"]) == 5
    assert told("learn", "verify", "income.dp")["caveats"]
    content = Path("income.dp").read_bytes()
    Path("income.dp").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    for verb in (["verify", "income.dp"], ["card", "income.dp"], ["predict", "income.dp", "people.csv"]):
        assert told("learn", *verb, exit_code=6)["code"] == "integrity"
    _, err = shown("learn", "verify", "income.dp", exit_code=6)
    assert "digest" in err
    assert "must be there" in told("learn", "verify", "nowhere.dp", exit_code=2)["what"]


def test_verify_tells_a_ledger_that_holds_no_such_charge(people: Path, told: Told) -> None:
    told(*FIT)
    Path("people.ledger").rename("moved.ledger")
    told("learn", "verify", "income.dp", "--ledger", "people.toml", exit_code=6)
    told("learn", "verify", "income.dp", "--ledger", "people.csv", exit_code=3)


def test_a_score_is_charged_and_knows_who_was_held_out(people: Path, told: Told) -> None:
    told(*FIT, "--test", "0.25")
    flags = ("--metric", "accuracy", "--eps", "2", "--test", "0.25")
    reply = told("learn", "score", "people.toml", "income.dp", *flags)
    assert reply["low"] <= reply["value"] <= reply["high"]
    assert any("not trained on these persons" in caveat for caveat in reply["caveats"])
    assert told("learn", "score", "people.toml", "income.dp", *flags)["replayed"] is True
    problem = told("learn", "score", "people.toml", "income.dp", "--eps", "2", exit_code=2)
    assert problem["fixes"][0]["arguments"]["metric"] == "accuracy"
    assert told("learn", "score", "people.toml", "income.dp", "--metric", "accuracy", exit_code=2)["fixes"]


def test_rates_of_groups_are_words_json_and_a_picture(people: Path, told: Told, shown: Shown) -> None:
    told(*FIT, "--test", "0.25")
    command = ("learn", "fairness", "people.toml", "income.dp", "--by", "region", "--eps", "2", "--test", "0.25")
    reply = told(*command, "--plot", "rates.svg")
    assert [group["group"] for group in reply["groups"]] == ["north", "south"]
    assert (reply["positive"], reply["replayed"], reply["plot"]) == ("high", False, "rates.svg")
    assert "naive bayes for income, by region" in Path("rates.svg").read_text()
    out, _ = shown(*command)
    assert "persons with high" in out
    assert "It was replayed and cost 0 (when first asked, ε = 2)" in out
    wide = told(*command, "--of", "population")
    assert (wide["replayed"], wide["of"]) == (True, "population")
    assert told(*command, "--positive", "low")["positive"] == "low"
    assert told(*command, "--plot", "rates.svg", exit_code=2)["code"] == "bad-value"
    out, err = shown(*command, "--plot", "rates.svg", "--yes")
    assert "Drawn: rates.svg" in err


def test_a_quote_of_a_score_costs_nothing_and_shows_what_to_run(people: Path, told: Told, shown: Shown) -> None:
    told(*FIT)
    before = spent(told)
    command = ("learn", "quote", "people.toml", "income.dp", "--eps", "2")
    reply = told(*command, "--metric", "auc", "--bins", "16", "--at-size", "400")
    assert 0 < reply["moe"]["auc"] < 0.2
    assert told(*command, "--by", "region")["moe"] == {"accuracy": None, "tpr": None, "fpr": None}
    out, _ = shown(*command, "--metric", "accuracy", "--at-size", "400")
    assert "With 400 persons accuracy would be within about ±" in out
    assert "discreet learn score people.toml income.dp --metric accuracy --eps 2" in out
    assert spent(told) == before
    for flags in ((), ("--metric", "accuracy", "--by", "region")):
        problem = told(*command, *flags, exit_code=2)
        assert (
            told(*shlex.split(problem["fix"].partition("discreet ")[2]))["title"]
            == "accuracy of naive bayes for income"
        )


def test_options_of_scores_reach_the_score(people: Path, told: Told) -> None:
    told(*FIT)
    command = ("learn", "score", "people.toml", "income.dp", "--eps", "2", "--metric")
    assert "by 8 bins" in " ".join(told(*command, "auc", "--bins", "8")["caveats"])
    assert told(*command, "accuracy", "--of", "population", "--target", "income")["of"] == "population"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--metric", "f1"), "accuracy, auc, log_loss, r2"),
        (("--metric", "r2"), "accuracy, auc or log_loss"),
        (("--metric", "auc", "--bins", "many"), "bins"),
        (("--metric", "auc", "--positive", "middle"), "low, high"),
        (("--metric", "accuracy", "--of", "all"), "persons or population"),
        (("--metric", "accuracy", "--target", "incom"), "income"),
        (("--metric", "accuracy", "--target", "region"), "low, high"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_scores_that_break_a_rule_are_refused_in_words_of_the_command_line(
    people: Path, told: Told, flags: tuple[str, ...], said: str
) -> None:
    told(*FIT)
    problem = told("learn", "score", "people.toml", "income.dp", "--eps", "2", *flags, exit_code=2)
    assert said in f"{problem['what']} {problem['fix']}"
    assert "='" not in f"{problem['what']} {problem['fix']}"
    assert spent(told) == "1"


def test_a_file_that_exists_is_replaced_by_the_option_that_is_named(people: Path, told: Told) -> None:
    told(*FIT)
    assert "--yes" in told(*FIT, exit_code=2)["fix"]


def test_a_model_of_a_frame_is_scored_by_the_name_of_its_target(people: Path, told: Told) -> None:
    import pandas

    import discreet as dp

    frame = pandas.DataFrame(rows())
    facts = {"bounds": {"age": (0, 110)}, "values": {"region": ["north", "south"]}, "classes": ["low", "high"]}
    model = dp.learn.LogisticRegression(epsilon=50, **facts).fit(frame[["age", "region"]], frame["income"])
    model.save("frame.dp")
    command = ("learn", "score", "people.toml", "frame.dp", "--metric", "accuracy", "--eps", "5")
    assert "--target" in told(*command, exit_code=2)["fix"]
    reply = told(*command, "--target", "income")
    assert reply["value"] > 0.8
    assert reply["model"] == "logistic regression for income"
    assert "was not charged to this ledger" in " ".join(reply["caveats"])


@pytest.mark.parametrize("name", ["income.dp", "./income.dp", "soft.dp", "hard.dp"])
def test_a_score_does_not_replace_its_model(people: Path, told: Told, name: str) -> None:
    told(*FIT)
    Path("soft.dp").symlink_to("income.dp")
    Path("hard.dp").hardlink_to("income.dp")
    before, kept = spent(told), Path("income.dp").read_bytes()
    flags = ("--metric", "accuracy", "--eps", "2", "--yes", "-o", name)
    problem = told("learn", "score", "people.toml", "income.dp", *flags, exit_code=2)
    assert "must not replace an input" in problem["what"]
    assert (spent(told), Path("income.dp").read_bytes()) == (before, kept)
    assert told("learn", "score", "people.toml", "income.dp", *flags[:-1], "score.json")


@pytest.mark.parametrize("name", ["model.svg", "./model.svg", "soft.svg", "hard.svg"])
@pytest.mark.parametrize("place", ["model", "output"])
def test_a_picture_replaces_neither_its_model_nor_the_output(people: Path, told: Told, name: str, place: str) -> None:
    told(*FIT[:-1], "model.svg")
    Path("soft.svg").symlink_to("model.svg")
    Path("hard.svg").hardlink_to("model.svg")
    model_file = "model.svg"
    flags = ("--by", "region", "--eps", "2", "--yes", "--plot", name)
    if place == "output":
        model_file = "copy.dp"
        Path(model_file).write_bytes(Path("model.svg").read_bytes())
        flags = (*flags, "-o", "model.svg")
    before, kept = spent(told), Path("model.svg").read_bytes()
    problem = told("learn", "fairness", "people.toml", model_file, *flags, exit_code=2)
    assert "plot must be another file" in problem["what"]
    assert (spent(told), Path("model.svg").read_bytes()) == (before, kept)


def test_a_picture_and_the_output_are_two_new_files(people: Path, told: Told) -> None:
    told(*FIT)
    command = ("learn", "fairness", "people.toml", "income.dp", "--by", "region", "--eps", "2", "--plot", "rates.svg")
    assert "plot must be" in told(*command, "-o", "./rates.svg", exit_code=2)["what"]
    assert (spent(told), Path("rates.svg").exists()) == ("1", False)
    told(*command, "-o", "rates.json")
    assert Path("rates.svg").exists()
    assert Path("rates.json").exists()


def test_the_verbs_need_no_scikit_learn(people: Path, told: Told) -> None:
    script = "import sys\nsys.modules['sklearn'] = None\nfrom discreet.cli.main import status\n"
    for words in ([*FIT], ["learn", "predict", "income.dp", "people.csv"], ["learn", "card", "income.dp"]):
        command = [sys.executable, "-c", f"{script}sys.exit(status({words!r}))"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def test_offered_commands_run(people: Path, told: Told) -> None:
    call = LearnCall(Path("people.toml"), "naive-bayes", "income", "age", epsilon="1")
    assert told(*words_of(call.fix("To fit it:")))["receipt"]
