"""Offer and range pages with their products' cards fetched at once."""

from oscar.apps.offer import views

from shopsite.products import with_cards


class OfferDetailView(views.OfferDetailView):
    def get_queryset(self):
        return with_cards(super().get_queryset())


class RangeDetailView(views.RangeDetailView):
    def get_queryset(self):
        return with_cards(super().get_queryset())
