"""Keeps the search index in step with whatever a product's entry is made of."""

from django.db import models
from haystack.signals import RealtimeSignalProcessor
from oscar.core.loading import get_model


class ShopSignalProcessor(RealtimeSignalProcessor):
    """Also follows prices, stock and categories, which are saved after the product itself."""

    def setup(self):
        super().setup()
        for label, name in (("partner", "StockRecord"), ("catalogue", "ProductCategory")):
            model = get_model(label, name)
            models.signals.post_save.connect(self.handle_part, sender=model)
            models.signals.post_delete.connect(self.handle_part, sender=model)
        self.product = get_model("catalogue", "Product")

    def teardown(self):
        for label, name in (("partner", "StockRecord"), ("catalogue", "ProductCategory")):
            model = get_model(label, name)
            models.signals.post_save.disconnect(self.handle_part, sender=model)
            models.signals.post_delete.disconnect(self.handle_part, sender=model)
        super().teardown()

    def handle_part(self, sender, instance, **kwargs):
        product = self.product.objects.filter(pk=instance.product_id).select_related("parent").first()
        if product is not None:
            entry = product.parent if product.is_child else product
            self.handle_save(self.product, entry)

    def handle_save(self, sender, instance, **kwargs):
        if sender is self.product and getattr(instance, "is_child", False):
            instance = instance.parent
        super().handle_save(sender, instance, **kwargs)
