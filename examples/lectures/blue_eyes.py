"""Lecture 2: how many people have blue eyes?  One count at ε = 0.1, planned and asked of an invented town.

Run it with: python examples/lectures/blue_eyes.py
"""

import random
import tempfile
from pathlib import Path

import pyarrow as pa

import discreet as dp

TOWN = """
[dataset]
format = 1
name = "town"
source = "town.parquet"
[columns.eyes]
type = "category"
values = ["blue", "brown", "green"]
why_public = "everybody knows these colours"
[budget]
epsilon = 1
"""

eyes = random.Random(1).choices(["blue", "brown", "green"], [8, 80, 12], k=30_000)
with tempfile.TemporaryDirectory() as folder:
    toml = Path(folder) / "town.toml"
    toml.write_text(TOWN, encoding="utf-8")
    again = "invented people, asked anew each time this runs"  # with real ones each run would be a fresh budget
    town = dp.open(toml, table=pa.table({"eyes": eyes}), second_ledger=again)
    question = town.where(dp.col("eyes") == "blue").agg(n=dp.count())
    print(question.explain(epsilon="0.1"))
    answer = question.ask(epsilon="0.1").column("n")
    print(f"{eyes.count('blue'):,} have blue eyes; answered {answer.value[0]:,} ± {answer.moe[0]:g}")
