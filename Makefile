# Each target does its own set-up: .venv is made, and what is pinned installed, the first time and whenever a pin changes.
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin

# One worker a core: more threads than that would only wait for each other.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup

.PHONY: app test quick lint bench clean

app: .venv/app.stamp
	$(BIN)/streamlit run app.py --server.port $(PORT)

test: .venv/dev.stamp
	$(PYTEST)

quick: .venv/dev.stamp
	$(PYTEST) -m "not slow and not browser"

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# A stopped benchmark goes on where it was; BENCH="--only svm-500 --no-write" hands on options.
bench: .venv/dev.stamp
	$(BIN)/python -m benchmarks.engine $(BENCH)

clean:
	rm -rf .venv .pytest_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; this is %d.%d (choose another with make PYTHON=...)" % sys.version_info[:2])'
	$(PYTHON) -m venv .venv

.venv/app.stamp: requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt
	touch $@

.venv/dev.stamp: requirements-dev.txt .venv/app.stamp
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements-dev.txt
	touch $@
