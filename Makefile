# Needs Python 3.11 or newer and nothing else; another interpreter: make run PYTHON=python3.13
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SDKS := $(VENV)-instrumentation
UV ?= $(if $(wildcard $(BIN)/uv),$(BIN)/uv,uv)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
COMPILE = $(UV) pip compile --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --annotation-style line -c requirements/bounds.in
FUZZ_SECONDS ?= 300
KILLS ?= 200

# Every command starts a new interpreter; without byte code each of them would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-faults test-instrumentation fuzz lint types fmt docs migration bench lock ci clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

run: $(VENV)/.run  ## install, judge the demo's answers and traces, then serve them and print the link that logs in
	@$(BIN)/scorewright serve --demo --login-link

test: $(VENV)/.test  ## install what the tests need and run the whole suite
	$(BIN)/python -m pytest --numprocesses=2 --dist=loadfile

test-faults: $(VENV)/.test  ## kill workers and servers KILLS or two hundred times on each database, and count what is lost or there twice
	$(BIN)/python tests/faults/run.py --kills $(KILLS)

test-instrumentation:  ## run the recipes of docs/how-to/instrument.md with the real SDKs, installed on their own
	@$(MAKE) --no-print-directory VENV=$(SDKS) $(SDKS)/.instrumentation
	$(SDKS)/bin/python -m pytest --numprocesses=2 tests/instrumentation

fuzz: $(VENV)/.fuzz  ## feed damaged traces and filters, for FUZZ_SECONDS or five minutes
	$(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS)

lint: $(VENV)/.lint  ## check style, import layers and declared dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry src

types: $(VENV)/.lint  ## check the types, strictly, of sources, tests and benchmarks
	$(BIN)/basedpyright --pythonpath $(BIN)/python

fmt: $(VENV)/.lint  ## format the code and mend what can be mended by itself
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

docs: $(VENV)/.run  ## write what comes from the code: pages of docs/reference, and openapi.json
	$(BIN)/python docs/runners_page.py
	$(BIN)/python docs/openapi_document.py
	$(BIN)/python docs/rest_api_page.py

migration: $(VENV)/.lint  ## write the revision from the last one to the tables of the code: make migration MESSAGE='…'
	$(BIN)/python -m scorewright.storage.migrations $(MESSAGE)
	$(BIN)/ruff format src/scorewright/storage/migrations

bench: $(VENV)/.test  ## measure the numbers of docs/performance.md on this machine
	$(BIN)/python benchmarks/bench.py all

lock:  ## resolve the dependencies again and pin them with their hashes (needs uv)
	$(COMPILE) pyproject.toml -o requirements/run.txt
	$(COMPILE) pyproject.toml -c requirements/run.txt --extra pandas --extra test -o requirements/test.txt
	$(COMPILE) pyproject.toml -c requirements/test.txt --extra pandas --extra test --extra lint -o requirements/lint.txt
	$(COMPILE) pyproject.toml -c requirements/test.txt --extra pandas --extra test --extra oracle -o requirements/oracle.txt
	$(COMPILE) pyproject.toml -c requirements/test.txt --extra test --extra instrumentation -o requirements/instrumentation.txt
	$(COMPILE) pyproject.toml -c requirements/test.txt --extra pandas --extra test --extra fuzz -o requirements/fuzz.txt
	echo 'hatchling' | $(COMPILE) - -c requirements/lint.txt -o requirements/build.txt

ci:  ## what is checked before a change lands
	bash .ci/run

clean:  ## remove the virtual environment, caches and build results
	rm -rf $(VENV) $(SDKS) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo 'make: $(PYTHON) is missing or older than Python 3.11; name another one: make PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo 'make: $(PYTHON) cannot create a virtual environment; on Debian and Ubuntu install python3-venv' >&2; exit 1; }

$(VENV)/.run: pyproject.toml requirements/build.txt requirements/run.txt | $(BIN)/python
	@echo 'Installing into $(VENV) ...'
	@$(PIP) install --require-hashes -r requirements/build.txt
	@$(PIP) install --require-hashes -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.run requirements/test.txt
	@echo 'Installing what the tests need ...'
	@$(PIP) install --require-hashes -r requirements/test.txt
	@touch $@

$(VENV)/.fuzz: $(VENV)/.test requirements/fuzz.txt
	@echo 'Installing what fuzzing needs ...'
	@$(PIP) install --require-hashes -r requirements/fuzz.txt || \
		echo 'make: atheris does not install on this Python; inputs are chosen without coverage' >&2
	@touch $@

$(VENV)/.lint: $(VENV)/.test requirements/lint.txt
	@echo 'Installing what the checks need ...'
	@$(PIP) install --require-hashes -r requirements/lint.txt
	@touch $@

$(VENV)/.instrumentation: pyproject.toml requirements/build.txt requirements/instrumentation.txt | $(BIN)/python
	@echo 'Installing the SDKs into $(VENV) ...'
	@$(PIP) install --require-hashes -r requirements/build.txt
	@$(PIP) install --require-hashes -r requirements/instrumentation.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
