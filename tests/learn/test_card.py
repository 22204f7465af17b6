"""A model's card says what the model is, its promise in words, and what it is not for; data in it steers nothing."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BadValue
from discreet.learn.saved.card import card
from learn.folk import FEATURES, arrays, write_people

X, Y = arrays()
SECTIONS = ["What it promises", "How it was made", "What was taken as public", "What it must not be used for"]


@pytest.fixture(scope="module")
def model():
    return dp.learn.NaiveBayes(epsilon=1, bounds=(-3, 3), classes=["no", "yes"], bins=2).fit(X, Y)


def test_a_card_has_its_sections_and_the_promise_of_100(model):
    text = model.card()
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == SECTIONS
    for said in ("Of 100 results", "ε = 1", "for each row", "add-remove", "Laplace noise", "charged nowhere"):
        assert said in text
    assert "x0: between -3 and 3" in text
    assert "only the fit is covered" in text


def test_a_card_for_programs_holds_the_promise_itself(model):
    facts = json.loads(json.dumps(model.card(format="json")))
    assert facts["privacy"] == json.loads(json.dumps(model.privacy_.to_json()))
    assert (facts["model"], facts["target"], facts["features"]) == ("naive-bayes", "y", ["x0", "x1"])
    assert facts["not_for"]
    with pytest.raises(BadValue, match="format must be one of"):
        model.card(format="html")


@pytest.mark.parametrize(
    ("estimator", "title"),
    [
        (dp.learn.LogisticRegression, "logistic regression"),
        (dp.learn.LinearClassifier, "linear classifier"),
        (dp.learn.NaiveBayes, "naive bayes"),
    ],
)
def test_a_card_calls_the_model_as_people_do(estimator, title):
    model = estimator(epsilon=1, bounds=(-3, 3), classes=["no", "yes"]).fit(X, Y)
    assert model.card().startswith(f"# {title} for y\n")
    assert f"Method: {title}" in model.card()
    assert model.card(format="json")["title"] == title


NUMBER = {"bounds": (-3, 3), "target_bounds": (-3, 3)}
CLASSES = {"bounds": (-3, 3), "classes": ["no", "yes"]}
SOLVERS = [
    (
        "LogisticRegression",
        CLASSES,
        "objective perturbation, which auto takes for two classes where δ is 0 or a ridge is given.",
    ),
    ("LinearClassifier", CLASSES | {"solver": "output"}, "output perturbation, as asked for."),
    (
        "LogisticRegression",
        CLASSES | {"delta": "1e-6", "passes": 1},
        "descent in 1 pass, which auto takes where δ is above 0 and no ridge is given.",
    ),
    (
        "LinearRegression",
        NUMBER | {"delta": "1e-6", "alpha": 1},
        "least squares from second moments, which auto takes for a number where δ is above 0 and a ridge is given.",
    ),
    ("LinearRegression", NUMBER, "output perturbation, which auto takes for a number where δ is 0."),
    (
        "LinearRegression",
        NUMBER | {"epsilon": 10**6, "delta": "1e-6"},
        "least squares from second moments, which auto takes for a number where δ is above 0 and noise is small.",
    ),
    ("LinearRegression", NUMBER | {"solver": "adassp"}, "least squares from second moments, as asked for."),
]


@pytest.mark.parametrize(("name", "options", "words"), SOLVERS)
def test_a_card_and_an_explanation_say_which_solver_ran_and_why(name, options, words):
    target = X[:, 0] if name == "LinearRegression" else Y
    model = getattr(dp.learn, name)(**({"epsilon": 1} | options)).fit(X, target)
    assert model.card(format="json")["solver"] == f"Solver: {words}"
    assert f"- Solver: {words}" in model.card()
    assert model.explain().endswith(f"Solver: {words}")


def test_the_card_of_a_fit_that_does_not_tell_its_passes_names_the_solver():
    """Files of older versions hold no number of passes, and those of forgers may hold any."""
    fit = dp.learn.LogisticRegression(epsilon=1, delta="1e-6", **CLASSES).fit(X, Y).fit_
    for passes in ({}, {"passes": np.zeros(0, dtype=np.int64)}):
        released = {name: values for name, values in fit.released.items() if name != "passes"} | passes
        assert card(replace(fit, released=released), "json")["solver"].startswith("Solver: descent, which auto")


def test_only_linear_models_have_a_solver(model):
    assert model.card(format="json")["solver"] is None
    assert "Solver" not in model.card()


def test_the_card_of_a_dataset_names_unit_and_receipt(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with dp.open(write_people(tmp_path)) as people:
        model = people.learn(dp.learn.NaiveBayes(), target="income", features=FEATURES).fit(epsilon=1)
        text = model.card()
    assert f"Receipt: {model.privacy_.receipt}." in text
    assert "for each person_id" in text.replace("\\", "")
    assert "charged nowhere" not in text
    assert "only the fit is covered" not in text


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_words_are_those_of_the_relation(relation):
    model = dp.learn.NaiveBayes(epsilon=1, relation=relation, bounds=(-3, 3), classes=["no", "yes"]).fit(X, Y)
    assert ("which of two values is yours" in model.card()) is True
    assert ("suspects you are in this data" in model.card()) is (relation == "add-remove")


def test_texts_from_public_values_steer_no_reader():
    hostile = ["<script>alert(1)</script>", "[x](javascript:1)", "# title | `code`"]
    name = "<b>\x1b[31m\nname</b>"
    model = dp.learn.NaiveBayes(epsilon=1, values={name: hostile}, classes=["no", "yes"])
    text = model.fit({name: np.array(hostile * 20)}, np.array(["no", "yes"] * 30)).card()
    assert "\x1b" not in text
    assert re.search(r"(?<!\\)[<`\[|]", text) is None
    assert "\\<script\\>" in text


def test_many_values_are_cut_short():
    values = [f"value {number}" for number in range(50)]
    model = dp.learn.NaiveBayes(epsilon=1, values={"x0": values}, classes=["no", "yes"])
    text = model.fit(np.array([[values[0]], [values[1]]], dtype=object), ["no", "yes"]).card()
    assert "and 30 more" in text
    assert "value 49" not in text
