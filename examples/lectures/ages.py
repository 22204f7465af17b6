"""Lecture 3: three means of five people, and how many tables of ages each of them leaves.

Run it with: python examples/lectures/ages.py
"""

import discreet as dp

people = {"count": 5, "columns": {"age": range(111), "sex": ["man", "woman"]}}
men, women = {"sex": "man"}, {"sex": "woman"}
tables = [  # a text is rounded as it is printed
    {"where": men, "count": 2, "name": "two men and three women"},
    {"mean": "30.4", "count": 5, "name": "mean of all"},
    {"where": men, "count": 2, "mean": "34.0", "name": "mean of the men"},
    {"where": women, "count": 3, "mean": "28.0", "name": "mean of the women"},
]
for table, step in zip(tables, dp.attack.worlds(tables, people).steps, strict=False):
    print(f"{table['name']}: {step.count:,} tables of ages are left")
