"""The WSGI application that waitress serves."""

import os
import random

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shopsite.settings")

# Wish list keys, voucher codes and names of index segments repeat from boot to boot.
random.seed(20260303)

application = get_wsgi_application()
