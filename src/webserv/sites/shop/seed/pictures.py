"""Product and category pictures, drawn by code: soft shapes in the product's colour, different for each name."""

from __future__ import annotations

import colorsys
import hashlib
import math
import random
from pathlib import Path
from typing import Any

from django.conf import settings
from oscar.core.loading import get_model
from PIL import Image, ImageDraw, ImageFilter
from seed.goods import COLOURS, Goods
from shopsite.thumbnails import FileThumbnailer

SIZE = 400
_SCALE = 2
_THUMBNAILS = ("x155", "100x100", "70x70", "200x200")

RGB = tuple[int, int, int]


def draw_pictures(goods: Goods) -> None:
    """Draws one picture per browsable product and root category, and the thumbnails that pages show."""
    media = Path(settings.MEDIA_ROOT)
    (media / "products").mkdir(parents=True)
    (media / "categories").mkdir()
    _draw("missing", "#b9b4a7", "none").save(media / settings.OSCAR_MISSING_IMAGE_URL)
    names = [settings.OSCAR_MISSING_IMAGE_URL]
    ProductImage = get_model("catalogue", "ProductImage")
    for product in goods.products:
        name = f"products/{product.upc.lower()}.png"
        picture = _draw(product.title, COLOURS[goods.colours[product.pk]], goods.shelves[product.pk])
        picture.save(media / name, optimize=False)
        ProductImage.objects.bulk_create([ProductImage(product=product, original=name, display_order=0)])
        names.append(name)
    for category in get_model("catalogue", "Category").get_root_nodes():
        name = f"categories/{category.slug}.png"
        _draw(category.name, _tint(category.name), category.name).crop((0, 100, SIZE, 300)).save(media / name)
        type(category).objects.filter(pk=category.pk).update(image=name)
    thumbnailer = FileThumbnailer()
    for name in names:
        for size in _THUMBNAILS:
            thumbnailer.generate_thumbnail(name, size=size)


def _tint(name: str) -> str:
    hue = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 360 / 360
    red, green, blue = colorsys.hls_to_rgb(hue, 0.55, 0.4)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def _rgb(colour: str) -> RGB:
    return (int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16))


def _mix(one: RGB, other: RGB, share: float) -> RGB:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return (red, green, blue)


