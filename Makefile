PYTHON ?= python3
OLDEST ?= python3.10
VENV ?= .venv
BIN := $(VENV)/bin
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
CONSTRAINTS := $(wildcard constraints/python$(VERSION).txt)
PIP := -m pip install -qq --disable-pip-version-check
INSTALL := $(BIN)/python $(PIP) $(CONSTRAINTS:%=-c %)

.PHONY: help demo test test-slow test-training test-portable test-portable-short test-core test-lowest \
  browser check audit bench bench-large format constraints clean

help:
	@echo "make demo            score the digits that ship with scikit-learn, some labels flipped"
	@echo "make test            run the tests"
	@echo "make test-portable   run the numerical tests as other processors would (an hour)"
	@echo "make test-lowest     run the tests of the core with the oldest supported versions"
	@echo "make test-core       run the tests of the core alone, with PYTHON=python3.13 or another"
	@echo "make test-training   train small networks on Fashion-MNIST and check their scores"
	@echo "make check           lint and types"
	@echo "make bench           measure speed and memory against plain numpy"

demo: $(VENV)/.core
	@$(BIN)/cgscore demo

test: $(VENV)/.test $(VENV)-pydvl/.ready browser
	@$(BIN)/python tests/groups.py

# Pages are tested in a real Chromium. Without one those tests are skipped, or fail where CI=true.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || { \
	  if command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
	    echo "The browser tests need Chromium: installing the system package chromium (once) ..."; \
	    apt-get install -y -qq chromium > /dev/null; \
	  else false; fi; \
	} || echo "There is no Chromium, and it cannot be installed here: browser tests are left out."

test-slow: $(VENV)/.test browser
	$(BIN)/python -m pytest -m slow

test-training: $(VENV)/.test
	$(BIN)/python -m pytest -m slow tests/training

test-portable: $(VENV)/.test
	@$(BIN)/python tests/portable.py

test-portable-short: $(VENV)/.test
	@$(BIN)/python tests/portable.py --short

# The core: what works with the package's own dependencies.
CORE := $(filter-out tests/test_examples.py tests/test_report.py tests/test_review.py, \
  $(wildcard tests/test_*.py)) tests/data tests/solvers tests/execution/test_blas.py \
  tests/execution/test_execution.py

test-core: $(VENV)-core-$(VERSION)/.ready
	CGSCORE_TESTS=core $(VENV)-core-$(VERSION)/bin/python -m pytest -q -m "not slow" $(CORE)

test-lowest: $(VENV)-lowest/.ready
	CGSCORE_TESTS=core $(VENV)-lowest/bin/python -m pytest -q -m "not slow" $(CORE)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Known holes of what is installed; the database is on the network.
audit: $(VENV)/.test
	@$(BIN)/python $(PIP) pip-audit
	$(BIN)/pip-audit --local --skip-editable

bench: $(VENV)/.core
	$(BIN)/python bench/exact.py

bench-large: $(VENV)/.core
	$(BIN)/python bench/tiles.py
	$(BIN)/python bench/kills.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Resolve again for every Python that is promised; none of them has to be installed.
PROMISED := 3.10 3.11 3.12 3.13 3.14
constraints: $(BIN)/python
	@$(BIN)/python $(PIP) uv
	@for version in $(PROMISED); do \
	  { echo "# Versions for Python $$version, resolved by \`make constraints\`."; \
	    echo "torch==2.13.0" | $(BIN)/uv pip compile pyproject.toml --extra dev -c - -q --no-header \
	      --no-annotate --python-version $$version | grep -vE "^(nvidia|cuda|triton)"; \
	  } > constraints/python$$version.txt || exit 1; \
	done

clean:
	rm -rf $(VENV) $(VENV)-pydvl $(VENV)-lowest $(VENV)-core-* .pytest_cache .mypy_cache .ruff_cache \
	  .hypothesis cgscore-demo

# One stamp per set of packages, so that a second run installs nothing.
$(BIN)/python:
	@echo "Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	@echo "Installing cgscore (once) ..."
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.test: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	@echo "Installing cgscore and what its tests need (once) ..."
	@$(INSTALL) -e ".[test]"
	@touch $@ $(VENV)/.core

# pyDVL wants a numpy before 2, so it has an environment of its own.
$(VENV)-pydvl/.ready: pyproject.toml
	@echo "Installing pyDVL and cgscore beside it (once) ..."
	@$(PYTHON) -m venv $(VENV)-pydvl
	@$(VENV)-pydvl/bin/python $(PIP) "pydvl==0.10.0" -e . \
	  && touch $@ || echo "pyDVL cannot be installed here; its test will be left out."

$(VENV)-core-$(VERSION)/.ready: pyproject.toml $(CONSTRAINTS)
	@echo "Installing cgscore alone for Python $(VERSION) (once) ..."
	@$(PYTHON) -m venv $(VENV)-core-$(VERSION)
	@$(VENV)-core-$(VERSION)/bin/python $(PIP) $(CONSTRAINTS:%=-c %) -e . pytest hypothesis
	@touch $@

# The lower bounds of pyproject.toml, on the oldest Python.
$(VENV)-lowest/.ready: pyproject.toml tests/lowest.py | $(BIN)/python
	@echo "Installing cgscore with the oldest versions it supports (once) ..."
	@$(OLDEST) -m venv $(VENV)-lowest
	@$(VENV)-lowest/bin/python tests/lowest.py > $(VENV)-lowest/versions.txt
	@$(VENV)-lowest/bin/python $(PIP) -c $(VENV)-lowest/versions.txt -e . pytest hypothesis
	@touch $@

$(VENV)/.dev: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	@echo "Installing cgscore and what its checks need (once) ..."
	@$(INSTALL) -e ".[dev]"
	@touch $@ $(VENV)/.core $(VENV)/.test
