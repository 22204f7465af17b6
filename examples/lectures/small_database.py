"""Lecture 2: a small database that answers many questions at once, and the size that it needs.

Run it with: python examples/lectures/small_database.py
"""

from discreet.synth.small.size import lecture_size, tight_size

for queries, alpha in ((100, "0.2"), (1_000, "0.1")):
    print(f"K = {queries:,}, α = {alpha}: {lecture_size(queries, alpha)} rows; {tight_size(queries, alpha)} suffice")
