PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

.PHONY: help demo test test-slow test-training browser check bench bench-large format clean

help:
	@echo "make demo    score the digits that ship with scikit-learn, some labels flipped"
	@echo "make test    run the tests"
	@echo "make test-training    train small networks on Fashion-MNIST, and check what they tell"
	@echo "make check   lint and types"
	@echo "make bench   measure speed and memory against plain numpy"

demo: $(VENV)/.core
	@$(BIN)/cgscore demo

# These do not mind company; the others measure time or memory, kill processes, or use all cores.
TOGETHER := $(wildcard tests/adapters tests/data tests/features tests/paper tests/training tests/test_examples.py \
  tests/test_report.py tests/test_review.py)

test: $(VENV)/.test $(VENV)-pydvl/.ready browser
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile $(TOGETHER)
	$(BIN)/python -m pytest -m "not slow" $(TOGETHER:%=--ignore=%)

# Pages are tested in a real Chromium.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || { \
	  echo "Installing Chromium for the tests (once) ..."; apt-get install -y -qq chromium > /dev/null; \
	} || echo "There is no Chromium, and it cannot be installed here."

test-slow: $(VENV)/.test browser
	$(BIN)/python -m pytest -m slow

test-training: $(VENV)/.test
	$(BIN)/python -m pytest -m slow tests/training

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.core
	$(BIN)/python bench/exact.py

bench-large: $(VENV)/.core
	$(BIN)/python bench/tiles.py
	$(BIN)/python bench/kills.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(VENV)-pydvl .pytest_cache .mypy_cache .ruff_cache .hypothesis cgscore-demo

# One stamp per set of packages, so that a second run installs nothing.
$(BIN)/python:
	@echo "Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing cgscore (once) ..."
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing cgscore and what its tests need (once) ..."
	@$(INSTALL) -e ".[test]"
	@touch $@ $(VENV)/.core

# pyDVL wants a numpy before 2, so it has an environment of its own.
$(VENV)-pydvl/.ready: pyproject.toml
	@echo "Installing pyDVL and cgscore beside it (once) ..."
	@$(PYTHON) -m venv $(VENV)-pydvl
	@$(VENV)-pydvl/bin/python -m pip install -qq --disable-pip-version-check "pydvl==0.10.0" -e . \
	  && touch $@ || echo "pyDVL cannot be installed here; its test will be left out."

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing cgscore and what its checks need (once) ..."
	@$(INSTALL) -e ".[dev]"
	@touch $@ $(VENV)/.core $(VENV)/.test
