"""`shop`: a web shop with its staff dashboard.

What runs: django-oscar 4.2.1 (BSD-3-Clause) on Django 5.2 (BSD-3-Clause) with Whoosh (BSD-2-Clause), served by waitress
(ZPL 2.1) and WhiteNoise (MIT); each is installed from the package index into the image's own environment, none is
part of WebServ. Oscar's static files bring Bootstrap, jQuery, Select2 (MIT), Font Awesome Free and TinyMCE (GPL).
Templates in `app/templates` refine Oscar's.
Origins: ``http://shop.example``; the dashboard is below ``/dashboard/``.
Seed data: `seed/`, hand-written and drawn by code; 332 products in 11 departments, 68 customers, 276 orders.
Login: ``staff`` and ``customer``, prepared as session cookies; the password of everybody is in `seed/people.py`.
Ready check: the home page.
Start modes: ``zygote`` and ``boot``.

Found out about the application, and mended in `app/`:

* Oscar lists products through Haystack; its ``simple`` backend finds none, and each hit costs a query unless the search
  loads all objects at once (`app/shopsite/search.py`).
* Prices and categories are saved after their product, so the index must follow them (`app/shopsite/indexing.py`).
* Looking at a product or searching writes analytics rows; switched off, so that a GET leaves the database alone.
* Oscar creates a user's basket at their first page view; the seed makes all of them.
* Time: `app/shopsite/clock.py`.
* A clone's memory: Whoosh's readers (`app/shopsite/whoosh_backend.py`), SQLite's schema per thread (`site.yaml`).
* Links that lead to errors: sorting by a column of check boxes, the payment page, an order line's page.
"""
