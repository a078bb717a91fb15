"""What the zygote needs to know about this application: load, warm, freeze, adopt (see `site.yaml`).

The parent imports everything, answers real requests on the read-only snapshot and forks; each child is a clone.
"""

import io
import os
import random
import sys
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shopsite.settings")

SESSION_COOKIES = {
    "staff": "sessionid=stafflogin0000000000000000000000",
    "customer": "sessionid=customerlogin0000000000000000000",
}
WARM_PATHS = (
    ("", "/"),
    ("", "/catalogue/"),
    ("", "/search/?q=lamp"),
    ("", "/accounts/login/"),
    ("customer", "/"),
    ("customer", "/basket/"),
    ("customer", "/accounts/orders/"),
    ("customer", "/accounts/addresses/"),
    ("staff", "/dashboard/"),
    ("staff", "/dashboard/catalogue/"),
    ("staff", "/dashboard/orders/"),
    ("staff", "/dashboard/users/"),
    ("staff", "/dashboard/reviews/"),
    ("staff", "/dashboard/vouchers/"),
    ("staff", "/dashboard/offers/"),
    ("staff", "/dashboard/reports/"),
)


def load():
    """Imports the application; starts no thread."""
    from shopsite.wsgi import application

    return application


def warm(app):
    """Answers the common pages in-process, on data that may be read-only.

    Returns:
        Each path with its status, for the log.
    """
    _set_database(f"{_database_path().absolute().as_uri()}?mode=ro&immutable=1")
    paths = [*WARM_PATHS, *_model_paths()]
    return [
        (path, _get(app, path, SESSION_COOKIES.get(login, ""))) for _ in range(2) for login, path in paths
    ]


def freeze():
    """Closes what must not be shared over a fork: the database. Whoosh's index lies in memory and may be."""
    _close_database()


def adopt(data_dir):
    """Points a forked child to its own data folder."""
    from django.conf import settings

    data = Path(data_dir)
    _close_database()
    _set_database(str(data / "shop.sqlite3"))
    settings.MEDIA_ROOT = str(data / "media")
    _move_search(str(data / "search"))
    # The same in every clone, so that episodes repeat; tokens and keys come from `secrets`, which needs no seed.
    # Not the seed's own number: Whoosh names segments at random, and the snapshot's segment has its first draw.
    random.seed(20260303)


def _model_paths():
    from oscar.core.loading import get_model

    product = get_model("catalogue", "Product").objects.filter(parent=None).order_by("pk").first()
    category = get_model("catalogue", "Category").objects.order_by("path").first()
    order = get_model("order", "Order").objects.order_by("pk").last()
    return [
        ("customer", product.get_absolute_url()),
        ("customer", category.get_absolute_url()),
        ("staff", f"/dashboard/catalogue/products/{product.pk}/"),
        ("staff", f"/dashboard/orders/{order.number}/"),
    ]


def _get(app, path, cookie):
    path, _, query = path.partition("?")
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SCRIPT_NAME": "",
        "SERVER_NAME": "shop.example",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "shop.example",
        "HTTP_COOKIE": cookie,
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    statuses = []
    body = app(environ, lambda status, headers, exc_info=None: statuses.append(status))
    try:
        for _ in body:
            pass
    finally:
        if hasattr(body, "close"):
            body.close()
    return statuses[0]


def _database_path():
    from django.conf import settings

    return settings.DATA_DIR / "shop.sqlite3"


def _set_database(name):
    """Changes the database behind Django's connection; URIs (``file:``) may say that it is read-only."""
    from django.db import connections

    connections["default"].close()
    connections.databases["default"]["NAME"] = name
    connections["default"].settings_dict["NAME"] = name


def _close_database():
    from django.db import connections

    connections.close_all()


def _move_search(path):
    """Lets Whoosh use the index at `path`; at the path that the parent had open, it stays open."""
    from django.conf import settings
    from haystack import connections

    settings.HAYSTACK_CONNECTIONS["default"]["PATH"] = path
    connections["default"].get_backend().move(path)
