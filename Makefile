# Two commands do everything: `make run` opens the editor, `make test` runs every check.
VENV := .venv
BIN := $(VENV)/bin
# how pytest shares its work out; WORKERS= runs it in one process
WORKERS := -n 2 --dist worksteal

.PHONY: run test lint check-setup screenshots clean

run:
	@sh .ci/setup run
	@$(BIN)/netcanvas $(if $(FILE),"$(FILE)")

test: lint
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest $(WORKERS) $(ARGS)

lint: check-setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

check-setup:
	@sh .ci/setup test

screenshots: check-setup
	@$(BIN)/python docs/screenshots.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
