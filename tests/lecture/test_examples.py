"""Each example of a lecture runs as it is, and prints the lecture's figures."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "lectures"
FIGURES = {
    "ages": ("1,455,389,376", "2,012,983", "22,085"),
    "anonymous": ("2 diagnoses are left: HIV, Ulcerative colitis",),
    "beliefs": ("0.3763 and 0.4242", "0.3619 and 0.4421"),
    "blue_eyes": ("Sensitivity 1", "Laplace noise of scale 10", "have blue eyes; answered"),
    "choosing": ("exponent ε/(2Δ) = 0.05", "at most 165.9", "exponent 0.0217"),
    "how_far": ("feet: 7", "at once: 200K", "more person: 5", "changed: 2", "0.001", "ε = 0.1: 120", "ε = 0.1: 30"),
    "minimiser": ("4G/(nλ): 0.4", "2G/(nλ): 0.2", "G/(nλ): 0.1"),
    "noise": ("48.45", "30.7496", "3.7306", "0.4999", "0.00688", "from k = 7 counts"),
    "phones": ("0.01881 local, ± 0.0002660 central", "0.00188 local, ± 0.0000027 central", "with 50 uses 5"),
    "regions": ("[2, 2, 0]", "[3, 3, 0]", "[2.5, 2.5, 0.0]"),
    "shame": ("1 rows", "chance 0.632", "chance 0.010", "refused: delta must be"),
    "small_database": ("997 rows; 381 suffice",),
    "together": ("10 in sum", "4.307", "0.01704", "1.828"),
    "two_coins": ("P(yes | dodged) = 3/4, P(yes | did not) = 1/4", "ε = 1.0986", "before: 0.0577", "answers: 4"),
}


def test_every_example_is_run_here():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_example_prints_the_figures_of_its_lecture(name, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert [figure for figure in FIGURES[name] if figure not in printed] == []
