"""Files from the same process, and one change of the shop at a time."""

import mimetypes
import threading
from pathlib import Path

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import FileResponse, HttpResponseNotFound
from django.utils._os import safe_join
from whitenoise.middleware import WhiteNoiseMiddleware

from shopsite import clock

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_changing = threading.Lock()


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise; its files never change within a clone's life, so browsers may keep them for good."""

    def immutable_file_test(self, path, url):
        return True


def media_files(get_response):
    """Serves uploaded and seeded pictures before a session, user or transaction is begun for them."""

    def middleware(request):
        path = request.path_info
        if request.method not in _SAFE or not path.startswith(settings.MEDIA_URL):
            return get_response(request)
        try:
            target = Path(safe_join(settings.MEDIA_ROOT, path[len(settings.MEDIA_URL) :]))
            content = target.open("rb")
        except (OSError, SuspiciousFileOperation):
            return HttpResponseNotFound()
        kind, _ = mimetypes.guess_type(target)
        response = FileResponse(content, content_type=kind or "application/octet-stream")
        # Django never gives a new upload a name that is taken, so a name's content stays.
        response["Cache-Control"] = "public, max-age=31536000, immutable"
        return response

    return middleware


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
