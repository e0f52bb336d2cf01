# Every target sets up what it needs first, may be run at any time, and may be run again.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
ROWS ?= 1928176
TRIALS ?= 3
SECONDS_EACH ?= 60

.PHONY: build setup demo test test-long test-asan test-tsan fuzz bench package package-test clean help

build: setup  ## Build build/release/weir (the default).
	@tools/build.sh release

setup:  ## Install system packages, the pinned wheels and sources, where missing.
	@tools/setup.sh

demo: setup  ## Do the main job on a private PostgreSQL: seed, export, read back, compare.
	@tools/build.sh release weir
	@build/release/weir demo

test: setup  ## Build and run all tests, small counts, and the small folders under ASan and UBSan too.
	@tools/test.sh asan release

test-long: setup  ## Run the tests with full counts (WEIR_LONG=1); the log stays in build/release.
	@WEIR_LONG=1 tools/test.sh release

test-asan: setup  ## Build and test the folders without Arrow under ASan and UBSan.
	@tools/test.sh asan

test-tsan: setup  ## Build and test the folders without Arrow under TSan.
	@tools/test.sh tsan

fuzz:  ## Run each fuzzer for SECONDS_EACH=60 seconds from its corpus (clang).
	@tools/setup.sh fuzz
	@tools/fuzz.sh $(SECONDS_EACH)

bench: build  ## Measure extraction side by side with raw COPY: ROWS=1928176 TRIALS=3.
	@build/release/weir bench extract --rows $(ROWS) --trials $(TRIALS) --out build/bench/extract

package: build  ## Make a relocatable tarball and a .deb in build/.
	@tools/setup.sh package
	@tools/package.sh

package-test: package  ## Try both packages in clean Debian 12 folders (root).
	@tools/package_test.sh

clean:  ## Remove everything built; the venv and build/third_party stay.
	@find build -mindepth 1 -maxdepth 1 ! -name venv ! -name third_party ! -name 'setup.*' -exec rm -rf {} + 2>/dev/null || true

help:  ## Print this.
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
