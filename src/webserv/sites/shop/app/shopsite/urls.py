"""URLs: a home page of our own, Oscar's storefront and dashboard."""

from django.apps import apps
from django.urls import include, path

from shopsite import views

urlpatterns = [
    path("", views.home, name="shop-home"),
    path("", include(apps.get_app_config("oscar").urls[0])),
]

handler403 = "oscar.views.handler403"
handler404 = "oscar.views.handler404"
handler500 = "oscar.views.handler500"
