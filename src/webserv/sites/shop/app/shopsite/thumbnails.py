"""Thumbnails as plain files beside the originals: a page that has them renders, looks up and writes nothing."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from oscar.core.thumbnails import AbstractThumbnailer
from PIL import Image

FOLDER = "thumbs"
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
        thumb = thumbnail_name(name, opts["size"])
        target = Path(settings.MEDIA_ROOT, thumb)
        if thumb not in _known:
            if not target.exists() and not self._render(
                Path(settings.MEDIA_ROOT, name), target, opts["size"]
            ):
                return Thumbnail(name)
            _known.add(thumb)
        return Thumbnail(thumb)

    def delete_thumbnails(self, source):
        for folder in Path(settings.MEDIA_ROOT, FOLDER).glob("*"):
            (folder / source.name).unlink(missing_ok=True)
            _known.discard(thumbnail_name(source.name, folder.name))

    @staticmethod
    def _render(source, target, size):
        try:
            image = Image.open(source)
            image.load()
        except OSError:
            return False
        width, _, height = size.partition("x")
        image.thumbnail((int(width or 10_000), int(height or 10_000)), Image.Resampling.LANCZOS)
        if image.mode not in ("RGB", "RGBA", "L", "P"):
            image = image.convert("RGB")
        target.parent.mkdir(parents=True, exist_ok=True)
        image.save(target)
        return True
