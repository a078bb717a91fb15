"""The table of engines, and the choice among them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from webserv.errors import MissingPrerequisite, UnknownName
from webserv.server.engines.interface import Engine
from webserv.server.host import choose_engine, probe_native, probe_process

ENGINES = {
    "native": "webserv.server.engines.native:NativeEngine",
    "process": "webserv.server.engines.process:ProcessEngine",
}


def load_engine(name: str = "auto") -> Engine[Any]:
    """Opens an engine by name; ``auto`` takes the best that this host has proved to run.

    Must be called in a running event loop.

    Raises:
        UnknownName: There is no such engine.
        MissingPrerequisite: The host cannot run it.
    """
    if name not in (*ENGINES, "auto"):
        raise UnknownName("engine", name, [*ENGINES, "auto"])
    probes = {"auto": choose_engine, "native": probe_native, "process": probe_process}
    capability = probes[name]()
    name = capability.engine
    if not capability.works:
        mend = next((check.mend for check in capability.checks if check.mend), "Run 'webserv doctor'.")
        raise MissingPrerequisite(f"Engine '{name}' does not work here: {capability.reason}.", hint=mend)
    module, _, attribute = ENGINES[name].partition(":")
    engine: Engine[Any] = getattr(import_module(module), attribute)()
    return engine
