"""Answers: values with an honest ±, their cost and receipt, as text, pages, pictures, frames and JSON."""

from discreet.answer.answer import Answer
from discreet.answer.column import Column, column
from discreet.answer.derived import Derived
from discreet.answer.estimate import estimates_of
from discreet.answer.noisy import Estimates, Noisy
from discreet.answer.show import table

__all__ = ["Answer", "Column", "Derived", "Estimates", "Noisy", "column", "estimates_of", "table"]
