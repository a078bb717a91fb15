"""The shop's deterministic seed; runs inside the built image with ``python -m seed`` (see `webserv.sites.shop.build`).

Everything is drawn from fixed data and seeded generators, every time comes from the site's clock, and every row is
written in a fixed order, so that two builds hold the same logical content. `catalogue.txt` is the hand-written
range of goods.
"""
