"""The one stored form of everything that was released."""

import zlib

import numpy as np
import pytest

from discreet import envelope
from discreet.envelope import Envelope, Part
from discreet.errors import IntegrityError


def made(kind="question"):
    parts = (
        Part({"is": "rows"}, {"is": "laplace"}, np.array([3, -1, 2**62])),
        Part({"is": "tops"}, {"is": "exponential"}, np.array([[1, 2], [0, 5], [7, 7]])),
        Part({"is": "present"}, {}, np.zeros(0, dtype=np.int64)),
    )
    return Envelope(kind, "0.1.0", {"labels": [["a", "é", None]]}, parts)


def test_an_envelope_comes_back_as_it_was():
    kept = envelope.from_bytes(made().to_bytes(), "question")
    assert (kept.kind, kept.version, kept.facts) == ("question", "0.1.0", {"labels": [["a", "é", None]]})
    for there, back in zip(made().parts, kept.parts, strict=True):
        assert (there.tally, there.law, there.values.tolist()) == (back.tally, back.law, back.values.tolist())


def test_equal_envelopes_have_equal_bytes_and_a_head_that_says_what_they_are():
    assert made().to_bytes() == made().to_bytes()
    assert made().to_bytes().startswith(b"discreet released 1\n")


def _body(text):
    return envelope.HEAD + zlib.compress(text)


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"garbage",
        envelope.HEAD,
        envelope.FAILED,
        made().to_bytes()[:-1],
        made().to_bytes() + b"more",
        made("release").to_bytes(),
        _body(b"{}"),
        _body(b"[" * 100_000),
        _body(b'{"kind":"question","version":"1","facts":{},"parts":[{"tally":1,"law":1,"shape":[1]}]}\n'),
        _body(b'{"kind":"question","version":"1","facts":{},"parts":[]}\n12345678'),
        _body(b'{"kind":"question","version":"1","facts":{},"parts":[{"tally":1,"law":1,"shape":[-1]}]}\n12345678'),
    ],
)
def test_what_is_no_envelope_of_that_kind_is_refused_in_words(stored):
    with pytest.raises(IntegrityError, match="no question"):
        envelope.from_bytes(stored, "question")
