"""Products with everything that their cards show, in a handful of queries for any number of them."""

from django.db.models import Exists, OuterRef, Prefetch
from oscar.core.loading import get_model


def with_cards(queryset):
    """Adds to a product queryset what `catalogue/partials/product.html` reads: price, stock, picture, variants."""
    product, option = get_model("catalogue", "Product"), get_model("catalogue", "Option")
    children = product.objects.public().order_by("pk").prefetch_related("stockrecords")
    return (
        queryset.select_related("product_class")
        .annotate(
            has_product_class_options=Exists(option.objects.filter(productclass=OuterRef("product_class"))),
            has_product_options=Exists(option.objects.filter(product=OuterRef("pk"))),
        )
        .prefetch_related(
            "stockrecords",
            "images",
            Prefetch("children", queryset=children, to_attr="_prefetched_public_children"),
        )
    )
