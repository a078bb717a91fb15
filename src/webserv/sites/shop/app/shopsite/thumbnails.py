"""Thumbnails as plain files beside the originals: a page that has them renders, looks up and writes nothing."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from oscar.core.thumbnails import AbstractThumbnailer
from PIL import Image

FOLDER = "thumbs"
SMALL = 160
LARGE = 400
"""A picture that is to fill this much is shown as it was uploaded; the browser scales it."""
_known = set()


@dataclass(frozen=True)
class Thumbnail:
    name: str

    @property
    def url(self):
        return settings.MEDIA_URL + self.name


def thumbnail_name(source, size):
    """Name of the thumbnail of `source` (a media name) at `size` (``WxH``, ``xH`` or ``Wx``)."""
    return f"{FOLDER}/{size}/{source}"


class FileThumbnailer(AbstractThumbnailer):
    """Makes a thumbnail when it is first asked for; the seed asks for all that pages show."""

    def generate_thumbnail(self, source, **opts):
        name = str(getattr(source, "name", source))
        width, height = (int(part) if part else LARGE for part in opts["size"].split("x"))
        if max(width, height) >= LARGE and min(width, height) > SMALL:
            return Thumbnail(name)
        thumb = thumbnail_name(name, opts["size"])
        if thumb not in _known:
            if not _render(
                Path(settings.MEDIA_ROOT, name), Path(settings.MEDIA_ROOT, thumb), (width, height)
            ):
                return Thumbnail(name)
            _known.add(thumb)
        return Thumbnail(thumb)

    def delete_thumbnails(self, source):
        for folder in Path(settings.MEDIA_ROOT, FOLDER).glob("*"):
            (folder / source.name).unlink(missing_ok=True)
            _known.discard(thumbnail_name(source.name, folder.name))


def _render(source, target, box):
    """Makes `target` unless it is there; False if `source` is no picture or nothing can be written."""
    if target.exists():
        return True
    try:
        image = Image.open(source)
        image.load()
        target.parent.mkdir(parents=True, exist_ok=True)
        if image.mode == "P":
            image = image.convert("RGB")
        image.thumbnail(box, Image.Resampling.LANCZOS)
        if source.suffix == ".png" and image.mode == "RGB":
            image = image.quantize(64, dither=Image.Dither.NONE)
        image.save(target)
    except OSError:
        return False
    return True
