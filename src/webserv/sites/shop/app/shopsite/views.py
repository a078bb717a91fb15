"""The home page."""

from django.shortcuts import render
from oscar.core.loading import get_model

from shopsite.products import with_cards

Product = get_model("catalogue", "Product")
Category = get_model("catalogue", "Category")
ConditionalOffer = get_model("offer", "ConditionalOffer")

_SHOWN = 4
"""One row of each: the page is the first that most episodes see, and the first that each clone renders."""


def home(request):
    """Categories, new arrivals, the best rated and the offers that run now."""
    products = with_cards(Product.objects.browsable())
    context = {
        "categories": Category.get_root_nodes().for_menu(),
        "new_products": products.order_by("-date_created", "-pk")[:_SHOWN],
        "top_products": products.filter(rating__isnull=False).order_by("-rating", "pk")[:_SHOWN],
        "offers": ConditionalOffer.active.filter(offer_type=ConditionalOffer.SITE).order_by("pk"),
    }
    return render(request, "shop/home.html", context)
