"""The base search: everything a page needs comes in one query per table rather than one per hit."""

from django.conf import settings
from haystack.query import SearchQuerySet


def base_sqs():
    """Stands in for Oscar's function of this name; `load_all` fetches the products of a page at once."""
    sqs = SearchQuerySet()
    for facet in settings.OSCAR_SEARCH_FACETS["fields"].values():
        sqs = sqs.facet(facet["field"])
    return sqs.filter_and(is_public="true", structure__in=["standalone", "parent"]).load_all()
