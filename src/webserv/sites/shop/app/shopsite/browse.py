"""Catalogue and category pages out of the database, where Oscar asks the search engine.

A search of everything costs Whoosh 20 ms and the engine knows prices and categories only as of its last entry; the
database answers in one, and always truly. Pages, forms and facets are Oscar's.
"""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.paginator import InvalidPage, Paginator
from django.db.models import Count, F, IntegerField, Min, Q
from django.db.models.functions import Cast, Coalesce, Lower
from django.http import Http404
from oscar.apps.search.facets import FacetMunger
from oscar.apps.search.views import catalogue
from oscar.core.loading import get_model

from shopsite.products import with_cards

Product = get_model("catalogue", "Product")
ProductCategory = get_model("catalogue", "ProductCategory")

_STARS = Cast("rating", IntegerField())
_LOWEST = Coalesce(
    Min("stockrecords__price"), Min("children__stockrecords__price", filter=Q(children__is_public=True))
)
_ORDERS = {
    "rating": (F("rating").desc(nulls_last=True), "pk"),
    "newest": ("-date_created", "-pk"),
    "price-asc": (F("lowest_price").asc(nulls_last=True), "pk"),
    "price-desc": (F("lowest_price").desc(nulls_last=True), "pk"),
    "title-asc": (Lower("title"), "pk"),
    "title-desc": (Lower("title").desc(), "-pk"),
}
_AS_ARRANGED = ("-priority", "pk")


@dataclass(frozen=True)
class Hit:
    """A product as templates for search results expect it."""

    object: Any


class _Cards:
    """What a paginator needs of a list of hits; fetches one page's products."""

    def __init__(self, queryset, order):
        self.queryset = queryset
        self.order = order

    def count(self):
        return self.queryset.count()

    def __len__(self):
        return self.count()

    def __getitem__(self, part):
        products = with_cards(self.queryset.alias(lowest_price=_LOWEST)).order_by(*self.order)
        return [Hit(product) for product in products[part]]


class FromDatabase:
    """Mixin for Oscar's catalogue views: answers from the database unless words are searched for."""

    def form_valid(self, form):
        if form.cleaned_data.get("q"):
            return super().form_valid(form)
        return self.render_to_response(self._make_context(form, form.cleaned_data.get("sort_by")))

    def form_invalid(self, form):
        return self.render_to_response(self._make_context(form, ""))

    def _make_context(self, form, sort_by):
        found = _narrow(self.get_products(), form.selected_multi_facets)
        paginator = Paginator(
            _Cards(found, _ORDERS.get(sort_by, _AS_ARRANGED)), settings.OSCAR_PRODUCTS_PER_PAGE
        )
        try:
            page = paginator.page(self.request.GET.get(self.page_kwarg) or 1)
        except InvalidPage as exc:
            raise Http404 from exc
        counts = {"fields": _count_facets(found)}
        facets = FacetMunger(self.request.get_full_path(), form.selected_multi_facets, counts).facet_data()
        return {
            "view": self,
            "form": form,
            "products": page.object_list,
            "paginator": paginator,
            "page_obj": page,
            "page": page,
            "is_paginated": page.has_other_pages(),
            "facet_data": facets,
            "has_facets": any(data["results"] for data in facets.values()),
            "selected_facets": form.selected_facets,
        }


class CatalogueView(FromDatabase, catalogue.CatalogueView):
    """All products."""

    def get_products(self):
        return Product.objects.browsable()

    def _make_context(self, form, sort_by):
        return {**super()._make_context(form, sort_by), "summary": "All products"}


class ProductCategoryView(FromDatabase, catalogue.ProductCategoryView):
    """A category with those below it."""

    def get_products(self):
        below = ProductCategory.objects.filter(category__in=self.category.get_descendants_and_self())
        return Product.objects.browsable().filter(pk__in=below.values("product"))

    def _make_context(self, form, sort_by):
        return {**super()._make_context(form, sort_by), "category": self.category}


def _narrow(products, selected):
    if selected.get("product_class"):
        products = products.filter(product_class__name__in=selected["product_class"])
    if selected.get("rating"):
        stars = [int(value) for value in selected["rating"] if value.isdecimal()]
        products = products.annotate(stars=_STARS).filter(stars__in=stars)
    return products


def _count_facets(products):
    """Counts products by type and by whole stars, the most frequent first, as the search engine would."""
    types = products.values_list("product_class__name").annotate(count=Count("pk"))
    stars = (
        products.filter(rating__isnull=False)
        .annotate(stars=_STARS)
        .values_list("stars")
        .annotate(count=Count("pk"))
    )
    return {
        "product_class": list(types.order_by("-count", "product_class__name")),
        "rating": [(str(value), count) for value, count in stars.order_by("-stars")],
    }
