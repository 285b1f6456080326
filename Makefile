PYTHON ?= python3
PROFILE ?= paper
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LAB := $(VENV)/.lab
export PYTHONOPTIMIZE =  # the book's pages of the code are made of docstrings, tests of assertions
export PYTHONDONTWRITEBYTECODE =  # where it is set, each of some hundred processes would compile the same modules
export PYTHONSAFEPATH =  # scripts import what is beside them
export PYTHONWARNINGS =  # where warnings are errors, those of dependencies are too
TORCH := $(shell grep '^torch==' constraints.txt)
NBVAL := --nbval-current-env --nbval-cell-timeout=300 -p no:cacheprovider
LABCONFIG := $(VENV)/etc/jupyter/labconfig
LABOPTIONS := --notebook-dir=notebooks --KernelManager.transport=ipc  # kernels take nothing from a port
# Their sockets, whose names have at most some hundred letters, are in a folder of their own, however long HOME is.

define LINT
$(BIN)/ruff check src tests benchmarks book data .github
$(BIN)/ruff format --check src tests benchmarks book data .github
endef

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 12

install: $(READY)  ## make .venv with the pinned versions

book: $(READY)  ## execute the notebooks and build the book (PROFILE=paper, laptop or smoke)
	$(BIN)/python book/execute.py --profile $(PROFILE) --then $(BIN)/jupyter-book build . --all -n -W --keep-going
	@echo "open _build/html/index.html"

# The singlehtml builder takes what the book's build has read; $(1) is the folder of that build.
define print
$(BIN)/python tests/chromium.py && \
$(BIN)/jupyter-book build . --path-output $(1) --builder custom --custom-builder singlehtml -n -W --keep-going && \
PYTHONPATH=tests $(BIN)/python book/pdf.py $(1)/_build/singlehtml $(1)/_build/html/positional-or-semantic.pdf
endef

pdf: $(READY)  ## the whole book as one PDF, linked from its landing page; builds the book first if there is none
	test -f _build/html/book/index.html || $(MAKE) book
	$(call print,.)
	@echo "open _build/html/positional-or-semantic.pdf"

# Two tests, or notebooks, run at a time: one thread each.
book check reference test: export OMP_NUM_THREADS = 1
book check reference test: export NUMBA_NUM_THREADS = 1
book check reference test: export MPLBACKEND = Agg

# jupytext sorts the names of the kernel, JupyterLab does not.
AS_LAB = import pathlib, sys; a, b = b"  display_name: Python 3 (ipykernel)\n  language: python\n", b"  name: python3\n"; \
    [path.write_bytes(path.read_bytes().replace(a + b, b + a)) for path in map(pathlib.Path, sys.argv[1:])]

