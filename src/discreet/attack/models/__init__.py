"""Attacks on what was learnt: on a model, its steps, its answers, and on synthetic tables.

trials        medians with intervals, and lists that a caller hands over
missing_row   all rows but one, and an exact model, give that row
vectors       rows that a support-vector machine keeps in its file
gradient      the picture in the gradient of one example
canary        a secret line that a small language model recites
membership    who was among the rows, by the loss and by shadow models
attribute     a hidden cell, from a model's answers or from a synthetic table
beside        the curator's own rows, in two files beside a model or a synthetic table
"""
