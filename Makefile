# `make run` and `make test` install everything they need first.
VENV := .venv
READY := $(VENV)/.ready
PATH_ARG ?= .
POSTGRES_TESTS := $(addprefix tests/test_,$(addsuffix .py,same_index search search_views \
	relations links related references reference_answers kept_references nothing_found line_search views \
	maps reads rescans stamps stored_roles changed_filter folder_links suggestions vectors deadlines))
TEST_PROCESSES ?= $(shell python3 -c "import os; print(min(8, (os.cpu_count() or 2) * 3 // 2))")

.PHONY: run test check test-long fuzz kill-test web-test postgres-test install-test wrap-test references-quality client-lab lint conformance format bench screenshots man clean

# Ctrl+C quits the explorer with 130, as programs do; make would call that an error.
run: $(READY)
	@$(VENV)/bin/keyhole $(PATH_ARG) || test $$? -eq 130

# Three processes for two cores, at most eight: tests of the explorer and of servers wait half of their time. All tests of
# a file run in one process, so that slow setup (a wheel, the official clients, an indexed workspace) happens once. Files
# run in the order of their names: pytest-xdist would run files with few tests last, and some of those take longest.
test: $(READY) lint check
	$(VENV)/bin/pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

# What agents can see of this repository (keyhole.checks.toml); the first time it is indexed, which takes some seconds.
check: $(READY)
	$(VENV)/bin/keyhole check --allow-commands

# Too slow for every change, about half an hour: more examples of every property, and the server under load.
test-long: $(READY)
	$(VENV)/bin/python bench/long.py

# Hostile source for every grammar, about ten minutes, and hostile requests over stdio and HTTP, about five.
fuzz: $(READY)
	$(VENV)/bin/python bench/fuzz_grammars.py --record
	$(VENV)/bin/python bench/fuzz_requests.py --record

# 300 kills of index, explorer and server at random moments, each compared with a fresh index; about ten minutes.
kill-test: $(READY)
	$(VENV)/bin/python bench/kill_test.py --record

# The explorer in Chromium, which must be installed, with the network off; less than a minute.
web-test: $(READY)
	$(VENV)/bin/python bench/web_browser.py --record

# keyhole install with real clients, which npm fetches the first time, with the network off; about five minutes.
install-test: $(READY)
	$(VENV)/bin/python bench/install_clients.py --record

# keyhole wrap with servers from npm and PyPI, which are fetched the first time, and with real clients; about ten minutes.
wrap-test: $(READY)
	$(VENV)/bin/python bench/wrap/wrap_test.py --record
	$(VENV)/bin/python bench/wrap/budget_answers.py --record

# References compared with language servers, which are downloaded the first time; about ten minutes.
references-quality: $(READY)
	$(VENV)/bin/python bench/references_quality.py --record

# Real clients against a fake model, without a network: their limits, and the lens; about an hour. Needs npm and root.
client-lab: $(READY)
	$(VENV)/bin/python bench/clients/lab.py --record

# The tests of search, links, references and the index once more, with every index on PostgreSQL; about ten minutes.
postgres-test: $(READY)
	$(VENV)/bin/pytest -n $(TEST_PROCESSES) --dist loadfile --on-postgres -rs $(POSTGRES_TESTS)

lint: $(READY)
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy -p keyhole
	$(VENV)/bin/mypy tests bench
	$(VENV)/bin/lint-imports

# Run the official MCP clients against our server; `make test` does so too if npm is installed.
conformance: $(READY)
	$(VENV)/bin/pytest tests/test_mcp_official.py -rs

format: $(READY)
	$(VENV)/bin/ruff format
	$(VENV)/bin/ruff check --fix

# Each benchmark prints a table and stores a dated record.
bench: $(READY)
	$(VENV)/bin/python bench/index.py --record
	$(VENV)/bin/python bench/quality.py --ablation --record --why 'make bench'
	$(VENV)/bin/python bench/search.py --record
	$(VENV)/bin/python bench/views.py --record
	$(VENV)/bin/python bench/agents.py --record
	$(VENV)/bin/python bench/mcp.py --record
	$(VENV)/bin/python bench/load.py --record
	$(VENV)/bin/python bench/maps.py --record
	$(VENV)/bin/python bench/links.py --record
	$(VENV)/bin/python bench/links_quality.py --record
	$(VENV)/bin/python bench/tokens.py --record
	$(VENV)/bin/python bench/checks.py --record
	$(VENV)/bin/python bench/checks_proof.py --record
	$(VENV)/bin/python bench/tui.py --record

# Take the README's pictures from the current explorer.
screenshots: $(READY)
	$(VENV)/bin/python tests/screenshots.py

# The manual page, made from the help: `man dist/keyhole.1`.
man: $(READY)
	@mkdir -p dist
	$(VENV)/bin/python -m keyhole.core.cli.man_page > dist/keyhole.1

clean:
	rm -rf $(VENV) .conformance dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml constraints.txt
	@echo "Installing Keyhole into $(VENV), once; this takes a minute or two"
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing $(VENV) && \
		uv pip install --quiet --python $(VENV)/bin/python --constraint constraints.txt --editable '.[web,team,models]' --group dev; \
	else \
		python3 -m venv $(VENV) && \
		$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --upgrade pip && \
		$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[web,team,models]' --group dev; \
	fi
	@$(VENV)/bin/python -m compileall -q core tui mcp_server assets
	@touch $@
