# Every command does its own set-up first; a second call starts in seconds.
# ARGS is handed on: make demo ARGS="--workers 8", make test ARGS="tests/browser -k settle".
SHELL := /bin/bash
ARGS ?=

.PHONY: help setup demo test test-full lint format bench lock clean

help:
	@echo "make setup   system packages, .venv from the lock, the shop built and seeded once"
	@echo "make demo    set-up, then 32 scripted and random rollouts on 32 copies of the shop, with a report"
	@echo "make test    set-up, then format, lint, types and the whole test suite (what CI runs)"
	@echo "make test-full   the same with every instance of every task (make test: one of each template)"
	@echo "make lint    format, lint and types only"
	@echo "make format  put the code into the project's format"
	@echo "make bench   set-up, then every benchmark under bench/ (ARGS=--quick by default)"
	@echo "make lock    renew requirements/webserv.lock from pyproject.toml"
	@echo "make clean   remove .venv and the tools' caches; worlds and sites: webserv gc"

setup:
	@scripts/setup.sh

demo: setup
	@.venv/bin/webserv demo $(ARGS)

test: setup
	@scripts/test.sh $(ARGS)

test-full: setup
	@WEBSERV_TASK_INSTANCE=all scripts/test.sh $(ARGS)

lint:
	@scripts/venv.sh
	@scripts/lint.sh

format:
	@scripts/venv.sh
	@.venv/bin/ruff format .
	@.venv/bin/ruff check --fix .

bench: setup
	@scripts/bench.sh $(or $(ARGS),--quick)

lock:
	@scripts/lock.sh

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
	find src tests bench scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
