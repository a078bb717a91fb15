"""Semantic ids: short, unique, stable while the element lives, never given to another element in an episode."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from webserv.browser.observation.element import ElementKey, PageElement

MAX_LENGTH = 24

_NOT_WORD = re.compile(r"[\W_]+")


def slug(text: str, max_length: int = MAX_LENGTH) -> str:
    """Lower case words joined by ``_``, cut at a word's end where that keeps half of the length."""
    words = _NOT_WORD.sub("_", unicodedata.normalize("NFKC", text).casefold()).strip("_")
    if len(words) <= max_length:
        return words
    cut = words[:max_length]
    if words[max_length] != "_":
        head = cut.rpartition("_")[0]
        cut = head if len(head) >= max_length // 2 else cut
    return cut.strip("_")


class IdBook:
    """Gives ids to the elements of one episode.

    A living element keeps its id, whatever becomes of its name. An element of a later document (or one that replaced
    another) gets an id back only when it is the same thing to a policy: same role, name and target (link address;
    form, field and value), and the only one of its kind on both pages; links with the same address are the same thing
    also where there are several. Everything else gets an id that was never used: ``save``, ``save_2``, ``save_3``.
    """

    def __init__(self) -> None:
        self._id_of: dict[ElementKey, str] = {}
        self._key_of: dict[str, ElementKey] = {}
        self._by_meaning: dict[tuple[str, str, str, int], str] = {}
        self._next: Counter[str] = Counter()

    def assign(self, elements: Sequence[PageElement]) -> None:
        """Sets the `id` of each element, in the order given; call it once per observation with all elements."""
        alike = Counter((element.role, element.name, element.target) for element in elements)
        present = {self._id_of[element.key] for element in elements if element.key in self._id_of}
        seen: Counter[tuple[str, str, str]] = Counter()
        for element in elements:
            meaning = (element.role, element.name, element.target)
            seen[meaning] += 1
            known = self._id_of.get(element.key)
            if known is None:
                known = self._again(element, meaning, alike[meaning], seen[meaning], present) or self._new(
                    element
                )
            present.add(known)
            self._id_of[element.key] = element.id = known
            self._key_of[known] = element.key
            if alike[meaning] == 1 or element.href:
                self._by_meaning[(*meaning, seen[meaning])] = known
            else:
                # One of several: from now on nothing may take up an id of this meaning.
                self._by_meaning.pop((*meaning, 1), None)

    def key_of(self, element_id: str) -> ElementKey | None:
        """Where the element with this id was last seen; None if no observation had it."""
        return self._key_of.get(element_id)

    def id_of(self, key: ElementKey) -> str | None:
        """The id of an element that an observation showed."""
        return self._id_of.get(key)

    def _again(
        self, element: PageElement, meaning: tuple[str, str, str], count: int, ordinal: int, present: set[str]
    ) -> str | None:
        if count > 1 and not element.href:
            return None
        known = self._by_meaning.get((*meaning, ordinal))
        return known if known and known not in present else None

    def _new(self, element: PageElement) -> str:
        base = slug(element.name) or slug(element.fallback) or slug(element.role) or "element"
        while True:
            self._next[base] += 1
            number = self._next[base]
            suffix = "" if number == 1 else f"_{number}"
            candidate = base[: MAX_LENGTH - len(suffix)].rstrip("_") + suffix
            if candidate not in self._key_of:
                return candidate
