"""The gate: charge, compute, add noise, store, hand out, in this order; after the charge nothing is free."""

from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from discreet.bounded import Bounded, SideBySide, scalar
from discreet.errors import BadValue, BudgetExceeded, Closed, EngineFailed
from discreet.gate import disclose
from discreet.ledger.payer import ChargeRequest
from discreet.mechanism import additive
from discreet.noise.source import SYSTEM
from ledger.book import create_ledger


@dataclass
class Spied:
    """A ledger that writes down what it is asked, in one list with whatever else happens."""

    ledger: object
    seen: list = field(default_factory=list)

    def charge(self, *given, **named):
        receipt = self.ledger.charge(*given, **named)
        self.seen.append("charged")
        return receipt

    def commit(self, receipt, answer):
        self.ledger.commit(receipt, answer)
        self.seen.append("stored")

    def fail(self, receipt):
        self.ledger.fail(receipt)
        self.seen.append("failed")

    def stored(self, key):
        stored = self.ledger.stored(key)
        self.seen.append("handed out")
        return stored


@dataclass(frozen=True)
class Noise:
    """A Laplace mechanism that tells when it is used."""

    seen: list
    inner: additive.Additive = field(default_factory=lambda: additive.laplace(scalar(1), 1))

    @property
    def sensitivity(self):
        return self.inner.sensitivity

    @property
    def cost(self):
        return self.inner.cost

    def __call__(self, exact, source):
        self.seen.append("noisy")
        return self.inner(exact, source)


def order(key="k", *, epsilon=1, analyst=None, memo="how many?"):
    return ChargeRequest(key, (), memo, analyst, Fraction(epsilon), Fraction(0), "s")


def exactly(value, seen):
    def compute():
        seen.append("computed")
        return [value]

    return Bounded(compute, scalar(1))


def as_bytes(released):
    return str(int(released[0])).encode()


def failing(error, seen):
    def compute():
        seen.append("computed")
        raise error

    return Bounded(compute, scalar(1))


@pytest.fixture
def spied(tmp_path):
    ledger = create_ledger(tmp_path, 3)
    yield Spied(ledger)
    ledger.close()


def test_the_order_is_charge_compute_noise_store_hand_out(spied):
    disclosed = disclose(spied, order(), Noise(spied.seen), exactly(5, spied.seen), pack=as_bytes)
    assert spied.seen == ["charged", "computed", "noisy", "stored", "handed out"]
    assert disclosed.stored == spied.ledger.stored("k")
    assert not disclosed.replayed


def test_the_charge_is_there_before_the_first_row_is_read(spied):
    def compute():
        assert spied.ledger.standing().spent.epsilon == 1
        return [5]

    disclose(spied, order(), Noise(spied.seen), Bounded(compute, scalar(1)), pack=as_bytes)
    assert "stored" in spied.seen


def test_what_is_handed_out_is_what_was_stored_and_not_what_was_computed(spied):
    """Had another attempt stored its answer first, that one would be the answer."""

    class Swapped(Spied):
        def stored(self, key):
            return b"from the store"

    disclosed = disclose(Swapped(spied.ledger), order(), Noise([]), exactly(5, []), pack=as_bytes)
    assert disclosed.stored == b"from the store"


def test_replay_is_free_and_identical_and_reads_nothing(spied):
    first = disclose(spied, order(), Noise(spied.seen), exactly(5, spied.seen), pack=as_bytes)
    spied.seen.clear()
    replayed = disclose(spied, order(), Noise(spied.seen), exactly(5_000_000, spied.seen), pack=as_bytes)
    assert (replayed.stored, replayed.receipt.name, replayed.replayed) == (first.stored, first.receipt.name, True)
    assert spied.seen == ["charged", "handed out"]
    assert spied.ledger.standing().spent.epsilon == 1


