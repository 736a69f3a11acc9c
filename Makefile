# Every target does its own set-up; stamps in .venv make a second run quick.
.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
JOBS    ?= 2
KERNELS := $(filter-out %/__init__.py,$(wildcard src/reticent/kernels/*.py))
PROJECT := pyproject.toml setup.py constraints.txt
# Byte code is made where a module is first imported, not for every module of every package.
OPTIONS := --quiet --no-compile --disable-pip-version-check --constraint constraints.txt
PIP     := $(BIN)/python -m pip install $(OPTIONS)
# What the demo needs is installed by one call of pip: a second one would start and resolve anew.
NEEDED  := import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  print(*project["dependencies"], *project["optional-dependencies"]["charts"])
PEERS   := pycanon==1.3.6
EXTRAS  := postgres,excel,statfiles,stats,query,charts,studio
GROUPS  := --group test --group lint --group browser --group docs --group assurance
# The first pip that installs groups of pyproject.toml.
NEWPIP  := 'pip>=25.1'

.NOTPARALLEL:
.PHONY: help venv install build demo test quick blocked test-cluster faults hostile queries browser lint format bench docs docs-look pictures studies install-check dist dist-check lowest plugin coverage mutants vulnerabilities pylock lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

venv: $(VENV)/.made ## make .venv with the build tools

install: $(VENV)/.kernels ## install the package in place, with compiled kernels

build: $(VENV)/.made ## recompile kernels in place where their source is newer (KERNEL=name for one)
	@$(BIN)/python setup.py --quiet build_ext --inplace --parallel $(JOBS)

demo: $(VENV)/.kernels ## publish, audit, attack, ask and report a release of built-in data
	@$(BIN)/reticent demo

test: $(VENV)/.test $(VENV)/.kernels ## run the whole suite (ARGS='...' for pytest, JOBS=n processes)
	@$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

# Folders of code that decides, of commands and of what is pinned; `tests/support/time_budget.py` says in which order.
QUICK := $(addprefix tests/,golden contract models audit methods release recipe ledger kernels data cli query labels estimate \
  format attacks publish hostile partitioned properties papers house/test_import_layers.py house/test_operating_system.py)
quick: $(VENV)/.test $(VENV)/.kernels ## run what tries a little of everything in two minutes on two cores (JOBS=n processes)
	@$(BIN)/python -m pytest -q -n $(JOBS) -p tests.support.time_budget -rfE $(QUICK) $(ARGS)

blocked: $(VENV)/.test $(VENV)/.kernels ## run a part of the suite without what only POSIX systems have (TESTS='...')
	@$(BIN)/python -m tests.packaging.blocked_check -n $(JOBS) $(ARGS)

faults: $(VENV)/.test $(VENV)/.kernels ## spoil every change of the disk in every way (ARGS='--every 5' for a part); needs gcc
	@$(BIN)/python -m tests.faults.sweep $(ARGS)

hostile: $(VENV)/.test $(VENV)/.kernels ## try every forgery, with every reader, and thousands of mutations (EXAMPLES=n of each)
	@HOSTILE=all HOSTILE_EXAMPLES=$(or $(EXAMPLES),500) $(BIN)/python -m pytest -n $(JOBS) tests/hostile $(ARGS)

queries: $(VENV)/.test $(VENV)/.kernels ## ask 100,000 random questions of every kind and 1,500 draws of each random one
	@RETICENT_QUERIES=all $(BIN)/python -m pytest -n $(JOBS) tests/query $(ARGS)

test-cluster: $(VENV)/.test $(VENV)/.kernels ## kill an executor of Spark's local-cluster half-way (three Javas, more than a CPU minute)
	@SPARK=all $(BIN)/python -m pytest tests/engines/test_spark_cluster.py $(ARGS)

browser: $(VENV)/.test $(VENV)/.kernels ## try reports and the studio in a real browser, which is installed (Debian; pictures in build/screenshots)
	@command -v chromium > /dev/null || apt-get install --yes --no-install-recommends chromium
	@$(PIP) --no-build-isolation --editable '.[studio]' --group browser
	@BROWSER=all $(BIN)/python -m pytest tests/report/test_browser.py tests/studio/test_browser.py $(ARGS)

lint: $(VENV)/.lint ## check the code with ruff, and its types with mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy

format: $(VENV)/.lint ## put the code in the house's format
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

bench: $(VENV)/.test $(VENV)/.kernels ## print one table of ratios against the read-group-write floor
	@$(BIN)/python -m benchmarks.run $(ARGS)

docs: $(VENV)/.docs ## build the documentation as a searchable site, build/site/index.html
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c docs/site -d build/doctrees docs build/site
	@echo "build/site/index.html"

docs-look: docs $(VENV)/.test $(VENV)/.kernels ## take pictures of the site and of the notebook in a real browser (chromium), in build/screenshots
	@PYTHONPATH=. $(BIN)/python -m docs.site.notebook build/site/notebook.html
	@PYTHONPATH=. $(BIN)/python -m docs.site.look build/site build/screenshots

pictures: $(VENV)/.test $(VENV)/.kernels ## make the pictures of README and docs anew from the demo, in docs/pictures (chromium)
	@command -v chromium > /dev/null || apt-get install --yes --no-install-recommends chromium
	@$(PIP) playwright
	@PYTHONPATH=. $(BIN)/python -m docs.site.six_rows
	@PYTHONPATH=. $(BIN)/python -m docs.site.screens

studies: $(VENV)/.test $(VENV)/.kernels ## run every study anew, hours in all (ARGS='beta_likeness 5' for a figure of one, ARGS=--redraw for the charts alone)
	@$(BIN)/python -m studies.all $(ARGS)

dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1767225600)
dist: $(VENV)/.made ## build the wheel, the source distribution and their bill of materials (CycloneDX), in dist
	@rm -rf dist
	@$(PIP) build
	@$(BIN)/python -m build --no-isolation --outdir dist .
	@$(BIN)/python -m tests.packaging.sbom dist

install-check: ## install the wheel and the checkout in odd places, with and without a compiler, and run the demo (PYTHONS='python3.11 python3.13')
	@$(PYTHON) -m tests.packaging.install_check $(PYTHONS)

dist-check: ## build wheel and sdist and run tests of the sdist against the wheel (PYTHONS='python3.11 python3.13', TESTS='...')
	@$(PYTHON) -m tests.packaging.dist_check $(PYTHONS)

plugin: $(VENV)/.test $(VENV)/.kernels ## install the example plugin from outside the tree, run its tests and use it
	@$(BIN)/python -m tests.packaging.plugin_check

coverage: $(VENV)/.test $(VENV)/.kernels ## measure lines and branches that the suite runs, by package (ARGS='tests/audit ...' for a part)
	@$(PIP) --group assurance
	@rm -f build/coverage/data*; mkdir -p build/coverage
	@$(BIN)/python -m coverage run -m pytest -n $(JOBS) $(ARGS)
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage json --quiet -o build/coverage/coverage.json
	@$(BIN)/python -m tests.house.coverage_by_package build/coverage/coverage.json

mutants: $(VENV)/.test $(VENV)/.kernels ## change one expression of the audit's measures at a time and see which no test notices (ARGS='likeness counts', LIMIT=n, TESTS='...')
	@$(BIN)/python -m tests.audit.mutation $(ARGS)

vulnerabilities: ## look every pinned version up in the advisories of PyPI (pip-audit, in an environment of its own)
	@test -x $(VENV)/advisories/bin/pip-audit || { $(PYTHON) -m venv $(VENV)/advisories && \
	  $(VENV)/advisories/bin/python -m pip install --quiet --disable-pip-version-check pip-audit; }
	@$(VENV)/advisories/bin/pip-audit --strict --requirement constraints.txt --no-deps --disable-pip --progress-spinner off $(ARGS)

pylock: $(VENV)/.made ## write build/pylock.toml (PEP 751): what constraints.txt pins for the core, with hashes, for this Python and platform
	@mkdir -p build
	@KERNELS=none $(BIN)/python -m pip lock --quiet --constraint constraints.txt --output build/pylock.toml \
	  $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"])')

lowest: $(VENV)/.kernels ## install the lowest versions that pyproject.toml allows, apart, and run a part of the suite (TESTS=...)
	@$(PYTHON) -m tests.packaging.lowest_check

lock: ## resolve every extra and group anew and write constraints.txt
	@$(PYTHON) -m venv $(VENV)/lock
	@$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check --upgrade $(NEWPIP)
	@$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check --dry-run --ignore-installed \
	  --report $(VENV)/lock/report.json setuptools build Cython -e '.[$(EXTRAS)]' $(GROUPS) 2> >(grep -v 'is ignored: it is neither' >&2)
	@{ echo '# Written by `make lock`: the versions this project is tested with, for every extra and group.'; \
	   $(VENV)/lock/bin/python -c 'import json, sys; \
	   print(*sorted(p["metadata"]["name"].lower().replace("_", "-") + "==" + p["metadata"]["version"] \
	   for p in json.load(open(sys.argv[1]))["install"] if p["metadata"]["name"] != "reticent"), sep="\n")' \
	   $(VENV)/lock/report.json; } > constraints.txt.new && mv constraints.txt.new constraints.txt
	@rm -rf $(VENV)/lock

clean: ## remove everything that make made
	rm -rf $(VENV) build dist demo .cache .pytest_cache .ruff_cache .mypy_cache .hypothesis src/*.egg-info
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
	rm -f src/reticent/kernels/*.so src/reticent/kernels/*.c

# Build isolation is off so that the compiler of the kernels is the one constraints.txt names.  Where this Python has a pip
# of its own, that one fills the environment, pip included, in one go: python -m venv takes much longer to install one.
$(VENV)/.made: constraints.txt pyproject.toml
	@echo "making $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@if $(PYTHON) -c 'import pip, sys; sys.exit(int(pip.__version__.split(".")[0]) < 23)' 2>/dev/null; then \
	  $(PYTHON) -m venv --without-pip $(VENV) && \
	  $(PYTHON) -m pip --python $(BIN)/python install $(OPTIONS) $(NEWPIP) setuptools Cython $$($(PYTHON) -c '$(NEEDED)'); \
	else \
	  $(PYTHON) -m venv $(VENV) && $(PIP) $(NEWPIP) setuptools Cython $$($(PYTHON) -c '$(NEEDED)'); \
	fi
	@touch $@

$(VENV)/.installed: $(VENV)/.made $(PROJECT)
	@echo "installing reticent"
	@KERNELS=none $(PIP) --no-build-isolation --no-deps --editable .
	@touch $@

# The peers we compare with pin exact versions of numpy, typer and others, which would hold back the whole project:
# they are installed without their requirements, and run on ours.
$(VENV)/.test: $(VENV)/.made $(PROJECT)
	@echo "installing reticent and what its tests need"
	@KERNELS=none $(PIP) --no-build-isolation --editable . --group test
	@$(PIP) --no-deps $(PEERS)
	@touch $(VENV)/.installed $@

# The type checker reads what we require, not us installed: nothing is compiled.
$(VENV)/.lint: $(VENV)/.made $(PROJECT)
	@$(PIP) --group lint $$($(BIN)/python -c 'import tomllib; \
	  print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"])')
	@touch $@

$(VENV)/.docs: $(VENV)/.made $(PROJECT)
	@$(PIP) --group docs
	@touch $@

# Kernels are compiled here and not by pip, which would do so in a folder of its own that a second build knows nothing of.
$(VENV)/.kernels: $(VENV)/.installed $(KERNELS)
	@$(BIN)/python setup.py --quiet build_ext --inplace --parallel $(JOBS)
	@touch $@
