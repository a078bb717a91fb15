"""WebServ: a real browser and an own copy of the real web applications for every rollout.

Where to begin reading: `webserv/env.py` (reset, step, close), then `webserv/server/world.py` (what an episode owns on
the server side), then `webserv/browser/session.py` (what it owns on the browser side). `docs/design.md` has the why.

The names below are the public interface; they are loaded on first use, so that importing `webserv` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "EnvHost": "webserv.env_host",
    "EnvOptions": "webserv.env",
    "WebEnv": "webserv.env",
    "Observation": "webserv.types",
    "StepResult": "webserv.types",
    "Failure": "webserv.types",
    "Score": "webserv.types",
    "Task": "webserv.tasks.task",
    "load_benchmark": "webserv.tasks.registry",
    "list_benchmarks": "webserv.tasks.registry",
    "UserError": "webserv.errors",
    "EnvFailure": "webserv.errors",
}

__all__ = [
    "EnvFailure",
    "EnvHost",
    "EnvOptions",
    "Failure",
    "Observation",
    "Score",
    "StepResult",
    "Task",
    "UserError",
    "WebEnv",
    "__version__",
    "list_benchmarks",
    "load_benchmark",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'webserv' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