def test_a_stored_answer_is_replayed_by_its_key_alone_and_reads_nothing(spied):
    first = disclose(spied, order(), Noise([]), exactly(5, []), pack=as_bytes)
    for other in (order(memo="how old?"), order(epsilon=2)):
        replayed = disclose(spied, other, Noise(spied.seen), exactly(5, spied.seen), pack=as_bytes)
        assert (replayed.stored, replayed.replayed) == (first.stored, True)
    assert "computed" not in spied.seen
    assert spied.ledger.standing().spent.epsilon == 1


def test_refused_charge_leaves_data_untouched(spied):
    wide = additive.laplace(scalar(1), 4)
    with pytest.raises(BudgetExceeded):
        disclose(spied, order(epsilon=4), wide, exactly(5, spied.seen), pack=as_bytes)
    assert spied.seen == []
    assert spied.ledger.standing().spent.epsilon == 0


def test_typed_epsilon_below_the_cost_is_refused_before_anything(spied):
    with pytest.raises(BadValue, match="must cover the cost"):
        disclose(spied, order(epsilon=Fraction(1, 2)), Noise(spied.seen), exactly(5, spied.seen), pack=as_bytes)
    assert spied.seen == []


@pytest.mark.parametrize("sensitivity", [scalar(2), scalar(1, "replace-one")])
def test_a_mechanism_that_does_not_cover_is_refused_before_the_charge(spied, sensitivity):
    def compute():
        raise AssertionError("no row may be read")

    with pytest.raises(BadValue, match="must cover the sensitivity"):
        disclose(spied, order(), Noise(spied.seen), Bounded(compute, sensitivity), pack=as_bytes)
    assert spied.seen == []
    assert spied.ledger.standing().spent.epsilon == 0


SECRET = "Ada, 36, diabetic"


def step(name, error, seen):
    """A question that fails while computing, while adding noise, or while its answer is written down."""

    def raised(*_):
        raise error

    class Broken(Noise):
        __call__ = raised

    return {
        "compute": (Noise(seen), failing(error, seen), as_bytes),
        "noise": (Broken(seen), exactly(5, seen), as_bytes),
        "finish": (Noise(seen), exactly(5, seen), raised),
    }[name]


@pytest.mark.parametrize("error", [ValueError(SECRET), BadValue(SECRET, "", ""), MemoryError(), KeyError(SECRET)])
@pytest.mark.parametrize("where", ["compute", "noise", "finish"])
def test_every_failure_after_the_charge_is_one_fixed_reply_that_tells_nothing(spied, where, error):
    mechanism, bounded, finish = step(where, error, [])
    with pytest.raises(EngineFailed) as failed:
        disclose(spied, order(), mechanism, bounded, pack=finish)
    assert SECRET not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None


@pytest.mark.parametrize(
    ("where", "then"),
    [("compute", ["failed"]), ("noise", ["stored", "handed out"]), ("finish", ["stored", "handed out"])],
)
def test_a_failure_keeps_the_charge_and_is_counted(spied, where, then):
    mechanism, bounded, finish = step(where, ValueError(), [])
    with pytest.raises(EngineFailed):
        disclose(spied, order(), mechanism, bounded, pack=finish)
    assert spied.seen == ["charged", *then]
    standing = spied.ledger.standing()
    assert (standing.spent.epsilon, standing.failures) == (1, 1)


@pytest.mark.parametrize("where", ["noise", "finish"])
def test_a_failure_after_the_noise_never_earns_a_second_draw(spied, where):
    """Two chances to fail would square the odds of "failed twice": a loss of 2ε under a charge of ε."""
    mechanism, bounded, finish = step(where, ValueError(), [])
    for _ in range(3):
        with pytest.raises(EngineFailed):
            disclose(spied, order(), mechanism, bounded, pack=finish)
    with pytest.raises(EngineFailed):  # not even where nothing would fail any more
        disclose(spied, order(), Noise(spied.seen), exactly(5, spied.seen), pack=as_bytes)
    assert "noisy" not in spied.seen
    assert "computed" not in spied.seen
    assert spied.ledger.standing().failures == 1


