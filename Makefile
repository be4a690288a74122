# rigidc: everything below makes its own virtual environment in .venv on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

DEMO_ROBOT ?= talos
BENCH ?=
CLAIMS ?=
FUZZ ?= --count 10000
SOAK ?= --count 200 --compiled 10
STUDIES ?= all
REPORT ?=
GOLDENS := iiwa solo12
GOLDEN_ALGORITHMS := -a rnea -a crba -a aba

.PHONY: help demo test quick test-thorough mutants fuzz soak lint counts counts-write studies figures claims report bench bench-mpc docs goldens clean

help:
	@echo "make demo          install, generate and compile ABA and RNEA of $(DEMO_ROBOT), check, count, time"
	@echo "make test          style, types, import contracts and the quick tests: minutes"
	@echo "make test-thorough style, types, import contracts and all tests, and which took longest"
	@echo "make mutants       whether the quick tests catch faults put into the sources; MUTANTS=\"armature sign\" chooses"
	@echo "make fuzz          load mutants of robot files; FUZZ=\"--seed 10000 --count 100000 --jobs 2\" chooses"
	@echo "make soak          random mechanisms and algorithms against the oracle; SOAK=\"--seed 200 --count 500\" goes on"
	@echo "make counts        operation counts against opcount/baseline.json"
	@echo "make counts-write  write today's operation counts to opcount/baseline.json"
	@echo "make studies       the papers' tables, reproduced; STUDIES=\"links accuracy\" chooses"
	@echo "make figures       the papers' tables and figures in build/figures; STUDIES=\"links stems\" chooses"
	@echo "make claims        the papers' claims, with our numbers and verdicts; CLAIMS=\"pv_osimr --csv\" chooses"
	@echo "make report        one HTML page of all that, build/report.html; REPORT=--quick takes seconds"
	@echo "make bench         time against Pinocchio and CasADi, on one core; BENCH=\"iiwa -a aba\" chooses"
	@echo "make bench-mpc     beside CasADi, and Crocoddyl, acados and JAX's simulators where CROCODDYL_PYTHON, ... name them"
	@echo "make docs          the guide and the API reference as HTML in build/docs; any warning fails"
	@echo "make goldens       write the committed generated/ folders again"
	@echo "make clean         remove the virtual environment, build products and caches"

demo: $(VENV)/.installed
	@echo; echo "== $(DEMO_ROBOT): compiled C against the dense NumPy oracle"
	@$(BIN)/rigidc check $(DEMO_ROBOT) -a rnea -a aba
	@echo; echo "== operations of one call"
	@$(BIN)/rigidc count $(DEMO_ROBOT) -a rnea -a aba
	@echo; echo "== time"
	@$(BIN)/rigidc bench $(DEMO_ROBOT) -a rnea -a aba

test: lint quick

quick: $(VENV)/.testing
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not thorough"

test-thorough: lint
	$(BIN)/python -m pytest -n auto --dist loadgroup --durations=30

mutants: $(VENV)/.testing
	@$(BIN)/python tests/mutants.py $(MUTANTS)

soak: $(VENV)/.testing
	@PYTHONPATH=tests $(BIN)/python -m soak $(SOAK)

lint: $(VENV)/.testing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

fuzz: $(VENV)/.testing
	@PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

counts: $(VENV)/.installed
	@$(BIN)/python -m opcount.baseline

counts-write: $(VENV)/.installed
	@$(BIN)/python -m opcount.baseline --write

studies: $(VENV)/.installed
	@$(BIN)/rigidc study $(STUDIES)

figures: $(VENV)/.drawing
	@$(BIN)/rigidc study $(STUDIES) --figures build/figures

claims: $(VENV)/.installed
	@$(BIN)/python -m opcount.claims $(CLAIMS)

report: $(VENV)/.drawing
	@mkdir -p build
	@$(BIN)/rigidc report $(REPORT) --out build/report.html

bench: $(VENV)/.benching
	@$(BIN)/python -m opcount.bench $(BENCH) --out build/bench

bench-mpc: $(VENV)/.installed
	@$(BIN)/python -m opcount.bench.mpc $(BENCH)

docs: $(VENV)/.documenting
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --fresh-env -c .docs codegen/guide build/docs
	@echo "build/docs/index.html"

goldens: $(VENV)/.installed
	@for robot in $(GOLDENS); do \
	    $(BIN)/rigidc generate $$robot $(GOLDEN_ALGORITHMS) -o generated/$$robot --force || exit 1; \
	done

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	    || { echo "make: rigidc needs Python 3.10 or newer; name one with PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/pip
	$(PIP) install -e .
	@touch $@

$(VENV)/.testing: pyproject.toml | $(BIN)/pip
	$(PIP) install -e .[test]
	@touch $@ $(VENV)/.installed

$(VENV)/.benching: pyproject.toml | $(BIN)/pip
	$(PIP) install -e .[bench,figures]
	@touch $@ $(VENV)/.installed

$(VENV)/.drawing: pyproject.toml | $(BIN)/pip
	$(PIP) install -e .[figures]
	@touch $@ $(VENV)/.installed

$(VENV)/.documenting: pyproject.toml | $(BIN)/pip
	$(PIP) install -e .[docs]
	@touch $@ $(VENV)/.installed
