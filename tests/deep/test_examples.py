"""The examples run as they are, and end with the promise of what they trained."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("name", "said"), [("deep_image", "Right for "), ("deep_text", "It writes: ")])
def test_examples_train_and_show_what_the_net_learnt(name: str, said: str) -> None:
    program = EXAMPLES / f"{name}.py"
    assert len(program.read_text(encoding="utf-8").splitlines()) < 60
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    assert said in ended.stdout
    assert "differentially private with ε = " in ended.stdout
