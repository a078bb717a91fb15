"""Settings of the shop. Data lie in ``$SITE_DATA``; everything else is read-only and next to this project."""

import os
import warnings
from pathlib import Path

from django.core.paginator import UnorderedObjectListWarning
from oscar.defaults import *  # noqa: F403

from shopsite import clock

clock.install()
# Oscar's list of offers counts per offer and so loses its order; SQLite's is the same each time.
warnings.filterwarnings("ignore", category=UnorderedObjectListWarning)

APP_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("SITE_DATA", APP_DIR.parent / "data")).resolve()

DEBUG = False
SECRET_KEY = "a-public-constant-of-a-throw-away-training-shop-that-must-not-hold-real-data"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "shopsite.urls"
WSGI_APPLICATION = "shopsite.wsgi.application"
SITE_ID = 1
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "shopsite.apps.ShopSiteConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sites",
    "django.contrib.flatpages",
    "django.contrib.staticfiles",
    "oscar.config.Shop",
    "oscar.apps.analytics.apps.AnalyticsConfig",
    "oscar.apps.checkout.apps.CheckoutConfig",
    "oscar.apps.address.apps.AddressConfig",
    "oscar.apps.shipping.apps.ShippingConfig",
    "oscar.apps.catalogue.apps.CatalogueConfig",
    "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
    "oscar.apps.communication.apps.CommunicationConfig",
    "oscar.apps.partner.apps.PartnerConfig",
    "oscar.apps.basket.apps.BasketConfig",
    "oscar.apps.payment.apps.PaymentConfig",
    "oscar.apps.offer.apps.OfferConfig",
    "oscar.apps.order.apps.OrderConfig",
    "oscar.apps.customer.apps.CustomerConfig",
    "oscar.apps.search.apps.SearchConfig",
    "oscar.apps.voucher.apps.VoucherConfig",
    "oscar.apps.wishlists.apps.WishlistsConfig",
    "oscar.apps.dashboard.apps.DashboardConfig",
    "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
    "oscar.apps.dashboard.users.apps.UsersDashboardConfig",
    "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
    "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig",
    "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
    "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig",
    "oscar.apps.dashboard.pages.apps.PagesDashboardConfig",
    "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig",
    "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
    "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig",
    "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
    "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig",
    "widget_tweaks",
    "haystack",
    "treebeard",
    "django_tables2",
]

MIDDLEWARE = [
    "shopsite.middleware.StaticFiles",
    "shopsite.middleware.media_files",
    "shopsite.middleware.one_change_at_a_time",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [APP_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ],
        },
    }
]

# WAL lets evaluators read while the site writes. Durability is worthless here: a clone lives as long as its episode.
# mmap keeps the database's pages in the page cache that all clones share; the private cache stays small.
SQLITE_PRAGMAS = (
    "PRAGMA synchronous=OFF; PRAGMA mmap_size=67108864; PRAGMA cache_size=-1024; PRAGMA temp_store=MEMORY;"
)
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(DATA_DIR / "shop.sqlite3"),
        "ATOMIC_REQUESTS": True,
        "CONN_MAX_AGE": None,
        "OPTIONS": {"timeout": 20, "init_command": SQLITE_PRAGMAS},
    }
}

CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "TIMEOUT": None}}
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = 365 * 24 * 3600
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
AUTHENTICATION_BACKENDS = ["oscar.apps.customer.auth_backends.EmailBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 9},
    }
]
LOGIN_REDIRECT_URL = "/"
APPEND_SLASH = True
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
}

LANGUAGE_CODE = "en-us"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT = APP_DIR.parent / "static"
STATICFILES_DIRS = [APP_DIR / "assets"]
MEDIA_URL = "/media/"
MEDIA_ROOT = str(DATA_DIR / "media")

HAYSTACK_CONNECTIONS = {
    "default": {
        "ENGINE": "shopsite.whoosh_backend.Engine",
        "PATH": str(DATA_DIR / "search"),
        "EXCLUDED_INDEXES": ["oscar.apps.search.search_indexes.ProductIndex"],
    }
}
HAYSTACK_SIGNAL_PROCESSOR = "shopsite.indexing.ShopSignalProcessor"
# Whoosh has no query facets, so Oscar's price ranges could never be shown.
OSCAR_SEARCH_FACETS = {
    "fields": {
        "product_class": {"name": "Type", "field": "product_class"},
        "rating": {"name": "Rating", "field": "rating"},
    },
    "queries": {},
}

OSCAR_SHOP_NAME = "Larkspur & Co."
OSCAR_SHOP_TAGLINE = "Everyday goods, well made"
OSCAR_HOMEPAGE = "/"
OSCAR_DYNAMIC_CLASS_LOADER = "shopsite.overrides.load_classes"
OSCAR_DEFAULT_CURRENCY = "USD"
OSCAR_CURRENCY_FORMAT = "¤#,##0.00"
OSCAR_IMAGE_FOLDER = "products"
OSCAR_MISSING_IMAGE_URL = "image_not_found.png"
OSCAR_THUMBNAILER = "shopsite.thumbnails.FileThumbnailer"
OSCAR_FROM_EMAIL = "hello@shop.example"
OSCAR_ALLOW_ANON_CHECKOUT = True
OSCAR_ALLOW_ANON_REVIEWS = False
OSCAR_MODERATE_REVIEWS = True
OSCAR_SEND_REGISTRATION_EMAIL = False
OSCAR_REQUIRED_ADDRESS_FIELDS = ("first_name", "last_name", "line1", "line4", "state", "postcode", "country")

_FULFILMENT = {
    "Pending": ("Being processed", "Cancelled"),
    "Being processed": ("Shipped", "Cancelled"),
    "Shipped": ("Complete",),
    "Complete": (),
    "Cancelled": (),
}
OSCAR_INITIAL_ORDER_STATUS = "Pending"
OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = _FULFILMENT
OSCAR_LINE_STATUS_PIPELINE = _FULFILMENT
OSCAR_ORDER_STATUS_CASCADE = {status: status for status in _FULFILMENT if status != "Pending"}
