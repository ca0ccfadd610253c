# All that a developer runs by hand. `make` alone lists it.

.DEFAULT_GOAL := help
.PHONY: help run web dev check test bench bench-web clean

# WEB=0 does without the web page, and so without Node.
WEB ?= 1

# A heading before each stage, with the seconds since make began.
started := $(shell date +%s)
stage = @printf '\n==> %s (%d s)\n' '$(1)' $$(($$(date +%s) - $(started)))

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

run: $(if $(filter 0,$(WEB)),,web) ## build a release and serve on http://127.0.0.1:8080 with the data in ./data
	cargo run --release --locked -- serve

web: ## build the web page, which a release carries within itself
	@scripts/build-web

dev: ## serve a debug build that logs all it does
	cargo run --locked -- serve --log-level debug

# The page first: builds of the hub take it in.
check: ## the page's types, tests and sizes; formatting, lints and documentation of the hub
	$(call stage,web page)
	scripts/build-web
	cd web && npm run --silent check && npm run --silent test && npm run --silent sizes
	$(call stage,formatting)
	cargo fmt --all --check
	$(call stage,lints)
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(call stage,documentation)
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# With all that can be built in, so that it is built once for all tests. The lints are for what a build has without asking.
tested := --workspace --locked --features stoa/s3
# Tests wait more than they compute: for the disk, for a database, for a hub in another process.
ifndef RUST_TEST_THREADS
export RUST_TEST_THREADS := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))))
endif

# `exec`, so that a signal to make reaches the script and not only the shell around it. The fuzzed binary is the one that
# `cargo test` has built: a `cargo build` would compile dependencies again, without the features that only tests ask for.
test: ## install missing tools, check, then all tests on SQLite and on PostgreSQL, the contracts, libraries of others, attachments in a bucket, the web page in a browser, and fuzz the API
	$(call stage,test tools)
	scripts/install-test-tools
	@$(MAKE) --no-print-directory check started=$(started)
	$(call stage,tests on SQLite)
	env -u STOA_TEST_DATABASE_URL cargo test $(tested)
	$(call stage,tests on PostgreSQL)
	exec scripts/with-postgres cargo test $(tested)
	$(call stage,contracts)
	scripts/check-contracts
	$(call stage,signatures of other libraries)
	exec scripts/check-signatures
	$(call stage,OAuth clients of others)
	exec scripts/check-oauth
	$(call stage,MCP clients of others)
	exec scripts/check-mcp
	$(call stage,attachments in a bucket)
	exec scripts/check-s3
	$(call stage,pages without scripts in a browser)
	exec scripts/check-pages
	$(call stage,the web page in a browser)
	exec scripts/check-web
	$(call stage,fuzzing the API)
	exec scripts/fuzz-api
	$(call stage,all tests passed)

bench: ## measure what the hub costs: some ten minutes on a quiet machine (docs/benchmarks.md says what each means)
	cargo build --release --locked --package stoa --package stoa-bench
	target/release/stoa-bench raw
	target/release/stoa-bench auth
	target/release/stoa-bench send
	target/release/stoa-bench send --sizes 10000,1000000
	target/release/stoa-bench machine
	target/release/stoa-bench mcp
	target/release/stoa-bench search
	target/release/stoa-bench fanout
	target/release/stoa-bench mixed

bench-web: web ## measure the web page of a release in a browser: some three minutes on a quiet machine
	cargo build --release --locked --bin stoa
	scripts/bench-web target/release/stoa

clean: ## remove what was built and the installed test tools, not ./data
	cargo clean
	rm -rf .cache tests/interop/node_modules web/node_modules web/dist