format: $(READY)  ## give code and notebooks the form that `make check` asks for
	$(BIN)/ruff format --quiet src tests benchmarks book data .github
	PATH="$(CURDIR)/$(BIN):$$PATH" jupytext --quiet --pipe "ruff format --quiet --line-length 100 -" notebooks/*.md
	@$(BIN)/python -c '$(AS_LAB)' notebooks/*.md

check: $(READY)  ## style, types, fast tests: for work in between
	$(LINT)
	$(MAKE) -j 2 --no-print-directory check-types check-tests

check-types:  # of what the package computes with, all; of all scripts, the calls
	$(BIN)/basedpyright
	$(BIN)/basedpyright --project tests/calls.json --pythonpath none

check-tests:
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "(fast or not slow) and not alone" --ignore=tests/reference

# Tests of the built book, by one process: its browser is another one.
PAGES := $(addprefix tests/book/test_,book.py dark.py explorer.py pages.py pdf.py reading.py readout.py)

TOGETHER = $(MAKE) -j 2 $(if $(filter output-sync,$(.FEATURES)),-O) --no-print-directory

# Two chains side by side, of about the same length: notebooks, then the book made of them and its pages; types, then the
# tests that need no book. Then what may have nothing beside it.
test: $(READY)  ## everything that CI runs: style, types, notebooks, smoke book, tests
	$(LINT)
	$(TOGETHER) test-book test-all
	$(BIN)/python -m pytest -m alone tests/book/test_sweep.py

test-types: check-types  # and a browser, which the notebooks beside it need not wait for
	$(BIN)/python tests/chromium.py

# File by file in the order of their names: two that start together compile different functions, the longest is not last.
BY_NAME := -n 2 --dist loadfile --no-loadscope-reorder

test-notebooks:  # nbval executes each notebook once, against its reference; the book is built from that
	$(BIN)/python -m pytest $(BY_NAME) $(NBVAL) tests/reference

test-all: test-types
	$(BIN)/python -m pytest $(BY_NAME) -m "not alone" --ignore=tests/reference $(PAGES:%=--ignore=%)

test-book: export ATTENTION_PHASES_STORED = $(CURDIR)/tests/reference/results
test-book: test-notebooks
	$(BIN)/python book/execute.py --profile smoke && rm -rf _build/smoke
	$(BIN)/jupyter-book build . --path-output _build/smoke --all -n -W --keep-going
	$(call print,_build/smoke)
	BOOK=_build/smoke/_build/html $(BIN)/python -m pytest $(PAGES)

metadata: $(READY)  ## write what describes the stored results to others: Data Package; README's picture
	$(BIN)/python data/metadata.py
	PYTHONPATH=tests:book/_ext $(BIN)/python .github/picture.py

validate: PROFILE := smoke
validate: $(READY)  ## execute one notebook, then run it again and compare (NAME=fig02_slice)
	$(BIN)/python book/execute.py $(or $(NAME),$(error say which: make validate NAME=fig02_slice)) --profile $(PROFILE) --keep
	$(BIN)/python -m pytest --nbval $(NBVAL) --no-header -q _build/executed/$(PROFILE)/$(NAME).ipynb

reference: $(READY)  ## keep what notebooks and pages say now as what `make test` expects; NAME=... for one, or for records
	PYTHONPATH=book $(BIN)/python tests/reference/reference.py $(NAME)

notebooks: $(READY)  ## write the .ipynb beside each text; of an edited pair the newer side counts
	$(BIN)/jupytext --quiet --sync notebooks/*.md

install-lab: $(LAB)  ## the same and JupyterLab

lab: $(LAB) notebooks  ## open the notebooks in JupyterLab, each paired with its text
	@folder=$$(mktemp -d /tmp/lab-XXXXXX) && trap 'rm -rf "$$folder"' EXIT INT && \
	    JUPYTER_RUNTIME_DIR=$$folder $(BIN)/jupyter lab $(LABOPTIONS) $(ARGS)

data: $(READY)  ## compute the stored results that are missing (hours; stops and goes on)
	for name in $$($(BIN)/python -c 'from attention_book.experiments import GRIDS; print(*GRIDS)'); do \
	    $(BIN)/attention-phases sweep $$name --profile paper || exit; done

verify: $(READY)  ## recompute a random sample of the stored results
	$(BIN)/attention-phases verify

clean:  ## remove what was built, but no results
	rm -rf $(VENV) _build book/_executed book/api

# On Linux pip finds PyTorch with all that an NVIDIA GPU needs, gigabytes. Without the driver of one the build for CPUs is
# asked for first, whose address uv knows. uv, which is faster, installs the rest too. pip does what uv could not, and
# what is to come from an address that somebody has named.
GPU = $(wildcard /proc/driver/nvidia)$(shell command -v nvidia-smi 2>/dev/null)$(filter-out Linux,$(shell uname -s))
NAMED = $(PIP_INDEX_URL)$(PIP_EXTRA_INDEX_URL)
PIP = $(BIN)/python -m pip install --quiet --no-compile -c constraints.txt
UV = UV_HTTP_CONNECT_TIMEOUT=5 UV_HTTP_TIMEOUT=20 UV_HTTP_RETRIES=0 $(BIN)/python -m uv pip install --quiet --no-cache \
    --python $(BIN)/python -c constraints.txt
define CPU_BUILD
@$(UV) --no-deps --torch-backend=cpu $(TORCH) 2>$(VENV)/uv.log \
    || echo "PyTorch for CPUs alone was not found: taking the build that pip finds"
endef
EXTRAS = -e '.[book,test]'

# What pip would do on one core, after everything else; some packages carry templates that are no Python.
COMPILE = $(BIN)/python -m compileall -qq -j $$(nproc 2>/dev/null || echo 2) -x '/tests?/' $(VENV)/lib || true

$(READY): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": make PYTHON=...")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments: install them, on Debian as python3-venv" >&2; exit 1; }
	@test -f $@ || rm -rf $(VENV)  # what a killed installation has left, pip cannot always mend
	$(PYTHON) -m venv $(VENV)
	@rm -f $@
	@$(PIP) uv || true
	$(if $(PIP_EXTRA_INDEX_URL)$(GPU),,$(CPU_BUILD))
	$(PIP) $(TORCH)
	@$(COMPILE) & $(if $(NAMED),false,$(UV) $(EXTRAS) 2>>$(VENV)/uv.log) || $(PIP) $(EXTRAS); failed=$$?; wait; exit $$failed
	@$(COMPILE)
	@$(BIN)/python -m pip uninstall --quiet --yes uv 2>>$(VENV)/uv.log
	@touch $@

$(LAB): $(READY) notebooks/lab_settings.json
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[lab]'
	mkdir -p $(LABCONFIG) && cp notebooks/lab_settings.json $(LABCONFIG)/default_setting_overrides.json
	@touch $@

PARTS := check-types check-tests test-types test-notebooks test-all test-book
.PHONY: help install install-lab book format check test $(PARTS) pdf reference metadata validate notebooks lab data verify clean