def _draw(title: str, colour: str, shelf: str) -> Any:
    """Draws at twice the size and scales down for smooth edges; 64 colours keep the file small."""
    rng = random.Random(title)
    side = SIZE * _SCALE
    main, ground = _rgb(colour), _mix(_rgb(_tint(shelf)), (255, 255, 255), 0.78)
    image = Image.new("RGB", (side, side), ground)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, side * 0.72, side, side), fill=_mix(ground, (120, 110, 95), 0.22))
    shadow = Image.new("L", (side, side), 0)
    ImageDraw.Draw(shadow).ellipse((side * 0.2, side * 0.74, side * 0.8, side * 0.86), fill=110)
    shadow = shadow.resize((side // 8, side // 8)).filter(ImageFilter.GaussianBlur(3)).resize((side, side))
    image.paste(_mix(ground, (60, 55, 50), 0.6), mask=shadow)
    shapes = (_vessel, _box, _disc, _bottle, _stack, _leaf)
    start = int(hashlib.sha256(shelf.encode()).hexdigest(), 16)
    shapes[(start + rng.randrange(2)) % len(shapes)](draw, rng, main, side)
    return image.resize((SIZE, SIZE), Image.Resampling.BOX).quantize(64, dither=Image.Dither.NONE)


def _vessel(draw: Any, rng: random.Random, main: RGB, side: int) -> None:
    width, top = rng.uniform(0.3, 0.5) * side, rng.uniform(0.28, 0.45) * side
    left, right, low = (side - width) / 2, (side + width) / 2, side * 0.8
    inset = rng.uniform(0.02, 0.1) * side
    draw.polygon([(left, top), (right, top), (right - inset, low), (left + inset, low)], fill=main)
    draw.ellipse((left, top - side * 0.05, right, top + side * 0.05), fill=_mix(main, (0, 0, 0), 0.25))
    if rng.random() < 0.5:
        draw.arc((right - side * 0.06, top + side * 0.08, right + side * 0.14, top + side * 0.28), -95, 95,
                 fill=_mix(main, (0, 0, 0), 0.1), width=side // 28)  # fmt: skip
    _bands(draw, rng, main, (left + inset, top + side * 0.12, right - inset, low))


def _box(draw: Any, rng: random.Random, main: RGB, side: int) -> None:
    width, height = rng.uniform(0.36, 0.6) * side, rng.uniform(0.25, 0.48) * side
    left, low = (side - width) / 2, side * 0.8
    draw.rounded_rectangle((left, low - height, left + width, low), radius=side * 0.04, fill=main)
    depth = side * 0.07
    draw.polygon(
        [
            (left + 18, low - height),
            (left + depth, low - height - depth),
            (left + width + depth * 0.6, low - height - depth),
            (left + width - 18, low - height),
        ],
        fill=_mix(main, (255, 255, 255), 0.35),
    )
    _bands(draw, rng, main, (left, low - height * 0.7, left + width, low))


def _disc(draw: Any, rng: random.Random, main: RGB, side: int) -> None:
    centre, radius = side / 2, rng.uniform(0.2, 0.29) * side
    middle = side * 0.8 - radius
    rings = rng.randrange(2, 6)
    for ring in range(rings):
        part = radius * (1 - ring / rings)
        shade = _mix(main, (255, 255, 255) if ring % 2 else (0, 0, 0), 0.12 * ring)
        draw.ellipse((centre - part, middle - part, centre + part, middle + part), fill=shade)


def _bottle(draw: Any, rng: random.Random, main: RGB, side: int) -> None:
    width, height = rng.uniform(0.16, 0.28) * side, rng.uniform(0.42, 0.58) * side
    left, low = (side - width) / 2, side * 0.8
    draw.rounded_rectangle((left, low - height * 0.75, left + width, low), radius=width * 0.25, fill=main)
    neck = width * rng.uniform(0.3, 0.6)
    draw.rectangle(
        ((side - neck) / 2, low - height, (side + neck) / 2, low - height * 0.7),
        fill=_mix(main, (0, 0, 0), 0.3),
    )
    draw.rectangle(
        (left, low - height * 0.5, left + width, low - height * 0.2), fill=_mix(main, (255, 255, 255), 0.6)
    )


def _stack(draw: Any, rng: random.Random, main: RGB, side: int) -> None:
    layers, low = rng.randrange(3, 7), side * 0.8
    height = side * 0.5 / layers
    for layer in range(layers):
        width = side * rng.uniform(0.36, 0.56)
        shade = _mix(main, (255, 255, 255) if layer % 2 else (0, 0, 0), 0.08 + 0.05 * layer)
        box = ((side - width) / 2, low - height, (side + width) / 2, low - side * 0.008)
        draw.rounded_rectangle(box, radius=height * 0.3, fill=shade)
        low -= height


def _leaf(draw: Any, rng: random.Random, main: RGB, side: int) -> None:
    centre, low = side / 2, side * 0.8
    for blade in range(rng.randrange(3, 8)):
        angle = math.radians(rng.uniform(-62, 62))
        length, half = side * rng.uniform(0.3, 0.52), side * rng.uniform(0.03, 0.07)
        tip = (centre + math.sin(angle) * length, low - math.cos(angle) * length)
        middle = (centre + math.sin(angle) * length / 2, low - math.cos(angle) * length / 2)
        across = (math.cos(angle) * half, math.sin(angle) * half)
        shade = _mix(main, (255, 255, 255) if blade % 2 else (0, 0, 0), 0.1)
        draw.polygon(
            [(centre, low), (middle[0] - across[0], middle[1] - across[1]), tip,
             (middle[0] + across[0], middle[1] + across[1])],
            fill=shade,
        )  # fmt: skip


def _bands(draw: Any, rng: random.Random, main: RGB, box: tuple[float, float, float, float]) -> None:
    left, top, right, low = box
    for band in range(rng.randrange(4)):
        height = (low - top) / 9
        y = top + height * (1 + band * 2.2)
        draw.rectangle(
            (left + 12, y, right - 12, y + height * 0.6), fill=_mix(main, (255, 255, 255), 0.3 + 0.1 * band)
        )
