# weir: make build | wheel | demo | test | lint | bench | fuzz | fuzz-tokenizers | tables

SHELL := /bin/bash
export CGO_ENABLED := 0
export GOFLAGS := -buildvcs=false
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
PYTHON ?= python3
# The interpreter of the tests' environment, which is installed on first use, outside the tree.
TESTS_PYTHON = $$($(PYTHON) tests/environment.py)

.PHONY: build wheel demo test test-go test-python lint bench bench-quick fuzz fuzz-tokenizers tables cross clean

build:
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/weir ./cmd/weir

# wheel makes the Python package, with the program in it, in DIST; GOOS and GOARCH make that of another system.
DIST ?= dist
WHEEL_OS = $(or $(GOOS),$(shell go env GOOS))
WHEEL_ARCH = $(or $(GOARCH),$(shell go env GOARCH))
PLATFORM_linux_amd64 = manylinux2014_x86_64
PLATFORM_linux_arm64 = manylinux2014_aarch64
PLATFORM_darwin_arm64 = macosx_12_0_arm64
PLATFORM = $(PLATFORM_$(WHEEL_OS)_$(WHEEL_ARCH))
wheel:
	@test -n '$(PLATFORM)' || { echo 'no wheels for $(WHEEL_OS)/$(WHEEL_ARCH)'; exit 1; }
	rm -rf $(DIST)/stage && mkdir -p $(DIST)/stage/weir/bin
	cp python/pyproject.toml python/README.md LICENSE $(DIST)/stage && cp python/weir/*.py python/weir/py.typed $(DIST)/stage/weir
	GOOS=$(WHEEL_OS) GOARCH=$(WHEEL_ARCH) go build -trimpath -ldflags '$(LDFLAGS)' -o $(DIST)/stage/weir/bin/weir ./cmd/weir
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps -w $(DIST) \
	  --config-settings=--build-option=--plat-name=$(PLATFORM) $(DIST)/stage
	rm -rf $(DIST)/stage

# demo makes raw data, prepares it inside a small memory limit, verifies it and shows the report.
demo: build
	examples/demo.sh

test: build test-go test-python

# The race detector needs cgo for the tests only; the product is built without.
test-go:
	CGO_ENABLED=$(shell command -v gcc >/dev/null && echo 1 || echo 0) \
	  go test $(shell command -v gcc >/dev/null && echo -race) -timeout 20m ./...

test-python: build
	python=$(TESTS_PYTHON) && cd tests && WEIR_BIN=$(CURDIR)/bin/weir $$python -m pytest

lint:
	@test -z "$$(gofmt -l cmd internal)" || { gofmt -l cmd internal; echo 'run gofmt -w on these'; exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	python=$(TESTS_PYTHON) && $$python -m ruff check tests bench python examples

# BENCH=jsonl,csv takes only these parts of the benchmark; BENCHFLAGS are any others of bench/run.py, as --big.
bench: build
	$(PYTHON) bench/run.py $(if $(BENCH),--parts $(BENCH)) $(BENCHFLAGS)

# bench-quick is a smoke test of the benchmark: small data, one round, docs stay as they are.
bench-quick: build
	$(PYTHON) bench/run.py --quick --rounds 1 $(if $(BENCH),--parts $(BENCH)) $(BENCHFLAGS)

# fuzz runs every fuzz target for FUZZTIME.
FUZZTIME ?= 60s
fuzz:
	@for p in $$(grep -rl '^func Fuzz' --include=*_test.go internal | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -rhoE '^func Fuzz\w+' $$p/*_test.go | cut -c6-); do \
	    echo "$$p $$f"; go test ./$$p -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x || exit 1; \
	  done; done

# fuzz-tokenizers compares ids with the tokenizers library for SECONDS, over all TOKENIZERS that can be had or those named.
SECONDS ?= 300
fuzz-tokenizers: build
	python=$(TESTS_PYTHON) && cd tests && WEIR_BIN=$(CURDIR)/bin/weir $$python tokenizer_fuzz.py --seconds $(SECONDS) $(TOKENIZERS)

# tables asks the tokenizers library again what the normalizers have to know of Unicode.
tables:
	python=$(TESTS_PYTHON) && $$python internal/tokenizer/normal/tables.py

# cross shows that it builds where we cannot run it.
cross:
	GOOS=linux GOARCH=arm64 go build -o /dev/null ./cmd/weir
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/weir

clean:
	rm -rf bin demo-data dist
