"""Ways through the shop that reference solutions share, by clicks and typing as a person would.

What was found out about the application: the storefront's menu and the dashboard's menus are dropdowns whose entries
cannot be clicked before they are opened; sorting reloads the page at once; a product's page is reached quickest by
searching for its title; the dashboard's selects are either native or dressed up by select2.
"""

from __future__ import annotations

import re
from decimal import Decimal

from webserv.tasks.scripting import (
    ScriptStuck,
    Steps,
    act,
    choose,
    click,
    fill,
    find,
    find_all,
    has,
    quoted,
)
from webserv.types import Element, Observation

HOME = "http://shop.example/"
DASHBOARD = "http://shop.example/dashboard/"
PRODUCT_PAGE = r"/catalogue/[^/]+_\d+/?$"
_PRICE = re.compile(r"\$([\d,]+\.\d\d)")


def amount(text: str) -> Decimal:
    """The first amount of money in `text`.

    Raises:
        ScriptStuck: There is none.
    """
    match = _PRICE.search(text)
    if match is None:
        raise ScriptStuck(f"No amount in {text[:200]!r}.")
    return Decimal(match[1].replace(",", ""))


def open_category(obs: Observation, department: str, category: str) -> Steps:
    """Opens a category of the storefront through its department."""
    obs = yield from click(obs, "link|button", "Browse store")
    obs = yield from click(obs, "link|menuitem", department)
    return (yield from click(obs, "link", category))


def sort_by(obs: Observation, order: str) -> Steps:
    """Sorts a storefront list; `order` is the option's label."""
    return (yield from choose(obs, "Sort by", order))


def products_shown(obs: Observation) -> list[tuple[str, Decimal]]:
    """Titles and prices of the product tiles, in order."""
    tiles: list[tuple[str, int]] = []
    for link in find_all(obs, "link", href=PRODUCT_PAGE):
        at = obs.text.find(f"[{link.id}]")
        if link.name and at >= 0 and (not tiles or tiles[-1][0] != link.name):
            tiles.append((link.name, at))
    shown = []
    for number, (title, start) in enumerate(tiles):
        end = tiles[number + 1][1] if number + 1 < len(tiles) else len(obs.text)
        match = _PRICE.search(obs.text, start, end)
        if match is not None:
            shown.append((title, Decimal(match[1].replace(",", ""))))
    return shown


def product_link(obs: Observation, title: str) -> Element:
    """The link to a product's page on a storefront list.

    Raises:
        ScriptStuck: The list does not show it.
    """
    return find(obs, "link", title, href=PRODUCT_PAGE, nth=-1)


def search(obs: Observation, words: str) -> Steps:
    """Searches the storefront."""
    return (yield from fill(obs, "Search", words, enter=True))


def open_product(obs: Observation, title: str) -> Steps:
    """Opens a product's page by searching for its title."""
    obs = yield from search(obs, title)
    return (yield from act(f'click("{product_link(obs, title).id}")'))


def open_account(obs: Observation, section: str) -> Steps:
    """Opens a section of the customer's account."""
    # The link's name ends with the number of unread messages.
    obs = yield from click(obs, "link", "Account", exact=False)
    return (yield from click(obs, "link", section))


def open_order(obs: Observation, number: str) -> Steps:
    """Opens one of the customer's own orders, turning pages where needed."""
    obs = yield from open_account(obs, "Order history")
    while not has(obs, "link", number):
        obs = yield from click(obs, "link", "next")
    return (yield from click(obs, "link", number))


def click_after(obs: Observation, text: str, role: str, name: str) -> Steps:
    """Clicks the first such element that follows `text` on the page.

    Raises:
        ScriptStuck: The page does not show `text`, or no such element follows it.
    """
    return (yield from act(f'click("{element_after(obs, text, role, name).id}")'))


def element_after(obs: Observation, text: str, role: str, name: str) -> Element:
    """The first such element that follows `text` on the page; an empty `name` wants one without a name.

    Raises:
        ScriptStuck: The page does not show `text`, or no such element follows it.
    """
    start = obs.text.find(text)
    for element in find_all(obs, role, name) if start >= 0 else ():
        if (not element.name) is (not name) and obs.text.find(f"[{element.id}]") > start:
            return element
    raise ScriptStuck(f"No {role} {name!r} after {text!r} at {obs.url}.")


