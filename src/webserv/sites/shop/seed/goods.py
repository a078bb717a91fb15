"""Departments, product types, products, prices and stock, out of `catalogue.txt`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.core.loading import get_model
from shopsite import clock

Partner = get_model("partner", "Partner")
Product = get_model("catalogue", "Product")
ProductCategory = get_model("catalogue", "ProductCategory")
StockRecord = get_model("partner", "StockRecord")

CATALOGUE = Path(__file__).with_name("catalogue.txt")
COLOURS = {
    "Forest green": "#3c6e4f", "Sky blue": "#6fa8cf", "Charcoal": "#4a4d52", "Sand": "#d6c3a1", "Terracotta": "#c4694a",
    "Cream": "#efe6d2", "Navy": "#2c3e63", "Mustard": "#d9a83a", "Rose": "#d99a9e", "Black": "#26272a",
    "White": "#f4f3ef", "Burgundy": "#7a2f3d",
}  # fmt: skip
SIZES = ("S", "M", "L", "XL")
PARTNERS = ("Northwind Supply", "Harbor Wholesale", "Summit Distribution")
LOW_STOCK_THRESHOLD = 5
_AUTHORS = (
    "Ada Winslow", "Tobias Renner", "Marguerite Sol", "Ian Castell", "Noor Rahimi", "Helen Okafor", "Petra Lindqvist",
    "Sam Whitlock", "Luisa Ferrante", "Edwin Marlow", "Keiko Arai", "Rosalind Pike",
)  # fmt: skip


@dataclass(frozen=True)
class Item:
    """One line of `catalogue.txt`."""

    title: str
    price: Decimal
    material: str
    weight: int
    feature: str
    has_sizes: bool


@dataclass
class Shelf:
    """A subcategory with its items."""

    department: str
    product_type: str
    prefix: str
    brands: tuple[str, ...]
    name: str
    items: list[Item] = field(default_factory=list)


@dataclass
class Goods:
    """What was made."""

    products: list[Any]
    """Browsable products: stand-alone ones and parents."""
    buyable: list[Any]
    """Products with a stock record: stand-alone ones and children."""
    colours: dict[int, str]
    """Product id to the name of its colour, for its picture."""
    shelves: dict[int, str]
    """Product id to its subcategory."""


def read_catalogue() -> Iterator[Shelf]:
    """Yields the shelves of `catalogue.txt` in order."""
    department: tuple[str, str, str, tuple[str, ...]] | None = None
    shelf: Shelf | None = None
    for line in CATALOGUE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name, product_type, prefix, brands = (part.strip() for part in line.strip("[]").split(";"))
            department = (name, product_type, prefix, tuple(brand.strip() for brand in brands.split(",")))
        elif line.startswith("{") and department:
            if shelf:
                yield shelf
            shelf = Shelf(*department, line.strip("{}"))
        elif line and not line.startswith("#") and shelf:
            title, price, material, weight, feature = (part.strip() for part in line.split(";"))
            shelf.items.append(
                Item(title.lstrip("*"), Decimal(price), material, int(weight), feature, title.startswith("*"))
            )
    if shelf:
        yield shelf


def make_goods(rng: random.Random) -> Goods:
    """Makes the whole catalogue. Prices, stock and dates vary; every price is unique within its department."""
    partners = [Partner.objects.create(name=name) for name in PARTNERS]
    maker = _Maker(rng, partners)
    day = 0
    for shelf in read_catalogue():
        category = create_from_breadcrumbs(f"{shelf.department} > {shelf.name}")
        for item in shelf.items:
            day += 1
            clock.set_to(clock.START - timedelta(days=365 - (day * 89) % 337, minutes=day))
            maker.make(shelf, item, category)
    return maker.goods


class _Maker:
    """Makes products one by one; keeps types, attributes and numbers between them."""

    def __init__(self, rng: random.Random, partners: list[Any]) -> None:
        self.rng = rng
        self.partners = partners
        self.goods = Goods([], [], {}, {})
        self.types: dict[str, Any] = {}
        self.colours = self._make_options("Colour", tuple(COLOURS))
        self.sizes = self._make_options("Size", SIZES)

    @staticmethod
    def _make_options(name: str, labels: tuple[str, ...]) -> dict[str, Any]:
        group = get_model("catalogue", "AttributeOptionGroup").objects.create(name=name)
        return {label: group.options.create(option=label) for label in labels}

    def _get_type(self, shelf: Shelf) -> Any:
        if shelf.product_type not in self.types:
            made = get_model("catalogue", "ProductClass").objects.create(name=shelf.product_type)
            self.types[shelf.product_type] = made
            for code, name, kind, group in _attributes_of(shelf.product_type):
                options = self.colours if group == "Colour" else self.sizes
                option_group = next(iter(options.values())).group if group else None
                made.attributes.create(code=code, name=name, type=kind, option_group=option_group)
        return self.types[shelf.product_type]

    def make(self, shelf: Shelf, item: Item, category: Any) -> None:
        number = len(self.goods.products) + 1
        upc = f"{shelf.prefix}-{number:04d}"
        brand = shelf.brands[number % len(shelf.brands)]
        colour = self.rng.choice(tuple(COLOURS))
        product = Product(
            structure=Product.PARENT if item.has_sizes else Product.STANDALONE,
            product_class=self._get_type(shelf),
            title=item.title,
            upc=upc,
            description=_describe(item, brand, shelf),
        )
        product.attr.brand = brand
        if shelf.product_type == "Book":
            product.attr.author = self.rng.choice(_AUTHORS)
            product.attr.pages = 120 + (item.weight * 37) % 430
            product.attr.format = item.material
        else:
            product.attr.colour = self.colours[colour]
            product.attr.material = item.material
        product.attr.weight = item.weight
        if shelf.product_type == "Electronics":
            product.attr.warranty = self.rng.choice((1, 2, 2, 3))
        product.save()
        ProductCategory.objects.create(product=product, category=category)
        self.goods.products.append(product)
        self.goods.colours[product.pk] = colour
        self.goods.shelves[product.pk] = shelf.name
        if not item.has_sizes:
            self._stock(product, item.price)
            return
        for size in SIZES:
            child = Product(structure=Product.CHILD, parent=product, upc=f"{upc}-{size}")
            child.title = f"{item.title}, size {size}"
            child.attr.size = self.sizes[size]
            child.save()
            self._stock(child, item.price)

    def _stock(self, product: Any, price: Decimal) -> None:
        position = len(self.goods.buyable)
        self.goods.buyable.append(product)
        if position % 37 == 11:
            level = 0
        elif position % 19 == 4:
            level = 1 + position % 4
        else:
            level = self.rng.randrange(12, 180)
        partner = self.partners[position % len(self.partners)]
        StockRecord.objects.create(
            product=product,
            partner=partner,
            partner_sku=f"{partner.name[:2].upper()}-{product.upc}",
            price_currency="USD",
            price=price,
            num_in_stock=level,
            num_allocated=0,
            low_stock_threshold=LOW_STOCK_THRESHOLD,
        )


def _attributes_of(product_type: str) -> list[tuple[str, str, str, str]]:
    """Code, name, kind and option group of a product type's attributes."""
    if product_type == "Book":
        return [
            ("author", "Author", "text", ""),
            ("brand", "Publisher", "text", ""),
            ("format", "Format", "text", ""),
            ("pages", "Pages", "integer", ""),
            ("weight", "Weight (g)", "integer", ""),
        ]
    attributes = [
        ("brand", "Brand", "text", ""),
        ("colour", "Colour", "option", "Colour"),
        ("material", "Material", "text", ""),
        ("weight", "Weight (g)", "integer", ""),
    ]
    if product_type == "Electronics":
        attributes.append(("warranty", "Warranty (years)", "integer", ""))
    if product_type == "Clothing":
        attributes.append(("size", "Size", "option", "Size"))
    return attributes


def _describe(item: Item, brand: str, shelf: Shelf) -> str:
    feature = item.feature[0].upper() + item.feature[1:]
    if shelf.product_type == "Book":
        return f"<p>{feature}.</p><p>{item.material}, published by {brand}. From our {shelf.name.lower()} shelf.</p>"
    return (
        f"<p>{feature}.</p><p>Made by {brand} from {item.material.lower()} and checked by hand before it leaves "
        f"our warehouse. Part of our {shelf.name.lower()} range.</p>"
    )
