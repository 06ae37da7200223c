# SPDX-License-Identifier: Apache-2.0
# Everyday commands. `make help` lists them.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SEED ?= 1
SEEDS ?= 1
SECONDS ?= 600
REPEATS ?= 3

# HOLDFAST_NO_WEB=1 builds without the dashboard, and so without Node.js and a browser.
web = $(if $(HOLDFAST_NO_WEB),OFF,ON)
test_web = $(if $(HOLDFAST_NO_WEB),,test_web)

sources = $(shell find include src tests examples bench fuzz cmake -name '*.[ch]pp' 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run tour payments test test-under-load test-upgrade simulate simulate-quorum simulate-http simulate-long simulate-compilers chaos model bench bench-build bench-redis bench-cli bench-http bench-remote bench-redlock bench-n8n bench-recipes bench-forrst bench-dashboard bench-instructions screenshots fuzz asan tsan clang tidy format format-check install deb test-packages clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | \
	  awk -F '\t' '{ printf "  make %-19s %s\n", $$1, $$2 }'

run: ## Build the program and serve locks and the dashboard on http://localhost:3009/
	@tools/install_packages program
	@$(call build,program,holdfast_bin)
	@echo 'Open http://localhost:3009/ in a browser, or try it from another shell; Ctrl-C ends the server:'
	@echo '  curl -X POST localhost:3009/v1/locks/hello/acquire'
	@echo '  curl localhost:3009/v1/locks          and http://localhost:3009/docs has every call'
	@exec build/program/holdfast serve

tour: ## Build the release and take the guided tour: several processes, one lock
	@tools/install_packages build test bench
	@$(call build,release,tour)
	build/release/examples/tour

payments: ## Pay behind four layers of protection; WITHOUT=fence (idempotency, lock, constraint) shows what it is for
	@tools/install_packages build test bench
	@$(call build,release,payments)
	build/release/examples/payments $(addprefix --without ,$(WITHOUT))

test: ## Build with assertions and run every test
	@echo 'make test builds everything and runs every test: about 15 minutes on two cores, the first time.'
	@tools/install_packages build test model packages $(test_web)
	@$(call build,dev)
	@# Tests wait more than they compute.
	ctest --preset dev --parallel $$(($(JOBS) + 2))

test-under-load: ## Run every test three times and once in random order beside two spinning processes per processor
	@tools/install_packages build test model packages $(test_web)
	@$(call build,dev)
	tests/under_load

test-upgrade: ## Let the program of BASE=commit and this one share stores under faults, SECONDS=n each; minutes
	@$(if $(BASE)$(BASE_PROGRAM),,echo 'make test-upgrade needs BASE=commit, or BASE_PROGRAM=path of a built one'; exit 64)
	@tools/install_packages build test bench
	@$(call build,release,holdfast_bin)
	old=$(or $(BASE_PROGRAM),$$(tests/upgrade/build_base $(BASE))) && \
	  tests/upgrade/run "$$old" build/release/holdfast --seconds $(if $(filter file,$(origin SECONDS)),20,$(SECONDS))

simulate: ## Replay a bad day: SEED=n, or many: SEED=n SEEDS=m
	@tools/install_packages build test bench
	@$(call build,release,simulate)
	build/release/tests/simulation/simulate --seed $(SEED) --seeds $(SEEDS) --jobs $(JOBS)

simulate-quorum: ## The same with servers that vote: SEED=n, or many: SEED=n SEEDS=m
	@tools/install_packages build test bench
	@$(call build,release,simulate)
	build/release/tests/simulation/simulate --quorum --seed $(SEED) --seeds $(SEEDS) --jobs $(JOBS)

simulate-http: ## The same with Holdfast servers and their clients: SEED=n, or many: SEED=n SEEDS=m
	@tools/install_packages build test bench
	@$(call build,release,simulate_planted)
	build/release/tests/simulation/simulate_planted --http --seed $(SEED) --seeds $(SEEDS) --jobs $(JOBS)

simulate-long: ## Run five million bad days, about 40 minutes on two cores
	@$(MAKE) --no-print-directory simulate SEED=1 SEEDS=5000000

simulate-compilers: ## Compare the traces of g++ and clang
	@tools/install_packages build test bench tidy
	@$(call build,release,simulate)
	@$(call build,clang,simulate)
	tests/simulation/same_traces_test build/release/tests/simulation/simulate \
	  build/clang/tests/simulation/simulate 1000
	tests/simulation/same_traces_test build/release/tests/simulation/simulate \
	  build/clang/tests/simulation/simulate 1000 --quorum

chaos: ## Break Redis with and without replicas, redlock, file and HTTP stores at random for SECONDS=n, 600 by default
	@tools/install_packages build test
	@$(call build,dev,chaos)
	build/dev/tests/chaos/chaos --seconds $(SECONDS) $(addprefix --store ,$(STORE))

fuzz: ## Throw what nobody would send at the parsers for SECONDS=n each, 600 by default
	@tools/install_packages build test
	@$(call build,dev,fuzz_targets)
	fuzz/run build/dev/fuzz $(SECONDS)

model: ## Check the protocol by an exhaustive search of its model
	@tools/install_packages model
	tests/model_checking/run

bench: ## Build the release and run the benchmarks
	@tools/install_packages build test bench
	@$(call build,release,benchmarks)
	bench/run build/release/bench

bench-build: ## Measure what a clean build costs, against one file that reads Asio; about an hour, REPEATS=3
	@tools/install_packages build test model packages $(test_web)
	bench/build --repeats $(REPEATS)

bench-redis: ## Build the release and run the benchmarks of the Redis store
	@tools/install_packages build test bench
	@$(call build,release,benchmarks)
	bench/run build/release/bench redis_pair redis_inflight redis_cost redis_contention \
	  redis_background

bench-cli: ## Build the release and run the benchmarks of the program
	@tools/install_packages build test bench
	@$(call build,release,benchmarks)
	bench/run build/release/bench cli

bench-http: ## Build the release and run the benchmarks of the server
	@tools/install_packages build test bench bench_http
	@$(call build,release,benchmarks)
	bench/run build/release/bench http

bench-remote: ## Build the release and count needless losses on http:, redis: and redlock:, two minutes
	@tools/install_packages build test bench
	@$(call build,release,bench_remote bench_survival holdfast_bin)
	bench/run build/release/bench remote survival

bench-redlock: ## Build the release and run the benchmarks of redlock: beside redlock-js
	@tools/install_packages build test bench
	@command -v npm >/dev/null || tools/install_packages bench_redlock
	@$(call build,release,benchmarks)
	@cd bench/redlock_js && npm install --silent --no-audit --no-fund --no-package-lock
	bench/run build/release/bench redlock

bench-n8n: ## Build the release and run the benchmarks of rate limits and of locks for n8n
	@tools/install_packages build test bench
	@$(call build,release,benchmarks)
	bench/run build/release/bench n8n

bench-recipes: ## Build the release and run the benchmarks of idempotency and of the guard
	@tools/install_packages build test bench bench_http
	@$(call build,release,benchmarks)
	bench/run build/release/bench recipes guard

bench-dashboard: ## Build the release and run the benchmarks of the dashboard, about 12 minutes
	@tools/install_packages build test bench test_web
	@$(call build,release,benchmarks)
	@cd tests/browser && npm ci --silent --no-audit --no-fund
	bench/run build/release/bench streams page

bench-instructions: ## Count instructions and allocations per operation; SAVE=FILE, COMPARE=FILE
	@tools/install_packages build test bench bench_instructions
	@$(call build,release,bench_instructions holdfast_bin)
	bench/instructions build/release $(addprefix --save ,$(SAVE)) $(addprefix --compare ,$(COMPARE))

screenshots: ## Take the pictures of the dashboard in docs/images anew
	@tools/install_packages build test bench test_web
	@$(call build,release,holdfast_bin)
	@cd tests/browser && npm ci --silent --no-audit --no-fund
	HOLDFAST_BINARY=build/release/holdfast node tests/browser/screenshots.mjs docs/images

bench-forrst: ## Build the release and run the benchmarks of the Forrst server
	@tools/install_packages build test bench
	@$(call build,release,benchmarks)
	bench/run build/release/bench forrst

asan: ## Run every test under the address and undefined-behaviour sanitizers
	@tools/install_packages build test model packages $(test_web)
	@$(call build,asan)
	ctest --preset asan --parallel $(JOBS)

tsan: ## Run every test under the thread sanitizer
	@tools/install_packages build test model packages $(test_web)
	@$(call build,tsan)
	ctest --preset tsan --parallel $(JOBS)

clang: ## Build and test with clang
	@tools/install_packages build test model packages tidy $(test_web)
	@$(call build,clang)
	ctest --preset clang --parallel $(JOBS)

tidy: ## Lint with clang-tidy
	@tools/install_packages build test tidy
	@$(call build,clang)
	run-clang-tidy-19 -quiet -j $(JOBS) -p build/clang '^$(CURDIR)/(src|tests|examples|bench)/'

format: ## Format the C++ sources in place
	@tools/install_packages tidy
	@echo $(sources) | xargs -r clang-format-19 -i

format-check: ## Fail if a C++ source is not formatted
	@tools/install_packages tidy
	@echo $(sources) | xargs -r clang-format-19 --dry-run --Werror

install: ## Build the program and the library, and install both into PREFIX
	@tools/install_packages program
	@$(call build,program,holdfast holdfast_bin holdfast_manual)
	cmake --install build/program --prefix $(PREFIX) --strip

deb: ## Build the Debian packages holdfast and libholdfast-dev into build/packages
	@tools/install_packages program packages
	@$(call build,program,holdfast holdfast_bin holdfast_manual)
	tools/build_packages build/program build/packages

test-packages: deb ## Try the packages and the Containerfile on fresh Debian systems; needs root, about 20 minutes
	@tools/install_packages test_packages
	tests/packaging/check_debs build/packages
	tests/packaging/in_fresh_systems build/packages

clean: ## Remove everything that was built
	rm -rf build

# $(call build,PRESET[,TARGET]): configure once, then let the build itself notice changes. The dashboard
# is a part of it unless somebody wants to do without.
define build
set -e; \
$(if $(HOLDFAST_NO_WEB),,command -v npm >/dev/null || tools/install_packages web;) \
if [ ! -f build/$(1)/build.ninja ] || ! grep -qx 'HOLDFAST_WEB:BOOL=$(web)' build/$(1)/CMakeCache.txt; then \
  cmake --preset $(1) -DHOLDFAST_WEB=$(web); \
fi; \
cmake --build --preset $(1) --parallel $(JOBS) $(if $(2),--target $(2))
endef