def test_a_mechanism_that_covers_the_whole_but_not_each_part_is_refused(spied):
    """Norms that are only added up would let wide noise on one part hide narrow noise on another."""
    narrow, wide = scalar(1), scalar(9)
    needed = SideBySide({"a": scalar(5), "b": scalar(5)})

    class Uneven(Noise):
        sensitivity = SideBySide({"a": narrow, "b": wide})

    with pytest.raises(BadValue, match="must cover the sensitivity"):
        disclose(spied, order(), Uneven([]), Bounded(lambda: [0, 0], needed), pack=as_bytes)
    assert spied.seen == []


def test_a_failed_question_is_computed_once_more_for_nothing_and_then_charged_anew(spied):
    for spent in (1, 1, 2):
        with pytest.raises(EngineFailed):
            disclose(spied, order(), Noise([]), failing(ValueError(), spied.seen), pack=as_bytes)
        assert spied.ledger.standing().spent.epsilon == spent
    assert spied.seen.count("computed") == 3


def test_a_second_attempt_that_works_is_stored_at_no_further_cost(spied):
    with pytest.raises(EngineFailed):
        disclose(spied, order(), Noise([]), failing(ValueError(), []), pack=as_bytes)
    disclosed = disclose(spied, order(), Noise([]), exactly(5, []), pack=as_bytes)
    assert disclosed.stored == spied.ledger.stored("k")
    assert spied.ledger.standing().spent.epsilon == 1


def test_failures_close_the_dataset_and_answers_stay_readable(tmp_path):
    with create_ledger(tmp_path, 100) as ledger:
        disclose(ledger, order("good"), Noise([]), exactly(5, []), pack=as_bytes)
        for n in range(5):
            with pytest.raises(EngineFailed):
                disclose(ledger, order(f"k{n}"), Noise([]), failing(ValueError(), []), pack=as_bytes)
        with pytest.raises(Closed):
            disclose(ledger, order("new"), Noise([]), exactly(5, []), pack=as_bytes)
        assert disclose(ledger, order("good"), Noise([]), exactly(5, []), pack=as_bytes).replayed


@pytest.mark.parametrize("where", ["compute", "noise", "finish"])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_question_stays_charged(spied, where, stop):
    mechanism, bounded, finish = step(where, stop(), [])
    with pytest.raises(stop):
        disclose(spied, order(), mechanism, bounded, pack=finish)
    assert spied.seen == ["charged", "failed"]
    assert spied.ledger.standing().spent.epsilon == 1
    assert spied.ledger.stored("k") is None


def test_an_interrupt_while_storing_is_counted_and_the_question_can_be_asked_again(spied):
    class Interrupted(Spied):
        def commit(self, receipt, answer):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        disclose(Interrupted(spied.ledger), order(), Noise([]), exactly(5, []), pack=as_bytes)
    assert spied.ledger.standing().failures == 1
    assert not disclose(spied, order(), Noise([]), exactly(5, []), pack=as_bytes).replayed


def test_an_interrupt_after_storing_loses_nothing(spied):
    class Late(Spied):
        def commit(self, receipt, answer):
            super().commit(receipt, answer)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        disclose(Late(spied.ledger), order(), Noise([]), exactly(5, []), pack=as_bytes)
    assert spied.ledger.standing().failures == 0
    assert disclose(spied, order(), Noise([]), exactly(5, []), pack=as_bytes).replayed


def test_an_answer_too_long_to_be_stored_is_counted_as_a_failure(spied, monkeypatch):
    monkeypatch.setattr("discreet.gate.LONGEST_ANSWER", 3)
    with pytest.raises(EngineFailed):
        disclose(spied, order(), Noise([]), exactly(5, []), pack=lambda _: b"1234")
    assert (spied.ledger.standing().failures, spied.ledger.standing().spent.epsilon) == (1, 1)


def test_noise_is_drawn_from_the_given_source(spied):
    drawn = []

    class Told:
        def __getattr__(self, name):
            drawn.append(name)
            return getattr(SYSTEM, name)

    disclose(spied, order(), Noise([]), exactly(5, []), pack=as_bytes, source=Told())
    assert drawn
