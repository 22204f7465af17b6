"""A model's file: whole or refused, the same bytes for the same model, and checked against its ledger."""

import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import discreet as dp
from discreet.errors import BadValue, IntegrityError, MetadataError
from discreet.learn import fit as fit_module
from discreet.learn.fit import price_json
from discreet.learn.heldout.predictor import digest
from discreet.learn.input.column import model_column
from discreet.learn.learner import facts_of
from discreet.learn.learners import learner_of
from discreet.learn.price import parse_price
from discreet.learn.privacy import GIVEN, INVENTED, WHOLE
from discreet.learn.saved import file, rebuild, verification
from discreet.learn.subject import Subject
from discreet.ledger.unbooked import NOWHERE
from discreet.query.nodes import Col, In, Literal
from discreet.schema import Column, Schema, Type
from learn.folk import FEATURES, arrays, rows, write_people

X, Y = arrays()
UNITS = np.arange(len(Y))
PUBLIC = {"bounds": (-3, 3), "classes": ["no", "yes"], "bins": 2}


@pytest.fixture(scope="module")
def model():
    return dp.learn.NaiveBayes(epsilon=1, **PUBLIC).fit(X, Y)


@pytest.fixture(scope="module")
def stored(model):
    return file.to_bytes(model.fit_)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with dp.open(write_people(tmp_path)) as dataset:
        yield dataset


def fitted(people, epsilon=1):
    task = people.learn(dp.learn.NaiveBayes(), target="income", features=FEATURES)
    return task.fit(epsilon=epsilon)


def sealed(facts, numbers):
    """A file with these facts that has the right digest, as a forger would write it."""
    body = json.dumps(facts, sort_keys=True, separators=(",", ":")).encode() + b"\n" + numbers
    return file.HEAD + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def parts(stored):
    text, _, numbers = stored[len(file.HEAD) + 65 :].partition(b"\n")
    return json.loads(text), numbers


# --- whole or refused ------------------------------------------------------------------------------------------------


def test_any_flipped_byte_is_noticed(stored):
    for place in range(len(stored)):
        for bits in (0x01, 0x20, 0xFF):
            flipped = stored[:place] + bytes([stored[place] ^ bits]) + stored[place + 1 :]
            with pytest.raises(IntegrityError):
                file.from_bytes(flipped)


def test_a_file_that_was_cut_or_goes_on_is_noticed(stored):
    for end in range(len(stored)):
        with pytest.raises(IntegrityError):
            file.from_bytes(stored[:end])
    with pytest.raises(IntegrityError):
        file.from_bytes(stored + b"\0")


