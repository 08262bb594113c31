# Everything a newcomer needs is `make up`; everything a contributor needs is `make test`.

PYTHON ?= python3
BIN := .venv/bin
SOURCES := platform jobs workers dashboard benchmarks

.DEFAULT_GOAL := help
.PHONY: help up test chaos chaos-control bench bench-sink bench-dataflow bench-control bench-metrics differential check format lock clean

help:  ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up:  ## start everything on this machine and run the example job; Ctrl-C stops it
	@$(PYTHON) bin/bootstrap.py up
	@$(BIN)/python manage.py up $(ARGS)

test: check  ## check, then all tests: two at a time, then those that need the machine for themselves
	@$(BIN)/python -m tests.jvm
	@$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not alone"
	@$(BIN)/pytest -m alone

chaos: .dev  ## hundreds of faults against the exactly-once sink: SEED=7 FAULTS=200 REPORT=docs/chaos.md
	@$(BIN)/python -m tests.chaos --faults $(or $(FAULTS),200) $(if $(SEED),--seed $(SEED)) \
		$(if $(REPORT),--report $(REPORT))

chaos-control: .dev  ## faults against the platform under four jobs: SEED=7 FAULTS=50 REPORT=docs/chaos.md
	@$(BIN)/python -m tests.chaos.control --faults $(or $(FAULTS),50) $(if $(SEED),--seed $(SEED)) \
		$(if $(REPORT),--report $(REPORT))

bench: bench-sink bench-dataflow bench-control  ## all three: 45 minutes

bench-sink: .dev  ## the sink beside Spark's own: throughput, CPU, small batches, latency; 20 minutes
	@$(BIN)/python -m benchmarks.sink $(ARGS)

bench-dataflow: .dev  ## CPU per record of programs of several kinds; 12 minutes
	@$(BIN)/python -m benchmarks.dataflow $(ARGS)

bench-control: .dev  ## the JobManager with 300 jobs and 50 TaskManagers, drivers simulated; 7 minutes
	@$(BIN)/python -m benchmarks.control $(ARGS)

bench-metrics: .dev  ## what metrics of 1,000 jobs cost: recorded, kept, asked for; 5 minutes
	@$(BIN)/python -m benchmarks.metrics $(ARGS)

bench-pages: .dev  ## the server's time for each page with 1,000 jobs and 100,000 checkpoints; 3 minutes
	@$(BIN)/python -m benchmarks.pages $(ARGS)

differential: .dev  ## the same programs on PyFlink 2.3 and here, compared line by line
	@$(BIN)/python -m tests.differential $(ARGS)

check: .dev  ## format, lint, types, import rules, Django's checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(SOURCES)
	$(BIN)/lint-imports
	$(BIN)/python manage.py check
	$(BIN)/python manage.py makemigrations --check --dry-run

format: .dev  ## bring the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: .dev
.dev:
	@$(PYTHON) bin/bootstrap.py dev

lock: .dev  ## resolve the locked packages and jars afresh
	$(BIN)/uv pip compile pyproject.toml --extra platform --universal --generate-hashes \
		--no-annotate --no-header --quiet --output-file requirements.lock
	$(BIN)/uv pip compile pyproject.toml --all-extras --constraint requirements.lock --universal \
		--generate-hashes --no-annotate --no-header --quiet --output-file requirements-dev.lock
	$(BIN)/python -m workers.embedded.jars

clean:  ## remove the environment and caches; what runs and its state (.headrace) stay
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
