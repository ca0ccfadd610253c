# All that a developer runs by hand. `make` alone lists it.

.DEFAULT_GOAL := help
.PHONY: help run web dev check test check-engines check-clients check-agents check-hostile bench bench-web clean

# WEB=0 does without the web page, and so without Node.
WEB ?= 1

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 23

run: $(if $(filter 0,$(WEB)),,web) ## build a release and serve on http://127.0.0.1:8080 with the data in ./data
	cargo run --release --locked -- serve

web: ## build the web page, which a release carries within itself
	@scripts/build-web

dev: ## serve a debug build that logs all it does
	cargo run --locked -- serve --log-level debug

# scripts/run-stages lists the stages. `exec`, so that a signal to make reaches it and not only the shell around it.
check: ## the page's types, tests and sizes; formatting, lints and documentation of the hub
	@exec scripts/run-stages check

# Tests wait more than they compute: for the disk, for a database, for a hub in another process.
ifndef RUST_TEST_THREADS
export RUST_TEST_THREADS := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))))
endif

# Python runs the stages, the first of which installs what else is missing.
test: ## install missing tools, check, then all tests on SQLite and on PostgreSQL, the contracts, libraries of others, attachments in a bucket, the web page in a browser, and fuzz the API
	@command -v python3 >/dev/null || scripts/install-test-tools
	@exec scripts/run-stages test

check-engines: ## compare SQLite and PostgreSQL with random operations, longer than the tests do: some five minutes
	@scripts/check-engines

# With the build options of `make test`, so that both share one build.
check-clients: ## test the hub with MCP clients in Go, Java and old Python (downloads libraries, leaves out missing languages)
	cargo build --workspace --locked --features stoa/s3 --bin stoa
	@exec scripts/check-clients

check-agents: ## have the hub start Claude Code, Codex and Gemini CLI with a model of our own (downloads 900 MB)
	cargo build --workspace --locked --features stoa/s3 --bin stoa
	@exec scripts/check-agents

check-hostile: ## play attacks of hostile clients against a release with 1 GiB of memory, on SQLite and PostgreSQL: some fifteen minutes
	cargo build --release --locked --package stoa --package stoa-bench
	@scripts/check-hostile

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
	target/release/stoa-bench mixed --webhooks

bench-web: web ## measure the web page of a release in a browser: some three minutes on a quiet machine
	cargo build --release --locked --bin stoa
	scripts/bench-web target/release/stoa

clean: ## remove what was built and the installed test tools, not ./data
	cargo clean
	rm -rf .cache tests/interop/node_modules web/node_modules web/dist