FORGED = {
    "numbers of another shape": lambda facts: facts["parts"][0].update(shape=[2]),
    "a negative size": lambda facts: facts["parts"][0].update(shape=[-1, -4]),
    "a huge size": lambda facts: facts["parts"][0].update(shape=[2**62, 2**62]),
    "a size that is no number": lambda facts: facts["parts"][0].update(shape=["4"]),
    "a name twice": lambda facts: facts["parts"][0].update(name=facts["parts"][1]["name"]),
    "parts that are no list": lambda facts: facts.update(parts={}),
    "no facts": lambda facts: facts.pop("facts"),
    "another learner": lambda facts: facts["facts"].update(learner="pickle"),
    "more bins than numbers": lambda facts: facts["facts"]["options"].update(bins=10**9),
    "an option that is none": lambda facts: facts["facts"]["options"].update(seed=1),
    "a column that is not declared": lambda facts: facts["facts"]["subject"]["target"].update(column="x9"),
    "other bounds": lambda facts: facts["facts"]["subject"]["features"][0].update(bounds=["-9", "9"]),
    "a schema of another kind": lambda facts: facts.update(schema={"is": "unit", "key": "a", "max_rows": 1}),
    "an unknown tag": lambda facts: facts.update(schema={"is": "os.system", "of": "true"}),
    "a long number in few letters": lambda facts: facts["schema"]["columns"][0].update(
        step={"is": "fraction", "of": "1e999999999"}
    ),
    "a price that is none": lambda facts: facts["price"].update(epsilon="-1"),
    "a price that never ends": lambda facts: facts["price"].update(epsilon="1e999999999"),
    "noise of no width": lambda facts: facts["price"].update(sigma="0"),
    "a promise of something else": lambda facts: facts["privacy"].update(covers="everything"),
    "a promise with an escape": lambda facts: facts["privacy"].update(covers="invented rows alone\x1b[31m"),
    "a receipt with an escape": lambda facts: facts["privacy"].update(receipt="5-\x1b[31mfake"),
    "a receipt with a line more": lambda facts: facts["privacy"].update(receipt="5-0123456789ab\n"),
    "a receipt stamped twice": lambda facts: facts["privacy"].update(receipt="rehearsal-rehearsal-5-0123456789ab"),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_facts_that_make_no_model_are_refused_whoever_sealed_them(stored, forge):
    facts, numbers = parts(stored)
    forge(facts)
    began = time.process_time()
    with pytest.raises(IntegrityError):
        file.from_bytes(sealed(facts, numbers))
    assert time.process_time() - began < 2


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "9" * 5000, "[]", "null", '"x"', "NaN"])
def test_json_that_is_no_facts_is_refused(text):
    body = text.encode() + b"\n"
    with pytest.raises(IntegrityError):
        file.from_bytes(file.HEAD + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def test_a_small_file_takes_little_memory(stored, tmp_path):
    facts, numbers = parts(stored)
    facts["parts"][0]["shape"] = [2**40]
    (tmp_path / "bomb.dp").write_bytes(sealed(facts, numbers))
    script = "import resource, sys\nfrom discreet.learn.saved import file\n"
    script += "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    script += "try:\n    file.read(sys.argv[1])\nexcept Exception as error:\n    print(type(error).__name__)\n"
    script += "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) < 50_000)"
    command = [sys.executable, "-c", script, str(tmp_path / "bomb.dp")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [
        "IntegrityError",
        "True",
    ]


def test_a_pipe_a_folder_and_no_file_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "nowhere", ".", "a\0b"):
        with pytest.raises(BadValue, match="must be there" if name == "nowhere" else "plain file"):
            file.read(tmp_path / name)
    with pytest.raises(BadValue, match="plain file"):
        file.read("/dev/zero")


# --- the same model --------------------------------------------------------------------------------------------------


def test_equal_models_are_equal_bytes(stored):
    assert file.to_bytes(file.from_bytes(stored)) == stored


PRICES = ({"epsilon": 1}, {"epsilon": "1/3", "delta": "1e-6"}, {"rho": "0.02", "delta": "1e-6"})


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_a_loaded_model_predicts_the_same_and_has_the_same_promise(price, tmp_path):
    model = dp.learn.NaiveBayes(**price, **PUBLIC).fit(X, Y)
    loaded = dp.learn.load(model.save(tmp_path / "model.dp"))
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.privacy_ == model.privacy_
    assert loaded.get_params()["bins"] == 2
    assert loaded.epsilon is None
    assert not hasattr(loaded, "feature_names_in_")


def test_names_of_a_frame_survive_the_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["first", "second"])
    model = dp.learn.NaiveBayes(epsilon=1, **PUBLIC).fit(frame, Y)
    loaded = dp.learn.load(model.save(tmp_path / "model.dp"))
    assert list(loaded.feature_names_in_) == ["first", "second"]
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="same order"):
        loaded.predict(frame[["second", "first"]])


def test_a_model_of_a_dataset_takes_its_columns_by_name(people, tmp_path):
    pandas = pytest.importorskip("pandas")
    model = fitted(people)
    loaded = dp.learn.load(model.save(tmp_path / "income.dp"))
    frame = pandas.DataFrame(rows(30))
    assert np.array_equal(loaded.predict_proba(frame), model.predict_proba(frame[FEATURES]))
    assert list(loaded.feature_names_in_) == FEATURES
    with pytest.raises(BadValue, match="must have the columns"):
        loaded.predict(frame[["region", "age"]])


