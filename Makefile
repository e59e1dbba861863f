# Each target does its own set-up: .venv is made, and what is locked installed, the first time and whenever a lock changes.
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin

# Workers are counted in tests/conftest.py; each has one thread.
THREADS ?= 1
# Tests start many processes; each would compile every module again where the environment forbids to keep bytecode.
export PYTHONDONTWRITEBYTECODE :=
PYTEST = OMP_NUM_THREADS=$(THREADS) OPENBLAS_NUM_THREADS=$(THREADS) $(BIN)/python -m pytest -n auto --dist loadgroup

.PHONY: app site docs test variations quick coverage lint javascript types bench lock audit licences clean

# Two heaps for all threads, not eight a core: memory of sessions that have gone comes back.
app: .venv/app.stamp
	MALLOC_ARENA_MAX=$${MALLOC_ARENA_MAX:-2} $(BIN)/streamlit run serve.py --server.port $(PORT)

# The static edition: plain files for any host, a frame, or a stick; `make site SITE=folder` writes them there.
# With npm, visitors load a third of Plotly's library.
SITE ?= site
site: .venv/dev.stamp $(if $(shell command -v npm),tests/javascript/node_modules/.package-lock.json)
	OMP_NUM_THREADS=$(THREADS) OPENBLAS_NUM_THREADS=$(THREADS) $(BIN)/python -m deploy.site --output $(SITE)

# The documentation as a site, with the static edition in its folder `app`. A warning is a failure, and so is a link
# within the repository that leads nowhere.
DOCS ?= build/docs
docs: .venv/docs.stamp $(DOCS)/app/index.html
	rm -rf docs/gallery docs/reference/generated
	OMP_NUM_THREADS=$(THREADS) OPENBLAS_NUM_THREADS=$(THREADS) $(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet docs $(DOCS)
	$(BIN)/sphinx-build -b linkcheck -D plot_gallery=0 --fail-on-warning --quiet docs $(DOCS)-links

# Written again only after a change of what it shows, since that takes minutes.
$(DOCS)/app/index.html: $(shell find deploy/site pages rff_engine datasets -type f -not -path '*/__pycache__/*') | .venv/dev.stamp
	$(MAKE) site SITE=$(DOCS)/app

# The first group tests everything once; the second the same in every browser view, at all ends, sizes, and kinds, and
# with databases and clusters that fail. GROUP=2 runs the second, GROUP=all both.
GROUP ?= 1
GROUP_1 := -m "not second"
GROUP_2 := -m second
GROUP_all :=
test: .venv/dev.stamp
	$(PYTEST) $(GROUP_$(GROUP))

# The tests with the arithmetic of other machines: perturbed products and cosines, OpenBLAS as on other x86-64 processors,
# NumPy without AVX-512, two threads. PYTEST_ADDOPTS='-m "not browser"' leaves the browser out.
variations: .venv/dev.stamp
	$(PYTEST) --perturb 1
	OPENBLAS_CORETYPE=Haswell NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR" $(PYTEST)
	OPENBLAS_CORETYPE=SkylakeX $(MAKE) test GROUP=all THREADS=2
	OPENBLAS_CORETYPE=Zen $(MAKE) test GROUP=all THREADS=2

quick: .venv/dev.stamp
	$(PYTEST) -m "not slow and not second and not browser" --ignore=tests/browser

# The share of lines that the tests run. It costs half as much time again, so `make test` leaves it out.
coverage: .venv/dev.stamp
	$(PYTEST) -m "not browser" --cov --cov-report=
	$(BIN)/coverage report --include='rff_engine/*,datasets/*' --skip-covered --fail-under=95
	$(BIN)/coverage report --include='pages/*,app.py,serve.py' --skip-covered --fail-under=90

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q -n 0 tests/test_docstrings.py -k numpydoc

# Needs node and npm; the app does not.
NPM := npm --prefix tests/javascript
javascript: tests/javascript/node_modules/.package-lock.json
	$(NPM) run --silent lint
	$(NPM) run --silent types

types: .venv/dev.stamp tests/javascript/node_modules/.package-lock.json
	$(NPM) run --silent pyright

tests/javascript/node_modules/.package-lock.json: tests/javascript/package-lock.json
	$(NPM) ci --no-audit --no-fund --ignore-scripts
	touch $@

# Two tables of docs/performance.md; BENCH="formulas --quick" hands on other options.
BENCH ?= --write
bench: .venv/dev.stamp
	$(BIN)/python -m benchmarks.engine $(BENCH)

# One lock for every system and every Python from 3.11 on, each package with the hashes of all its files on PyPI. After a
# pin in requirements.txt or pyproject.toml has changed; what is not pinned there stays as it is in the lock.
# make lock UPGRADE=--upgrade takes the newest of those as well.
lock: | $(BIN)/uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-annotate \
		--no-config --default-index https://pypi.org/simple --custom-compile-command "make lock" $(UPGRADE) \
		requirements.txt --group docs --output-file requirements.lock

# Known vulnerabilities of what the lock holds, from PyPI's advisories; what cannot be asked for is a failure.
audit: .venv/dev.stamp
	$(BIN)/pip-audit --strict --require-hashes --disable-pip --progress-spinner off -r requirements.lock

# Licences of the installed packages, by their metadata; those of data sets stand in datasets/data/*/SOURCE.md.
licences: .venv/dev.stamp
	@$(BIN)/python -c 'from importlib.metadata import distributions; \
	text = lambda m: m["License-Expression"] or "; ".join(c.split(" :: ")[-1] for c in m.get_all("Classifier", ()) if c[:7] == "License") or m["License"] or "?"; \
	print(*sorted({"{} {}: {}".format(m["Name"], m["Version"], text(m).split("\n")[0]) for m in (d.metadata for d in distributions())}, key=str.lower), sep="\n")'

clean:
	rm -rf .venv tests/javascript/node_modules .pytest_cache .ruff_cache .import_linter_cache .coverage

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; this is %d.%d (choose another with make PYTHON=...)" % sys.version_info[:2])'
	$(PYTHON) -m venv .venv

# uv takes seconds where pip takes a minute. pip installs it, from its lines of the lock. Without bytecode of the
# packages, the first start of the app takes twice as long.
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes \
	-r requirements.txt --constraints requirements.lock

$(BIN)/uv: | $(BIN)/python
	awk '/^uv==/ {found = 1} found {print} found && !/\\$$/ {exit}' requirements.lock > .venv/uv.lock
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes -r .venv/uv.lock

.venv/app.stamp: requirements.txt requirements.lock | $(BIN)/uv
	$(INSTALL)
	touch $@

# Each group holds the one before.
.venv/dev.stamp: requirements.txt requirements.lock pyproject.toml | $(BIN)/uv
	$(INSTALL) --group dev
	touch .venv/app.stamp $@

.venv/docs.stamp: requirements.txt requirements.lock pyproject.toml | $(BIN)/uv
	$(INSTALL) --group docs
	touch .venv/app.stamp .venv/dev.stamp $@
