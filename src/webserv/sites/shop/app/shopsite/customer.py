"""The customer's order line has no page of its own in Oscar, only a form's action; asking for it failed."""

from django.shortcuts import redirect
from oscar.apps.customer import views


class OrderLineView(views.OrderLineView):
    def get(self, request, *args, **kwargs):
        return redirect("customer:order", kwargs["order_number"])
