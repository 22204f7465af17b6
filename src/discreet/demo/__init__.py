"""The tour: makers of invented tables, and real mechanisms run on them.

Only the tables take a seed.  The noise is the noise that protects real data, so it differs in every run.
"""
