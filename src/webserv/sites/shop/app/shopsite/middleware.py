"""Static files from the same process, and one change of the shop at a time."""

import threading

from whitenoise.middleware import WhiteNoiseMiddleware

from shopsite import clock

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_changing = threading.Lock()


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise; its files never change within a clone's life, so browsers may keep them for good."""

    def immutable_file_test(self, path, url):
        return True


def one_change_at_a_time(get_response):
    """Serialises requests that may change something, and moves the site's clock with each.

    A clone has one process with a few threads. SQLite refuses a transaction that wants to write after another
    one has written since it began; with one writer at a time that cannot happen, and times follow request order.
    """

    def middleware(request):
        if request.method in _SAFE:
            return get_response(request)
        with _changing:
            clock.advance()
            return get_response(request)

    return middleware
