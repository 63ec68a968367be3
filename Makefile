# Lightloom's tasks; `make help` lists them. What they need is installed into
# .venv; stamps in .make keep a repeated task quick.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python test-long wheel mutants fuzz lint bench docs clean

BIN := .venv/bin
STAMPS := .make
OUT ?= out
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# Random cases are the same in every run, unless another seed is given.
export PROPTEST_RNG_SEED ?= 2013
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1
# A shell inside another virtual environment must not redirect ours, and each process would compile
# all modules that it imports if no process wrote bytecode.
unexport VIRTUAL_ENV CONDA_PREFIX PYTHONDONTWRITEBYTECODE

# The binding has no Rust tests, but it is selected here: cargo then compiles the other crates with
# the features that the package needs, too, and does not compile them again for it.
RUST_TESTS := cargo test --workspace
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml -o -name '*.csv' 2>/dev/null)

help: ## List the tasks
	@echo "Begin with these two:"
	@$(TASKS) | grep -E '^  make (demo|test) '
	@echo "Then:"
	@$(TASKS) | grep -vE '^  make (demo|test) '

# The tasks and what is said of each below.
TASKS = awk -F ':.*\#\# ' '/^[a-z-]+:.*\#\# / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMPS)/develop ## Build, compare four networks on two workloads, decide which of three to buy; writes out/demo: two minutes
	$(BIN)/lightloom compare examples/demo-paper.toml examples/demo-web-search.toml -o $(OUT)/demo
	$(BIN)/lightloom compare examples/decision.toml -o $(OUT)/demo/decision

test: test-rust test-python ## Run the tests of Rust and of Python: ten minutes on two processors

test-rust: $(STAMPS)/system ## Run the Rust tests
	$(RUST_TESTS)

test-python: $(STAMPS)/develop ## Run the Python tests
	bash scripts/system.sh --browser
	bash scripts/system.sh --database
	# Tests begin in the order of their files, whose tests share what they simulated; whoever has
	# none left takes over what others have. One process more than processors: switches, testbeds
	# and clocks are waited for; with a second one, tests of round trips and time-outs fail.
	$(BIN)/pytest python/tests -n $$(($$(nproc) + 1)) --dist worksteal

test-long: $(STAMPS)/develop ## Run what takes longer: more random cases, clusters of Dask, the wheel in a clean environment, all papers
	# Of all crates, as above, or those that they need are built anew with fewer features.
	LIGHTLOOM_LONG=1 $(RUST_TESTS) --lib reference
	LIGHTLOOM_LONG=1 $(RUST_TESTS) --test invariants --test controller --test experiments
	# Clusters beside the wheel, which one process builds once.
	$(BIN)/pytest python/tests -n auto --dist loadfile -m long
	$(BIN)/lightloom reproduce all --quick -o $(OUT)/reproduce

wheel: $(STAMPS)/venv ## Build the wheel for any Linux since glibc 2.28 into dist/
	$(BIN)/python -m pip install -q -c constraints.txt ziglang
	bash scripts/wheel.sh $(BIN)/python dist

mutants: $(STAMPS)/system ## Change the mechanisms here and there (since SINCE=main), and see whether a test notices
	bash scripts/mutants.sh --since $(or $(SINCE),main)

fuzz: $(STAMPS)/develop ## Mangle what Python reads for some minutes; fuzz/README.md has what Rust reads
	LIGHTLOOM_FUZZ=2000 $(BIN)/pytest -s python/tests/test_fuzz.py

lint: $(STAMPS)/develop ## Check format, lints, types and who imports whom
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check python validation scripts benches
	$(BIN)/ruff format --check python validation scripts benches
	$(BIN)/mypy python/lightloom
	$(BIN)/lint-imports --no-cache

bench: $(STAMPS)/develop ## Measure speed and memory; records JSON in benches/runs
	$(BIN)/maturin develop --release
	$(BIN)/python benches/record.py

docs: $(STAMPS)/docs ## Build the documentation into site/; runs the examples for its gallery
	$(BIN)/mkdocs build --strict
	$(BIN)/python scripts/doc_links.py
	rm -rf site/rust && cp -r "$${CARGO_TARGET_DIR:-target}/doc" site/rust
	@echo "site/index.html"

clean: ## Remove everything that the tasks made
	rm -rf .venv .make target site dist $(OUT) results

# The machine: Python, a C compiler, Rust.
$(STAMPS)/system: scripts/system.sh
	@mkdir -p $(STAMPS)
	bash scripts/system.sh
	bash scripts/system.sh --testbed
	@touch $@

$(STAMPS)/venv: $(STAMPS)/system pyproject.toml constraints.txt
	"$$(bash scripts/system.sh --python)" -m venv --clear .venv
	$(BIN)/python -m pip install -q -c constraints.txt maturin
	@rm -f $(STAMPS)/develop $(STAMPS)/docs
	@touch $@

# The package in the virtual environment. Its Rust part has the profile of the tests, so that both
# share what is compiled; the wheel and the benches have link-time optimisation.
$(STAMPS)/develop: $(STAMPS)/venv $(RUST)
	PIP_CONSTRAINT="$(CURDIR)/constraints.txt" $(BIN)/maturin develop --extras dev
	@touch $@

$(STAMPS)/docs: $(STAMPS)/develop
	PIP_CONSTRAINT="$(CURDIR)/constraints.txt" $(BIN)/maturin develop --extras dev,docs
	@touch $@
