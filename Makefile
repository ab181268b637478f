# Every target sets up what it needs in .venv; only `make bench` wants a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
BENCH := $(VENV)/.bench
EXTRAS := lab,report,cluster,dev

.PHONY: help setup test test-long report lab bench lint lock clean
.DEFAULT_GOAL := help

help:
	@echo "make report     all notebooks, quick profile → results/site/index.html"
	@echo "make test       every test but the long ones"
	@echo "make lab        JupyterLab on 00_start_here"
	@echo "make test-long  the long fault and strength tests"
	@echo "make bench      gamekit beside C and beside its peers → results/bench/"
	@echo "make lint       ruff, mypy and clean notebooks"
	@echo "make lock       resolve requirements.lock anew"

setup: $(STAMP)

# uv installs in a quarter of pip's time; where it cannot be had, pip does the same from the same lock.
# Bytecode is compiled on purpose: where writing it is switched off every later start would pay for it.
$(STAMP): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing packages …"
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check uv 2>/dev/null; then \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements.lock && \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e . ; \
	else \
	  $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock && \
	  $(BIN)/python -m pip install --quiet --no-deps -e . ; \
	fi
	@$(BIN)/gamekit warm
	@touch $(STAMP)

test: setup
	$(BIN)/python -m pytest

test-long: setup
	$(BIN)/python -m pytest -m long

report: setup
	$(BIN)/gamekit report --profile quick

lab: setup
	$(BIN)/gamekit lab

bench: setup $(BENCH)
	$(BIN)/python -m bench

$(BENCH): bench/requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r bench/requirements.lock
	@touch $(BENCH)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/nbstripout --keep-id --verify notebooks/*.ipynb

# The requirements form is the only lock with hashes and without a registry's address in it.
lock:
	@test -x $(BIN)/uv || ($(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet uv)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  $(foreach e,lab report cluster dev,--extra $(e)) pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  --extra bench -c requirements.lock pyproject.toml -o bench/requirements.lock

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache
