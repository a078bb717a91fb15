"""Fixtures of the server half."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from webserv.server._linux.processes import processes_of_owner


@pytest.fixture
def stray_processes() -> Callable[[str], list[int]]:
    """Processes that carry an owner's mark."""

    def find(owner: str) -> list[int]:
        return [pid for pid in processes_of_owner(owner) if pid != os.getpid()]

    return find
