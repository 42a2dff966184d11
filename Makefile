# `make run` and `make test` set everything up by themselves; nothing else is needed.
VENV := .venv
READY := $(VENV)/.ready
PATH_ARG ?= .

.PHONY: run test test-long lint conformance format bench screenshots clean

run: $(READY)
	@$(VENV)/bin/keyhole $(PATH_ARG)

# One process per core, and no more than eight. Each file of tests stays in one of them, so that what takes long to
# set up (a wheel, the official clients, an indexed workspace) is set up once. They run in the order of their names:
# pytest-xdist would take files with few tests last, and some of those take longest.
test: $(READY) lint
	$(VENV)/bin/pytest -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

# What takes too long for every change, half an hour or so: more examples of every property, and the server under load.
test-long: $(READY)
	$(VENV)/bin/python bench/long.py

lint: $(READY)
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy -p keyhole
	$(VENV)/bin/mypy tests bench
	$(VENV)/bin/lint-imports

# The official MCP clients against our server; `make test` runs them too, where npm is there.
conformance: $(READY)
	$(VENV)/bin/pytest tests/test_mcp_official.py -rs

format: $(READY)
	$(VENV)/bin/ruff format
	$(VENV)/bin/ruff check --fix

# Each prints a table and stores a dated record.
bench: $(READY)
	$(VENV)/bin/python bench/index.py --record
	$(VENV)/bin/python bench/quality.py --ablation --record
	$(VENV)/bin/python bench/search.py --record
	$(VENV)/bin/python bench/views.py --record
	$(VENV)/bin/python bench/mcp.py --record
	$(VENV)/bin/python bench/load.py --record
	$(VENV)/bin/python bench/maps.py --record
	$(VENV)/bin/python bench/links.py --record
	$(VENV)/bin/python bench/links_quality.py --record
	$(VENV)/bin/python bench/tokens.py --record
	$(VENV)/bin/python bench/tui.py --record

# The pictures of the README, from the explorer as it is now.
screenshots: $(READY)
	$(VENV)/bin/python tests/screenshots.py

clean:
	rm -rf $(VENV) .conformance dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml constraints.txt
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing $(VENV) && \
		uv pip install --quiet --python $(VENV)/bin/python --constraint constraints.txt --editable . --group dev; \
	else \
		python3 -m venv $(VENV) && \
		$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --upgrade pip && \
		$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable . --group dev; \
	fi
	@$(VENV)/bin/python -m compileall -q core tui mcp_server assets
	@touch $@
