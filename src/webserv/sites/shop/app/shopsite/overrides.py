"""Oscar's hook for replacing its classes, without forking its apps (`OSCAR_DYNAMIC_CLASS_LOADER`)."""

from django.utils.module_loading import import_string
from oscar.core.loading import default_class_loader

REPLACED = {
    ("shipping.repository", "Repository"): "shopsite.shipping.Repository",
    ("search.facets", "base_sqs"): "shopsite.search.base_sqs",
    ("catalogue.views", "CatalogueView"): "shopsite.browse.CatalogueView",
    ("catalogue.views", "ProductCategoryView"): "shopsite.browse.ProductCategoryView",
    ("offer.views", "OfferDetailView"): "shopsite.offers.OfferDetailView",
    ("offer.views", "RangeDetailView"): "shopsite.offers.RangeDetailView",
    ("customer.views", "OrderLineView"): "shopsite.customer.OrderLineView",
    ("dashboard.catalogue.forms", "ProductCategoryForm"): "shopsite.dashboard.ProductCategoryForm",
    ("dashboard.users.tables", "UserTable"): "shopsite.tables.UserTable",
    ("dashboard.catalogue.tables", "ProductTable"): "shopsite.tables.ProductTable",
}


def load_classes(module_label, classnames, module_prefix):
    """Returns our class where there is one, else Oscar's."""
    return [
        import_string(REPLACED[module_label, name])
        if (module_label, name) in REPLACED
        else default_class_loader(module_label, [name], module_prefix)[0]
        for name in classnames
    ]
