# Everything starts from Python and PyPI alone: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test check long bench clean

demo: $(VENV)/installed
	$(BIN)/variorum demo

test: check
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

check: $(VENV)/installed
	$(BIN)/ruff format --check src tests bench
	$(BIN)/ruff check src tests bench
	$(BIN)/mypy
	$(BIN)/lint-imports

long: $(VENV)/installed
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup --long

bench: $(VENV)/installed
	$(BIN)/pip install --quiet -e '.[peers]'
	$(BIN)/python -m bench

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