def set_quantity(obs: Observation, title: str, quantity: int) -> Steps:
    """Changes a quantity on the basket's page."""
    field = element_after(obs, f'"{title}"', "spinbutton", "")
    obs = yield from act(f'clear("{field.id}")')
    obs = yield from act(f'type("{field.id}", "{quantity}")')
    return (yield from click_after(obs, f'"{title}"', "button", "Update"))


def give_stars(obs: Observation, score: int) -> Steps:
    """Chooses a number of stars in the review form."""
    return (yield from click(obs, "", "star", nth=score - 1))


def dashboard(obs: Observation, menu: str, entry: str) -> Steps:
    """Opens a section of the dashboard through its menu."""
    obs = yield from click(obs, "link|button", menu)
    return (yield from click(obs, "link|menuitem", entry, nth=0 if menu != entry else -1))


def dashboard_order(obs: Observation, number: str) -> Steps:
    """Opens an order in the dashboard by its number."""
    obs = yield from dashboard(obs, "Fulfilment", "Orders")
    return (yield from fill(obs, "Order number", number, enter=True, exact=False))


def dashboard_product(obs: Observation, title: str) -> Steps:
    """Opens a product's form in the dashboard by its title."""
    obs = yield from dashboard(obs, "Catalogue", "Products")
    obs = yield from fill(obs, "Product title", title, enter=True, exact=False)
    return (yield from click(obs, "link", title))


def find_dashboard_product(obs: Observation, title: str) -> Steps:
    """Shows a product's row in the dashboard's list."""
    obs = yield from dashboard(obs, "Catalogue", "Products")
    return (yield from fill(obs, "Product title", title, enter=True, exact=False))


def dashboard_customer(obs: Observation, name: str) -> Steps:
    """Opens a customer's page in the dashboard."""
    obs = yield from dashboard(obs, "Customers", "Customers")
    obs = yield from fill(obs, "Name", name, enter=True, exact=False)
    return (yield from click(obs, "link", "@shop.example", exact=False))


def pending_reviews(obs: Observation) -> Steps:
    """Lists the reviews that wait for moderation."""
    obs = yield from dashboard(obs, "Content", "Reviews")
    obs = yield from choose_dressed(obs, "Status", "------------", "Requires moderation")
    return (yield from click(obs, "button", "Search"))


def row_action(obs: Observation, text: str, action: str) -> Steps:
    """Opens the menu "Actions" of the table row that shows `text`, and takes one of its entries."""
    obs = yield from click_after(obs, text, "button", "Actions")
    return (yield from click_after(obs, text, "link|menuitem", action))


def choose_dressed(obs: Observation, label: str, shown: str, option: str) -> Steps:
    """Chooses from a select that may be dressed up by select2, which hides its label and shows only its value.

    Args:
        obs: Where it is.
        label: Its label, for when it is shown.
        shown: What it shows before; may be empty.
        option: The option's label.
    """
    labelled = find_all(obs, "select|combobox|listbox", label)
    dressed = [element for element in find_all(obs, "combobox") if shown.lower() in _shows(element)]
    if not labelled and not dressed:
        raise ScriptStuck(f"No select {label!r} that shows {shown!r} at {obs.url}.")
    return (yield from choose_in(labelled[0] if labelled else dressed[-1], option))


def _shows(element: Element) -> tuple[str, str]:
    return element.name.strip().lower(), (element.value or "").strip().lower()


def choose_in(element: Element, option: str) -> Steps:
    """Chooses an option of a native or a dressed select."""
    if element.options:
        return (yield from act(f'select("{element.id}", {quoted(option)})'))
    obs = yield from act(f'click("{element.id}")')
    return (yield from click(obs, "option", option))


def stock_field(obs: Observation, column: str) -> Element:
    """The field of a column in the first row of "Stock and pricing", whose fields have no labels."""
    lines = obs.text.splitlines()
    header = next((n for n, line in enumerate(lines) if "Low stock threshold" in line), None)
    if header is None:
        raise ScriptStuck(f"No stock records at {obs.url}.")
    column_number = [cell.strip(" |") for cell in lines[header].split(" | ")].index(column)
    cell = lines[header + 1].split(" | ")[column_number]
    id_ = cell.partition("[")[2].partition("]")[0]
    return next(element for element in obs.elements if element.id == id_)


def fill_stock(obs: Observation, column: str, value: str) -> Steps:
    """Replaces a value of the first stock record."""
    field = stock_field(obs, column)
    if field.value:
        obs = yield from act(f'clear("{field.id}")')
    return (yield from act(f'type("{field.id}", {quoted(value)})'))
