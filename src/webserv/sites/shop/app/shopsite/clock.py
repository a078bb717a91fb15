"""The site's own time: it stands still and moves one second with each request that may change something.

Episodes must repeat byte for byte, so no page may show the wall clock. `install` replaces `django.utils.timezone.now`;
it runs at the top of the settings, before any module can bind the original. Cookies, sockets and logs keep real time.
"""

import threading
from datetime import UTC, datetime, timedelta

from django.utils import timezone

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
"""Every clone's first moment."""

_lock = threading.Lock()
_time = {"now": START}


def now() -> datetime:
    """Stands in for `django.utils.timezone.now`."""
    return _time["now"]


def advance(seconds: float = 1.0) -> None:
    """Moves the site's time forward."""
    with _lock:
        _time["now"] += timedelta(seconds=seconds)


def set_to(moment: datetime) -> None:
    """Sets the site's time; the seed uses it to date what it makes."""
    with _lock:
        _time["now"] = moment


def install() -> None:
    """Makes Django read this clock."""
    timezone.now = now
