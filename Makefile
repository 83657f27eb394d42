# Needs Python 3.11 or newer and make; everything else is installed into .venv beside this file.
# Tools are run as `.venv/bin/python -m …`: scripts in .venv/bin hold the directory's path, which may have spaces.

RUN := .venv/bin/python -m
# The tests run on every core; `make test PARALLEL=0` runs them in one process, as a debugger wants it.
PARALLEL ?= auto
# By file: what a module prepares for its tests is prepared once.
PYTEST := $(RUN) pytest --timeout 300 --numprocesses $(PARALLEL) --dist loadfile
BENCHMARKS := idle_step langgraph_step session_cost plan_apply strategies archive_scale checkpoint_size memory import_time latency
QUICK := idle_step langgraph_step session_cost plan_apply strategies archive_scale checkpoint_size memory import_time
IMPORTLINTER := .venv/bin/python -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'

.DEFAULT_GOAL := help
PYTHON ?=
.PHONY: help setup test-lowest test-newest mutation audit demo eval eval-realmodel bench bench-quick test test-all test-realmodel lint format coverage docs docs-serve pictures notebooks build release-check clean distclean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

setup: export PYTHON := $(PYTHON)
setup: ## Make .venv with the project and its tools (the others do it when needed)
	@sh scripts/bootstrap.sh

demo: setup ## Compress a long agent session as it goes, in a small window
	@$(RUN) langchain_ctxcompress.cli demo

# For example EVAL_OPTIONS="--seeds 1 --only ladder langmem". With a real model: make eval-realmodel.
EVAL_OPTIONS ?=

eval: setup ## Compare with langmem and LangChain on long sessions, and write docs/evaluation.md
	@sh scripts/bootstrap.sh peers
	$(RUN) benchmarks.eval --write docs/evaluation.md --called "make eval" $(EVAL_OPTIONS)

eval-realmodel: setup ## The same with a small real model, in one short session; the page goes to docs/evaluation-realmodel.md
	@sh scripts/bootstrap.sh peers realmodel
	$(RUN) benchmarks.eval --real-model --seeds 1 --sets open --filler written --tokens 6000 --only "ladder, lossy" langmem Summ deepagents --write docs/evaluation-realmodel.md --called "make eval-realmodel" $(EVAL_OPTIONS)

bench: setup ## Measure what steps and compressions cost, beside LangChain and langmem; figures go to build/bench
	@sh scripts/bootstrap.sh peers
	@for part in $(BENCHMARKS); do $(RUN) benchmarks.$$part --json build/bench/$$part.json || exit 1; done
	@$(RUN) benchmarks.curves build/bench

bench-quick: setup ## The same in under two minutes; fails where a ratio is worse than stated by half
	@for part in $(QUICK); do $(RUN) benchmarks.$$part --quick --check || exit 1; done

test: setup ## Run the tests, with coverage of lines and branches
	$(PYTEST) -m "not slow and not realmodel" --cov

test-all: setup ## Run all tests, the slow ones and those with a real model too
	@sh scripts/bootstrap.sh realmodel
	$(PYTEST) --cov

test-realmodel: setup ## Run the tests with a small real model on this machine (130 MB are installed for it)
	@sh scripts/bootstrap.sh realmodel
	$(PYTEST) -m realmodel -rs --timeout 900

# What is run against other versions, in under ten minutes; all of it: `make test-lowest COMPATIBLE=tests`.
COMPATIBLE ?= tests/messages tests/history tests/summarize tests/engine tests/graph/test_as_upstream.py tests/graph/test_middleware.py tests/graph/test_node.py

test-lowest: setup ## Run tests with the lowest versions that the metadata allows, in an environment of its own
	@sh scripts/bootstrap.sh compatibility
	@PYTHON="$(PYTHON)" PARALLEL="$(PARALLEL)" sh scripts/compatibility.sh lowest-direct .venv-lowest $(COMPATIBLE)

test-newest: setup ## Run tests with the newest versions, in an environment of its own
	@sh scripts/bootstrap.sh compatibility
	@PYTHON="$(PYTHON)" PARALLEL="$(PARALLEL)" sh scripts/compatibility.sh highest .venv-newest $(COMPATIBLE)

mutation: setup ## Change the core in 340 places, one at a time: does a test notice? (hours; survivors go to mutation.txt)
	@sh scripts/bootstrap.sh mutation
	$(RUN) scripts.mutation --sample 340 --seed 8 --report mutation.txt

audit: setup ## Ask the public database of weaknesses about what is installed (needs its network)
	@sh scripts/bootstrap.sh audit
	$(RUN) pip_audit --local --skip-editable

lint: setup ## Check style, types and the direction of imports
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(IMPORTLINTER)

format: setup ## Put the sources in the project's format
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

coverage: setup ## Run the tests and write htmlcov/index.html
	$(PYTEST) -m "not slow and not realmodel" --cov --cov-report html

# Material for MkDocs prints a notice about other versions of MkDocs; it is about no page of this site.
docs: export NO_MKDOCS_2_WARNING := 1
docs: setup ## Build the documentation into site/ (links and references are checked)
	@sh scripts/bootstrap.sh docs
	$(RUN) mkdocs build --strict --clean --quiet
	@echo "Built: site/index.html (its search works where it is served: make docs-serve)"

docs-serve: export NO_MKDOCS_2_WARNING := 1
docs-serve: setup ## Show the documentation on this machine, and build it anew when a page changes
	@sh scripts/bootstrap.sh docs
	$(RUN) mkdocs serve --dev-addr 127.0.0.1:8000

pictures: setup ## Make the pictures of the documentation
	$(RUN) scripts.pictures

notebooks: setup ## Run the notebooks and keep what they print
	$(RUN) scripts.notebooks

build: setup ## Build the wheel and the source distribution into dist/
	$(RUN) hatchling build --clean

release-check: build ## Check what would be released: metadata, and the wheel in an environment of its own
	@sh scripts/bootstrap.sh release
	$(RUN) twine check --strict dist/*
	$(RUN) scripts.release_check dist

clean: ## Remove what was built, written or cached
	rm -rf mutants mutation.txt dist build site htmlcov .coverage .coverage.* demo-output
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove .venv too
	rm -rf .venv .venv-lowest .venv-newest
