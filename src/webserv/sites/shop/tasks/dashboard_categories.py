"""Dashboard: categories."""

from __future__ import annotations

import random
from collections.abc import Iterator

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.tasks.database import Category, ShopDatabase
from webserv.sites.shop.tasks.kinds import dashboard, shuffled
from webserv.tasks.evaluators.guard import Added, Edited
from webserv.tasks.scripting import click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation

_CATEGORY_NAMES = ("Gift Ideas", "Refurbished", "Last Pieces", "Handmade", "Limited Editions", "Spare Parts")


def create_category(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new subcategory; the near miss makes it a department of its own."""
    newest = shop.query("SELECT max(id) FROM catalogue_category")[0][0]
    departments = shop.query("SELECT name FROM catalogue_category WHERE depth = 1 ORDER BY path")
    for name, (parent,) in zip(shuffled(rng, _CATEGORY_NAMES), shuffled(rng, departments), strict=False):
        yield Draft(
            f"Create a category named \u201c{name}\u201d below the department {parent}.",
            (
                rows(
                    "new categories",
                    "SELECT name, (SELECT p.name FROM catalogue_category p"
                    " WHERE p.path = substr(c.path, 1, length(c.path) - 4))"
                    " FROM catalogue_category c WHERE id > ?",
                    newest,
                    expected=((name, parent),),
                ),
                nothing_else(Added("catalogue_category")),
            ),
            script(_create_category, name, parent),
            script(_create_category, name, ""),
            {"name": name, "parent": parent},
        )


def _create_category(obs: Observation, name: str, parent: str) -> Script:
    obs = yield from way.dashboard(obs, "Catalogue", "Categories")
    obs = yield from click(obs, "link", "Create new category")
    obs = yield from fill(obs, "Name", name)
    if parent:
        obs = yield from way.choose_dressed(obs, "Relative to", "-- root --", parent)
    yield from click(obs, "button", "Save")
    yield from finish()


def rename_category(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A category gets a new name; the near miss does not save."""
    for category in shuffled(rng, shop.categories):
        name = f"{category.name} {rng.choice(('Essentials', 'Corner', 'World'))}"
        yield Draft(
            f"Rename the category \u201c{category.name}\u201d (in {category.parent}) to \u201c{name}\u201d.",
            (
                rows(
                    "category",
                    "SELECT name FROM catalogue_category WHERE id = ?",
                    category.id,
                    expected=((name,),),
                ),
                nothing_else(Edited("catalogue_category", f"id = {category.id}", ("name",))),
            ),
            script(_rename_category, category, name, save=True),
            script(_rename_category, category, name, save=False),
            {"category": category.name, "name": name},
        )


def _rename_category(obs: Observation, category: Category, name: str, *, save: bool) -> Script:
    obs = yield from way.dashboard(obs, "Catalogue", "Categories")
    obs = yield from fill(obs, "Name", category.name, enter=True, exact=False)
    obs = yield from click(obs, "link", category.name, href=r"/categories/\d+/update/", exact=False)
    obs = yield from fill(obs, "Name", name)
    if save:
        yield from click(obs, "button", "Save")
    yield from finish()


TEMPLATES = (
    dashboard("create-category-v1", create_category, tags=("create", "catalogue"), steps=20),
    dashboard("rename-category-v1", rename_category, tags=("edit", "catalogue"), steps=20),
)
