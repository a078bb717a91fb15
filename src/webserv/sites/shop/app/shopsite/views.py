"""The home page, and media files."""

import mimetypes
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpResponseNotModified
from django.shortcuts import render
from django.utils._os import safe_join
from django.utils.http import http_date
from django.views.static import was_modified_since
from oscar.core.loading import get_model

Product = get_model("catalogue", "Product")
Category = get_model("catalogue", "Category")
ConditionalOffer = get_model("offer", "ConditionalOffer")

_SHOWN = 8


def home(request):
    """Categories, new arrivals, the best rated and the offers that run now."""
    products = Product.objects.browsable().base_queryset()
    context = {
        "categories": Category.get_root_nodes().for_menu(),
        "new_products": products.order_by("-date_created", "-pk")[:_SHOWN],
        "top_products": products.filter(rating__isnull=False).order_by("-rating", "pk")[:_SHOWN],
        "offers": ConditionalOffer.active.filter(offer_type=ConditionalOffer.SITE).order_by("pk"),
    }
    return render(request, "shop/home.html", context)


def media(request, path):
    """Serves an uploaded or seeded file; browsers may keep it, names are never used twice."""
    target = Path(safe_join(settings.MEDIA_ROOT, path))
    if not target.is_file():
        raise Http404
    modified = int(target.stat().st_mtime)
    if not was_modified_since(request.headers.get("If-Modified-Since"), modified):
        return HttpResponseNotModified()
    kind, _ = mimetypes.guess_type(target)
    response = FileResponse(target.open("rb"), content_type=kind or "application/octet-stream")
    response["Last-Modified"] = http_date(modified)
    response["Cache-Control"] = "public, max-age=86400"
    return response
