PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# spaCy loads spacy-transformers into every pipeline where it is installed, which takes
# seconds each time. So its tests have an environment of their own, on top of the other.
UPPER := .venv-transformers
PAGES := README.md $(wildcard docs/*.md docs/*/*.md)

.DEFAULT_GOAL := help
.PHONY: run test test-slow test-matrix soak fuzz browser lint format pictures docs site help

run: $(READY)  ## Find who is who in a sample text and draw it (output/sample.html)
	$(BIN)/python -m refreader_spacy sample -o output

test: export OMP_NUM_THREADS = 1
test: lint browser $(UPPER)/.ready  ## Lint, then run all tests but the slow ones
	$(BIN)/python -m pytest -n 2 --dist loadgroup
	$(UPPER)/bin/python -m pytest -n 2 -k transformer

test-slow: export OMP_NUM_THREADS = 1
test-slow: $(UPPER)/.ready  ## Run the tests that train for longer, and property tests 20 times as long
	$(UPPER)/bin/python -m pytest -m slow
	$(UPPER)/bin/python -m pytest -n 2 -m hypothesis --examples-factor 20

test-matrix: export OMP_NUM_THREADS = 1
test-matrix: $(READY)  ## Install the sdist on each Python and spaCy that is supported, and read a text (UNIT=1: unit tests)
	.ci/matrix

soak: export SOAK = 20
soak: export OMP_NUM_THREADS = 1
soak: $(READY)  ## Kill, fill and run on Ray, 20 times as often; takes hours
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[ray]"
	$(BIN)/python -m pytest tests/faults --ignore-glob '*/test_fuzz*'

# The compiled reader is built a second time, with all memory accesses checked. Python
# itself isn't, so the sanitizer must be there before it, and so must be the C++ library:
# the sanitizer ends a process in which an exception is thrown that it didn't see loaded.
FUZZ ?= 5000
CHECKED := $(CURDIR)/output/sanitized
fuzz: export OMP_NUM_THREADS = 1
fuzz: $(READY)  ## Feed changed files, states and models to everything (FUZZ=100000: inputs of each kind)
	rm -rf $(CHECKED)
	SANITIZE=1 $(BIN)/python setup.py --quiet build --build-base $(CHECKED) --build-lib $(CHECKED)/lib
	FUZZ=$(FUZZ) FUZZ_LAST=$(CHECKED)/last-input SANITIZED=$(CHECKED) \
		PYTHONPATH=$(CHECKED)/lib PYTHONSAFEPATH=1 ASAN_OPTIONS=detect_leaks=0:log_path=$(CHECKED)/report \
		LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libstdc++.so.6)" \
		$(BIN)/python -m pytest -n 2 --durations 0 tests/faults/test_fuzz.py tests/faults/test_fuzz_states.py; \
		failed=$$?; cat $(CHECKED)/last-input-counts; exit $$failed

lint: $(READY)  ## Check format, code, types and who imports whom
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## Put the code into shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Where it can't be installed, the page's tests in it are skipped, and say so.
browser:  ## Install the browser for the page's tests, where apt may
	@command -v chromedriver >/dev/null || { \
		apt-get update -qq && apt-get install -y -qq chromium chromium-driver; \
	} >/dev/null 2>&1 || echo "No browser could be installed: the page's tests in it will be skipped."

pictures: $(READY)  ## Draw the README's pictures anew
	$(BIN)/python -m refreader_spacy sample -o docs
	$(BIN)/python -m benchmarks.page --picture docs/page.png

# Printed results, tables and the notebook's outputs come from running the code.
docs: $(READY)  ## Renew what is generated in README and docs/, and build the site (output/site)
	PYTHONPATH=docs:. $(BIN)/cog -r $(PAGES)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -p no:cacheprovider --update-examples tests/integration/test_docs.py
	OMP_NUM_THREADS=1 $(BIN)/python -m nbconvert --to notebook --execute --ExecutePreprocessor.record_timing=False --inplace docs/walkthrough.ipynb
	$(MAKE) site

site: $(READY)  ## Build the documentation; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

help:  ## Show this list
	@sed -nE 's/^([a-z-]+):.*  ## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

# Everything above needs this once; it comes again when what it installs changes.
KERNEL := setup.py $(wildcard refreader_spacy/reader/kernels/*.h refreader_spacy/reader/kernels/*.pyx)
$(READY): pyproject.toml constraints.txt $(KERNEL)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

$(UPPER)/.ready: $(READY)
	$(PYTHON) -m venv $(UPPER)
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> "$$($(UPPER)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/lower.pth"
	$(UPPER)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[transformers]"
	touch $@
