"""Compiled loops: the only modules that import a compiler, imported themselves only when a method runs."""