def test_a_file_holds_the_public_facts_of_used_columns_alone(people, tmp_path):
    content = fitted(people).save(tmp_path / "income.dp").read_bytes()
    assert b"regions are on every map" in content
    assert b"secret" not in content


def test_equal_fits_of_a_dataset_are_equal_files(people, tmp_path):
    saved = [fitted(people).save(tmp_path / name).read_bytes() for name in ("a.dp", "b.dp")]
    assert saved[0] == saved[1]


# --- where it is written ---------------------------------------------------------------------------------------------


def test_a_model_is_written_onto_no_input_and_no_other_file(people, tmp_path):
    model = fitted(people)
    for name in ("people.toml", "people.csv", "people.ledger", "people.key"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(BadValue, match="must not"):
            model.save(tmp_path / name, replace=True)
        assert (tmp_path / name).read_bytes() == before
    model.save(tmp_path / "income.dp")
    with pytest.raises(BadValue, match="must not be there yet"):
        model.save(tmp_path / "income.dp")
    model.save(tmp_path / "income.dp", replace=True)


def test_only_a_fitted_model_is_saved(tmp_path):
    with pytest.raises(NotFittedError):
        dp.learn.NaiveBayes().save(tmp_path / "model.dp")


# --- verify ----------------------------------------------------------------------------------------------------------


def test_verify_recomputes_a_file_and_its_charge(people, tmp_path):
    model = fitted(people)
    path = model.save(tmp_path / "income.dp")
    for ledger in (people, people.table.ledger, tmp_path / "people.toml", str(tmp_path / "people.toml")):
        report = dp.learn.verify(path, ledger)
        assert report.privacy == model.privacy_
        assert any(model.privacy_.receipt in check for check in report.checks)
    assert len(dp.learn.verify(path).checks) == 3


def forged_file(path, change, numbers=None):
    facts, released = parts(path.read_bytes())
    change(facts)
    forged = path.with_name("forged.dp")
    forged.write_bytes(sealed(facts, released if numbers is None else numbers(released)))
    return forged


LIES = {
    "a smaller ε": lambda facts: facts["privacy"].update(epsilon="0.1"),
    "a smaller cost": lambda facts: facts["privacy"]["cost"].update(epsilon="1/10"),
    "other mechanisms": lambda facts: facts["privacy"].update(mechanisms=["no noise at all"]),
    "another unit": lambda facts: facts["privacy"].update(unit="household"),
    "another relation": lambda facts: facts["privacy"].update(neighbours="replace-one"),
    "one thing more": lambda facts: facts["privacy"].update(anonymous=True),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_promise_that_is_not_that_of_the_plan_is_refused(people, tmp_path, lie):
    forged = forged_file(fitted(people).save(tmp_path / "income.dp"), lie)
    with pytest.raises(IntegrityError):
        dp.learn.verify(forged)


def test_a_price_that_its_noise_does_not_pay_is_refused(tmp_path):
    model = dp.learn.LogisticRegression(epsilon=1, delta="1e-6", bounds=(-3, 3), classes=["no", "yes"]).fit(X, Y)
    path = model.save(tmp_path / "model.dp")

    def lie(facts):
        facts["price"]["epsilon"], facts["privacy"]["epsilon"] = "1/10", "0.1"

    with pytest.raises(IntegrityError):
        dp.learn.verify(forged_file(path, lie))
    for forge in (lie, lambda facts: facts["price"].update(sigma="1/1000")):
        with pytest.raises(IntegrityError):
            dp.learn.load(forged_file(path, forge))


def test_numbers_that_the_ledger_did_not_release_are_refused(people, tmp_path):
    path = fitted(people).save(tmp_path / "income.dp")
    forged = forged_file(path, lambda facts: None, lambda released: bytes([released[0] ^ 1]) + released[1:])
    dp.learn.verify(forged)
    with pytest.raises(IntegrityError, match="released other numbers"):
        dp.learn.verify(forged, people)


def test_a_receipt_that_the_ledger_does_not_have_is_refused(people, tmp_path):
    path = fitted(people).save(tmp_path / "income.dp")
    other = fitted(people, epsilon=2).privacy_.receipt
    for receipt, sentence in (("7-0123456789ab", "no receipt"), (other, "another cost"), (NOWHERE, "No ledger holds")):
        forged = forged_file(path, lambda facts, receipt=receipt: facts["privacy"].update(receipt=receipt))
        with pytest.raises(IntegrityError, match=sentence):
            dp.learn.verify(forged, people)


def retold(path, change):
    """A forged file whose promise is the one that follows from its forged schema."""
    forged = forged_file(path, change)
    promise = json.loads(json.dumps(file.read(forged).privacy.to_json()))
    return forged_file(path, lambda facts: (change(facts), facts.update(privacy=promise)))


OTHER_SCHEMAS = {
    "another unit": lambda facts: facts["schema"]["unit"].update(key="household"),
    "no unit": lambda facts: facts["schema"].pop("unit"),
    "another relation": lambda facts: facts["schema"].update(neighbours={"is": "relation", "of": "replace-one"}),
    "another dataset": lambda facts: facts["schema"].update(name="registry"),
}


@pytest.mark.parametrize("forge", OTHER_SCHEMAS.values(), ids=OTHER_SCHEMAS)
def test_a_unit_relation_or_dataset_that_is_not_the_ledgers_is_refused(people, tmp_path, forge):
    path = fitted(people).save(tmp_path / "income.dp")
    forged = retold(path, forge)
    dp.learn.verify(forged)
    with pytest.raises(IntegrityError, match=r"The ledger .* another (unit|relation|dataset)"):
        dp.learn.verify(forged, people)


def test_a_unit_with_more_rows_than_the_charged_one_is_refused(people, tmp_path):
    """Caught here: the ledger had `max_rows` of a dataset's unit only inside a hash, and a file could state another."""
    path = fitted(people).save(tmp_path / "income.dp")
    forged = retold(path, lambda facts: facts["schema"]["unit"].update(max_rows=9))
    dp.learn.verify(forged)
    with pytest.raises(IntegrityError, match=r"protects others .* max_rows = 2"):
        dp.learn.verify(forged, people)


def test_whom_a_stored_fit_protects_is_compared_by_itself(people, tmp_path):
    """Each of the three is noticed by what was stored, also where the ledger's opening says the same as the file."""
    fit = file.read(fitted(people).save(tmp_path / "income.dp"))
    own = fit_module.protected_json(fit.plan.subject)
    verification._require_stored_protection(fit, own)
    for name, other in (("unit", "household"), ("max_rows", 9), ("neighbours", "replace-one")):
        with pytest.raises(IntegrityError, match=name):
            verification._require_stored_protection(fit, own | {name: other})


def test_a_fit_that_an_older_discreet_stored_is_still_verified(people, tmp_path, monkeypatch):
    """It has no unit beside its numbers; all that could be compared then is compared now."""

    def older(released, learner, subject, price):
        own = fit_module.Envelope(
            fit_module.KIND,
            "0",
            facts_of(learner, subject).to_json() | {"price": price_json(price)},
            tuple(fit_module.Part({"name": name}, {}, np.asarray(values)) for name, values in released.items()),
        )
        return own.to_bytes()

    monkeypatch.setattr(fit_module, "to_bytes", older)
    path = fitted(people).save(tmp_path / "income.dp")
    assert dp.learn.verify(path, people)
    forged = forged_file(path, lambda facts: None, lambda released: bytes([released[0] ^ 1]) + released[1:])
    with pytest.raises(IntegrityError, match="released other numbers"):
        dp.learn.verify(forged, people)


def test_a_promise_covers_what_was_charged_and_no_more(people, tmp_path):
    arrays_file = dp.learn.NaiveBayes(epsilon=1, ledger=people, **PUBLIC).fit(X, Y, UNITS).save(tmp_path / "arrays.dp")
    dataset_file = fitted(people).save(tmp_path / "income.dp")
    for path, covers in ((arrays_file, WHOLE), (dataset_file, GIVEN), (dataset_file, INVENTED)):
        assert dp.learn.verify(path, people)
        forged = forged_file(path, lambda facts, covers=covers: facts["privacy"].update(covers=covers))
        with pytest.raises(IntegrityError, match="covers something else"):
            dp.learn.verify(forged, people)


@pytest.mark.parametrize(
    ("unit", "said"), [({"key": "person_id"}, "another unit"), ({"max_rows": 9}, "number of rows")], ids=str
)
def test_the_unit_of_arrays_is_that_of_their_charge(people, tmp_path, unit, said):
    path = dp.learn.NaiveBayes(epsilon=1, ledger=people, **PUBLIC).fit(X, Y, UNITS).save(tmp_path / "arrays.dp")
    forged = retold(path, lambda facts: facts["schema"]["unit"].update(unit))
    with pytest.raises(IntegrityError, match=said):
        dp.learn.verify(forged, people)


def test_rows_of_arrays_that_are_units_verify_against_their_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    toml = write_people(tmp_path)
    toml.write_text(toml.read_text().replace('[unit]\nkey = "person_id"\nmax_rows = 2\n', ""))
    with dp.open(toml) as people:
        for model in (dp.learn.NaiveBayes(epsilon=1, ledger=people, **PUBLIC).fit(X, Y), fitted(people)):
            path = model.save(tmp_path / "model.dp", replace=True)
            assert dp.learn.verify(path, people).privacy.unit == "row"


OTHER_MODELS = OTHER_SCHEMAS | {"more rows of a unit": lambda facts: facts["schema"]["unit"].update(max_rows=9)}


@pytest.mark.parametrize("name", ["another unit", "no unit", "another relation", "more rows of a unit"])
def test_a_stored_score_is_of_no_model_with_another_schema(people, tmp_path, name):
    path = fitted(people).save(tmp_path / "income.dp")
    forged = retold(path, OTHER_MODELS[name])
    assert digest(file.read(path)) == digest(file.read(path))
    assert digest(file.read(forged)) != digest(file.read(path))


def test_verify_makes_no_ledger_and_knows_what_is_none(model, people, tmp_path):
    path = model.save(tmp_path / "model.dp")
    with pytest.raises(IntegrityError, match="no ledger yet"):
        dp.learn.verify(path, people)
    assert not (tmp_path / "people.ledger").exists()
    with pytest.raises(BadValue, match="must be a dataset"):
        dp.learn.verify(path, 3)
    with pytest.raises(MetadataError):
        dp.learn.verify(path, tmp_path / "nowhere.toml")


# --- copies ----------------------------------------------------------------------------------------------------------


def test_pickle_and_joblib_keep_the_model_and_leave_the_ledger_behind(people, tmp_path):
    model = dp.learn.NaiveBayes(epsilon=1, ledger=people, **PUBLIC).fit(X, Y, UNITS)
    joblib.dump(model, tmp_path / "model.joblib")
    for copied in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(copied.predict_proba(X), model.predict_proba(X))
        assert copied.privacy_ == model.privacy_
        assert copied.ledger is not people
        with pytest.raises(BadValue, match="must be given again"):
            copied.fit(X, Y, UNITS)
        copied.set_params(ledger=people).fit(X, Y, UNITS)
    assert pickle.loads(pickle.dumps(dp.learn.NaiveBayes(epsilon=1))).ledger is None


def test_a_clone_charges_the_same_ledger_and_is_not_fitted(people):
    model = dp.learn.NaiveBayes(epsilon=1, ledger=people, **PUBLIC).fit(X, Y, UNITS)
    cloned = clone(model)
    assert cloned.ledger is people
    assert not hasattr(cloned, "privacy_")
    copied = deepcopy(model)
    assert copied.ledger is people
    assert np.array_equal(copied.predict(X), model.predict(X))


def test_the_core_of_models_needs_no_scikit_learn(model, tmp_path):
    path = model.save(tmp_path / "model.dp")
    script = "import sys\nsys.modules['sklearn'] = None\nimport discreet as dp\nfrom discreet.learn.saved import file\n"
    script += f"print(file.read({str(path)!r}).privacy.epsilon, len(dp.learn.verify({str(path)!r}).checks))\n"
    script += "try:\n    dp.learn.load\nexcept ImportError as error:\n    print(error)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["1 3", "discreet.learn needs scikit-learn: install discreet[learn]"]


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_a_model_of_a_rehearsal_is_loaded_with_its_stamp(tmp_path):
    with dp.open(write_people(tmp_path), rehearsal=True) as people:
        model = fitted(people)
        loaded = dp.learn.load(model.save(tmp_path / "income.dp"))
    assert loaded.privacy_ == model.privacy_
    assert loaded.privacy_.receipt.startswith("rehearsal-")


def test_the_words_of_a_promise_steer_no_terminal(model):
    words = replace(model.privacy_, unit="person\x1b[31m", mechanisms=("a\u202eb",)).words()
    assert "\x1b" not in words
    assert "\u202e" not in words
    assert words.count("\n") == 4


# --- what reading takes ----------------------------------------------------------------------------------------------


TWO = Column("y", Type.CATEGORY, values=("a", "b"))
HUNDRED = Column("y", Type.INTEGER, values=tuple(range(100)))
NUMBER = Column("y", Type.NUMBER, bounds=(0, 1))


def values_column(count):
    return Column("x", Type.CATEGORY, values=tuple(f"v{number}" for number in range(count)))


def digits_column(count):
    return Column("x", Type.CATEGORY, values=tuple(map(str, range(count))))


def number_columns(count):
    return [Column(f"x{number}", Type.NUMBER, bounds=(0, 1000)) for number in range(count)]


def long_where(count):
    return In(Col("x0"), tuple(Literal(Fraction(number)) for number in range(count)))


LOADED = {  # columns, target, learner, options, released numbers, condition: each about as heavy as 1 MB can be
    "trees as deep as can be": ([values_column(40_000)], TWO, "random forest", {"trees": 1000, "depth": 12}, {}),
    "trees of one test over many values": (
        [values_column(40_000)],
        TWO,
        "random forest",
        {"trees": 1000, "depth": 1},
        {"leaves": (4000,)},
    ),
    "trees just below the limit": (
        [values_column(4000)],
        TWO,
        "random forest",
        {"trees": 1000, "depth": 4},
        {"leaves": (32_000,)},
    ),
    "trees over many features": (
        number_columns(512),
        TWO,
        "random forest",
        {"trees": 1000, "depth": 4},
        {"leaves": (32_000,)},
    ),
    "one tree of many": (
        [values_column(12_000)],
        TWO,
        "decision tree",
        {"depth": 12},
        {"table x": (24_000,), "tests": (1390, 1), "sides": (1390, 1, 1), "leaves": (5560,)},
    ),
    "one tree over many values": ([values_column(40_000)], HUNDRED, "decision tree", {"depth": 12}, {}),
    "bins for many classes": (number_columns(512), HUNDRED, "naive bayes", {"bins": 400}, {"x": (90_000,)}),
    "bins of gradients": (number_columns(512), HUNDRED, "additive", {"bins": 400}, {"x": (90_000,)}),
    "values that spell numbers": ([digits_column(20_000)], TWO, "naive bayes", {}, {"x": (40_000,)}),
    "values without numbers": ([values_column(40_000)], HUNDRED, "naive bayes", {}, {}),
    "moments of many values": ([values_column(40_000)], HUNDRED, "gaussian naive bayes", {}, {}),
    "descent over many values": ([values_column(40_000)], HUNDRED, "linear", {"passes": 1000}, {}),
    "objective over many values": ([values_column(2000)], TWO, "linear", {"solver": "objective"}, {}),
    "output over many values": ([values_column(2000)], TWO, "linear", {"solver": "output"}, {}),
    "least squares over many values": (
        [values_column(2000)],
        NUMBER,
        "linear",
        {"loss": "huber", "solver": "adassp"},
        {},
    ),
    "a long condition": (number_columns(100), TWO, "naive bayes", {}, {"x": (30_000,)}, 225),
    "a condition beyond the limit": (number_columns(1), TWO, "naive bayes", {}, {"x": (3000,)}, 8000),
}


def loaded(columns, target, name, options, shapes, literals=0):
    """A whole file with these options, as a forger would write it, whether or not it can be planned."""
    schema = Schema("t", (*columns, target))
    where = long_where(literals) if literals else None
    features = tuple(model_column(column) for column in columns)
    subject = Subject(schema, features, model_column(target), where=where)
    numbers = b"".join(bytes(8 * int(np.prod(shape))) for shape in shapes.values())
    facts = {
        "facts": facts_of(learner_of(name, options), subject).to_json(),
        "schema": rebuild._TAGS.plain(schema),
        "price": price_json(parse_price(1, "1e-6")),
        "privacy": {"covers": GIVEN, "receipt": NOWHERE},
        "parts": [{"name": name, "shape": list(shape)} for name, shape in shapes.items()],
        "version": "0",
    }
    return sealed(facts, numbers)


READ_WITHIN = """
import resource, sys, time
from discreet.learn.saved import file
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    file.read(sys.argv[1])
    print("read")
except Exception as error:
    print(type(error).__name__)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, time.process_time() - began)
"""


@pytest.mark.parametrize("forged", LOADED.values(), ids=LOADED)
def test_reading_a_forged_file_of_a_megabyte_takes_little_memory_and_time(tmp_path, forged):
    """Caught here: a forest whose options asked for 4 GiB, conditions and bins that took minutes, and a search through
    all values for each of them."""
    stored = loaded(*forged)
    assert len(stored) <= 2**20
    (tmp_path / "forged.dp").write_bytes(stored)
    command = [sys.executable, "-c", READ_WITHIN, str(tmp_path / "forged.dp")]
    said, megabytes, seconds = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert said in ("read", "IntegrityError")
    assert int(megabytes) < 200
    assert float(seconds) < 10


@pytest.mark.parametrize("side", [2, -1, 256, -256, 2**40])
def test_sides_that_are_neither_0_nor_1_are_refused(tmp_path, side):
    """Sides are held in one byte each: 256 must not become 0."""
    estimator = dp.learn.DecisionTree(epsilon=100, bounds=(-3, 3), classes=["no", "yes"])
    path = estimator.fit(X, Y).save(tmp_path / "tree.dp")
    facts, released = parts(path.read_bytes())
    place = 0
    for part in facts["parts"]:
        if part["name"] == "sides":
            assert np.prod(part["shape"]) > 0
            break
        place += 8 * int(np.prod(part["shape"]))
    changed = released[:place] + int(side).to_bytes(8, "little", signed=True) + released[place + 8 :]
    with pytest.raises(IntegrityError):
        file.from_bytes(sealed(facts, changed))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("certified",), "yes"),
        (("price", "certified"), "yes"),
        (("parts", 0, "certified"), "yes"),
        (("price", "rho"), "any"),
        (("facts", "subject", "max_rows"), True),
        (("privacy", "max_rows"), 1.0),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_statements_that_nothing_recomputes_are_refused(stored, tmp_path, place, value):
    facts, numbers = parts(stored)
    inner = facts
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    (tmp_path / "more.dp").write_bytes(sealed(facts, numbers))
    with pytest.raises(IntegrityError):
        dp.learn.verify(tmp_path / "more.dp")
