# Discreet: `make demo` shows it, `make test` tries to break it.  Everything sets itself up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Real tables for tests and benchmarks; both also run without them.
export DISCREET_DATA ?= ../shared/data

.PHONY: help setup demo test test-long check bench clean
help:            ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: $(VENV)/.ok   ## an environment in .venv with the project in it

$(VENV)/.ok: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[plot,frames,postgres,release,dev]'
	touch $@

demo: setup      ## an invented hospital, asked three questions
	$(BIN)/discreet demo

test: setup      ## every part, at the size of a coffee break
	$(BIN)/pytest -n 2 --dist worksteal -m 'not long'

test-long: setup ## every part, full counts
	$(BIN)/pytest -n 2 --dist worksteal

check: setup     ## style, types, doctests, architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest --doctest-modules src
	$(BIN)/pytest tests/test_architecture.py

# `make bench noise` runs one topic, `make bench` all of them.
TOPICS := $(filter-out bench,$(MAKECMDGOALS))
bench: setup     ## speed beside peers, as ratios of CPU time
	$(BIN)/python -m benchmarks $(TOPICS)

ifneq (,$(filter bench,$(MAKECMDGOALS)))
$(TOPICS):
	@:
endif

clean:           ## remove what setup made
	rm -rf $(VENV) .venv-* build dist
