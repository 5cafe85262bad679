# Two commands do everything: make demo, make test.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test install-test lint docs frontend paper size fuzz fuzz-guided kill golden container clean

demo: .venv/installed
	$(BIN)/dccgcn fit cora --labels-per-class 5 --baseline gcn --out runs/demo --overwrite --report

test: .venv/installed lint
	$(BIN)/python -m pytest

# the wheel without extras in an empty environment: two minutes, most of them pip's and the compiler's
install-test: .venv/installed
	$(BIN)/python -m pytest -m install -n 0 tests/test_install.py

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# the documentation as a site in build/docs, without a network; a broken link is an error
docs: .venv/installed
	$(BIN)/python -m sphinx -W --keep-going -q docs build/docs
	@echo build/docs/index.html

# measure every table and figure of the paper again; finished runs are kept, so it can be stopped at any time
paper: .venv/installed
	$(BIN)/python -m paper all

# lines of Python and modules of each room; tests/test_rooms.py keeps their budgets
size: .venv/installed
	$(BIN)/python scripts/size.py

# read damaged tables (none may end in a traceback), read files of edges in two ways (the same graph or a refusal), and
# search for new cases of the property tests. make fuzz COUNT=1000000 for a night
COUNT ?= 10000
fuzz: .venv/installed
	cd tests && ../$(BIN)/python -m tools.fuzz $(COUNT)
	cd tests && ../$(BIN)/python -m tools.edge_files $(COUNT)
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -m hypothesis

# the same with inputs that atheris makes to reach new lines of the readers; needs: pip install atheris
fuzz-guided: .venv/installed
	cd tests && ../$(BIN)/python -m tools.fuzz_guided -runs=$(COUNT)

# kill -9 seven commands fifty times each; all files must stay complete and readable
kill: .venv/installed
	cd tests && ../$(BIN)/python -m tools.kill 50

# the predictions of every method on four small graphs are those of the last make golden WRITE=1 on this machine
golden: .venv/installed
	cd tests && ../$(BIN)/python -m tools.golden $(if $(WRITE),--write)

# the commands with the package and HOME mounted read-only; needs the right to mount (root, or a user namespace)
container: .venv/installed
	cd tests && ../$(BIN)/python -m tools.container

# the types and documentation of the report's data, from its schema; then its script and style, from frontend/ into
# the package: committed, so that users need no Node
frontend: .venv/installed
	$(BIN)/python scripts/report_schema.py
	cd frontend && npm ci && npm run check && npm run build

# torch is pinned in constraints.txt: without that, pip would bring gigabytes of CUDA packages
.venv/installed: pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv build runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
