"""Speed beside peers, as ratios of CPU time: `python -m benchmarks [topic …] [--json]`.

Nothing is imported here: the workers of peers import this package from their own environments.
"""
