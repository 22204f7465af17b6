# Discreet: `make demo` shows it, `make test` tries to break it.  Both install what they need in .venv, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Real tables for tests and benchmarks; both also run without them.
export DISCREET_DATA ?= ../shared/data

.PHONY: help setup demo test test-long test-sklearn check bench clean
help:            ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: $(VENV)/.ok   ## all extras and the tools of tests, in .venv

# Two stamps: the demo needs the core packages alone, a fifth of the whole.  Bytecode is compiled for the tests only.
$(VENV)/.demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable .
	touch $@

$(VENV)/.ok: $(VENV)/.demo
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[plot,frames,learn,deep,postgres,release,dev]'
	-$(BIN)/python -m compileall -q -j 0 $(VENV)/lib
	touch $@

demo: $(VENV)/.demo  ## an invented hospital, asked three questions
	$(BIN)/discreet demo

test: setup      ## every part, at the size of a coffee break
	$(BIN)/pytest -n 2 --dist worksteal -m 'not long'

test-long: setup ## every part, full counts
	$(BIN)/pytest -n 2 --dist worksteal

# A version of scikit-learn in an environment of its own; 1.6 is the oldest that is supported.
SKLEARN ?= 1.6.1
test-sklearn:    ## scikit-learn's checks of estimators on another version: make test-sklearn SKLEARN=1.6.1
	$(PYTHON) -m venv .venv-sklearn-$(SKLEARN)
	.venv-sklearn-$(SKLEARN)/bin/pip install --quiet --editable . 'scikit-learn==$(SKLEARN)' 'pandas>=2.2' 'pytest>=9' hypothesis
	.venv-sklearn-$(SKLEARN)/bin/pytest -W ignore::pytest.PytestRemovedIn10Warning tests/learn/test_estimator_checks.py

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

clean:           ## remove what setup and demo installed
	rm -rf $(VENV) .venv-* build dist
