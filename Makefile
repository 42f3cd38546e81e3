# Comparena. `make demo` runs it with demonstration data; `make check` checks a change in a minute, `make test` in many.
PYTHON ?= python3
BIN := .venv/bin
PORT ?= 8000
BEFORE ?= HEAD~1
# One thread in each process; a file's tests stay in one and share what they make. Calculations keep a core busy. The other tests
# wait a quarter of their time for servers and browsers, so that three of them share two cores, with 1.5 GB for each.
PYTEST = $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations 10
CORES := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
PROCESSES ?= $(shell expr \( 3 \* $(CORES) + 1 \) / 2)
TESTS ?= tests
STATEMENTS ?= repeat
ON_POSTGRES := tests/annotation tests/core/test_outages.py tests/evaluator tests/leaderboard tests/worker
METHODS := $(addprefix tests/,annotation/design annotation/quality evaluator/metaevaluation leaderboard/rating leaderboard/test_signature.py)

.PHONY: help setup demo serve check methods test test-sqlite test-postgres lint messages lock bench load docs validity clean

help:  ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile

setup: .venv/runtime  ## install into .venv, start nothing

demo: .venv/runtime  ## run it with a demonstration; prints log-ins (PORT=8000)
	$(BIN)/python manage.py demo --port $(PORT)

serve: .venv/runtime  ## run it; its first page makes the first admin (PORT=8000)
	$(BIN)/python manage.py serve --port $(PORT)

check test test-sqlite test-postgres: export OMP_NUM_THREADS := 1
check test test-sqlite test-postgres: export OPENBLAS_NUM_THREADS := 1
# The tests start hundreds of processes: each would compile all modules anew, where the environment forbids to keep them.
check test test-sqlite test-postgres: export PYTHONDONTWRITEBYTECODE :=

check: .venv/dev  ## check style, types, imports, and the methods' quick tests, side by side: no database, no browser
	$(MAKE) --no-print-directory -j2 --output-sync lint methods

methods: PROCESSES = $(CORES)
methods:
	$(PYTEST) -m "not database and not long" $(METHODS)

test: test-sqlite test-postgres  ## run all tests, then on PostgreSQL and Redis what sends each statement to the database once

test-sqlite: .venv/dev  ## run all tests on SQLite and a folder as broker (TESTS=tests PROCESSES=3)
	scripts/install_test_tools
	STATEMENTS=note $(PYTEST) $(TESTS)

test-postgres: .venv/dev  ## the second half of `make test`; all tests marked `database` with STATEMENTS=all
	scripts/install_test_tools
	STATEMENTS=$(STATEMENTS) scripts/with_postgres_and_redis $(PYTEST) -m database $(ON_POSTGRES)

lint: .venv/dev  ## check style, types and imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run --settings config.settings_test

messages: .venv/dev  ## collect what annotators' pages say into locale/, and compile it (docs/translating.md; needs gettext)
	$(BIN)/python -m django makemessages --all --no-obsolete --no-wrap --add-location=file
	$(BIN)/python -m django compilemessages --ignore=.venv

lock: .venv/dev  ## pin all packages with their hashes: requirements.lock, requirements-cpu.lock
	scripts/lock

bench: .venv/dev  ## measure speed
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.comparator
	$(BIN)/python -m benchmarks.metrics

load: .venv/dev  ## measure annotators' load, beside an older commit's (BEFORE=HEAD~1)
	scripts/install_test_tools
	FSYNC=on scripts/with_postgres_and_redis $(BIN)/python -m benchmarks.load commits $(BEFORE)

docs: .venv/docs  ## build the documentation as a site in var/site
	$(BIN)/zensical build --strict

validity: .venv/dev  ## measure what the board's certainty is worth
	$(BIN)/python -m benchmarks.validity

.venv/bin/python:
	$(PYTHON) -m venv .venv || scripts/install_python_venv $(PYTHON)

.venv/runtime: requirements.txt constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt -c constraints.txt
	touch $@

.venv/dev: requirements-dev.txt requirements-oidc.txt .venv/runtime
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt -c constraints.txt
	touch $@

.venv/docs: requirements-docs.txt .venv/runtime
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-docs.txt -c constraints.txt
	touch $@

clean:  ## remove .venv and caches; var/ stays
	rm -rf .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache
