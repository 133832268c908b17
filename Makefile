# SPDX-License-Identifier: Apache-2.0
# FabricVP: everything a person does starts here. `make` alone explains.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-deep fuzz bench check format docs wheel clean linux

JOBS ?= $(shell nproc)
MINUTES ?= 30
BUILD := build/release

help:  ## this text
	@echo "FabricVP: a SystemC/TLM-2.0 platform that boots unmodified RISC-V firmware"
	@echo
	@echo "usage: make TARGET"
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name text; do printf '  %-10s %s\n' "$$name" "$$text"; done
	@echo
	@echo "  Each target does its own set-up: missing Debian packages (as root or with sudo) and the"
	@echo "  virtual environment .venv. Everything that is made lies in build/ and .venv/."
	@echo
	@echo "variables:"
	@echo "  JOBS=N              parallel jobs (default: all processors)"
	@echo "  PYTHON=PATH         the Python (at least 3.11) that .venv is made with"
	@echo "  PARTS=\"NAME ...\"    of test-deep: only these parts (make test-deep PARTS=list names them)"
	@echo "  ONLY=\"NAME ...\"     of bench: only these measurements"
	@echo "  MINUTES=N SEED=N    of fuzz: how long in all (default: 30), and the first seed (default: random)"
	@echo
	@echo "afterwards:"
	@echo "  .venv/bin/fabricvp run configs/uboot.yaml    the machine's console on this terminal"
	@echo "  .venv/bin/fabricvp --help                    everything else"

setup:  ## install what is missing to build and test, and make .venv
	@scripts/setup.sh build test

build:  ## build the release: C++ executable, Python module, firmware images; leaves .venv/bin/fabricvp
	@scripts/setup.sh build
	@scripts/build.sh $(JOBS)

demo:  ## build, then boot OpenSBI, U-Boot, and two nodes of four GPUs with everything at work; leaves pages and traces
	@scripts/setup.sh build
	@scripts/build.sh $(JOBS)
	@.venv/bin/python scripts/demo.py

test:  ## format, lint, then build and run all quick tests: units, firmware, system, differential, fuzz (minutes)
	@scripts/setup.sh build test check
	@scripts/check.sh format lint architecture
	@scripts/build.sh $(JOBS) -DFABRICVP_TESTS=ON
	@scripts/test.sh $(JOBS)

test-deep:  ## long tests: sanitizers, SystemC 3.0, long fuzz and differential, bare Debian 12 (an hour or more)
	@scripts/setup.sh build test deep
	@scripts/test_deep.sh $(PARTS)

fuzz:  ## all fuzzers under address and undefined-behaviour sanitizers, for MINUTES, from random seeds
	@scripts/setup.sh build test
	@scripts/build.sh $(JOBS)
	@cmake --preset sanitize -DFABRICVP_TESTS=ON >/dev/null
	@cmake --build build/sanitize --parallel $(JOBS) --target fuzzers
	@scripts/fuzz.sh build/sanitize/bin $(MINUTES) $(SEED)

bench:  ## measure the speed of the simulator beside QEMU's; writes build/bench.json
	@scripts/setup.sh build test bench
	@scripts/build.sh $(JOBS) -DFABRICVP_TESTS=ON
	@.venv/bin/python tests/bench/bench.py $(ONLY)

linux:  ## fetch Debian's riscv64 kernel and make a busybox initramfs, into build/linux (LINUX_SUITE=NAME)
	@scripts/setup.sh build linux
	@scripts/linux.sh

check:  ## before a commit: format, lint, types, architecture, unit tests of what changed (a minute after a build)
	@scripts/setup.sh build test check
	@scripts/check.sh

format:  ## format C, C++ and Python sources
	@scripts/setup.sh build check
	@scripts/check.sh --fix format

docs:  ## build the documentation's site, which works from files: build/site/index.html
	@scripts/setup.sh build docs
	@scripts/build.sh $(JOBS)
	@.venv/bin/python scripts/docs/build.py

wheel:  ## build/wheel/*.whl: the package with all that it needs to run inside, for pip on machines without compilers
	@scripts/setup.sh build wheel
	@scripts/wheel.sh $(JOBS)

clean:  ## remove what was built (keeps .venv and what make linux fetched)
	@find build -mindepth 1 -maxdepth 1 ! -name linux -exec rm -rf {} + 2>/dev/null || true
