"""Semantic ids: short, unique, stable while the element lives, never given to another element in an episode."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from webserv.browser.observation.element import ElementKey, PageElement

MAX_LENGTH = 24

GLYPHS = {
    "\N{MULTIPLICATION SIGN}": "close", "\N{MULTIPLICATION X}": "close", "\N{HEAVY MULTIPLICATION X}": "close",
    "\N{TRIGRAM FOR HEAVEN}": "menu", "\N{VERTICAL ELLIPSIS}": "more", "\N{HORIZONTAL ELLIPSIS}": "more",
    "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}": "previous", "«": "previous", "←": "previous",
    "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}": "next", "»": "next", "→": "next",
    "+": "plus", "-": "minus", "\N{MINUS SIGN}": "minus", "▲": "up", "▼": "down", "★": "star", "✓": "check",
}  # fmt: skip
"""Words for names that are a single sign."""

Meaning = tuple[str, str, str]
"""Role, name and target."""

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

    A living element keeps its id, whatever becomes of its name. An element of a later document, or one that replaced
    another, gets an id back only when it is the same thing to a policy: same role, name and target (link address;
    form, field and value), and the only one of its kind on both pages; links with the same address are the same thing
    also where there are several. Everything else gets an id that was never used: ``save``, ``save_2``, ``save_3``.
    """

    def __init__(self) -> None:
        self._id_of: dict[ElementKey, str] = {}
        self._key_of: dict[str, ElementKey] = {}
        self._by_meaning: dict[tuple[str, str, str, int], str] = {}
        self._gone: set[ElementKey] = set()
        self._next: Counter[str] = Counter()

    def assign(self, elements: Sequence[PageElement], *, gone: Iterable[ElementKey] = ()) -> None:
        """Sets the `id` of each element, in the order given; call it once per observation with all elements.

        Args:
            elements: What the observation shows.
            gone: Elements that have left their documents since the last call.
        """
        keys = {element.key for element in elements}
        self._gone = (self._gone | set(gone)) - keys
        alike = Counter(_meaning(element) for element in elements)
        seen: Counter[Meaning] = Counter()
        taken: set[str] = set()
        unnamed: list[tuple[PageElement, int]] = []
        for element in elements:
            seen[_meaning(element)] += 1
            known = self._id_of.get(element.key)
            # Two documents that took turns may hold one id; when both are there, who had it last keeps it.
            if (
                known is None
                or known in taken
                or (self._key_of[known] != element.key and self._key_of[known] in keys)
            ):
                unnamed.append((element, seen[_meaning(element)]))
            else:
                self._give(element, known, taken)
        documents = {key.document for key in keys}
        for element, ordinal in unnamed:
            count = alike[_meaning(element)]
            again = self._again(element, count, ordinal, documents)
            self._give(element, again if again and again not in taken else self._new(element), taken)
        self._remember(elements, alike)

    def _give(self, element: PageElement, element_id: str, taken: set[str]) -> None:
        taken.add(element_id)
        self._id_of[element.key] = element.id = element_id
        self._key_of[element_id] = element.key

    def _again(self, element: PageElement, count: int, ordinal: int, documents: set[str]) -> str | None:
        """The id that an element with this meaning had, if that element is not there any more."""
        if count > 1 and not element.href:
            return None
        known = self._by_meaning.get((*_meaning(element), ordinal))
        if known is None:
            return None
        owner = self._key_of[known]
        return known if owner in self._gone or owner.document not in documents else None

    def _remember(self, elements: Sequence[PageElement], alike: Counter[Meaning]) -> None:
        seen: Counter[Meaning] = Counter()
        for element in elements:
            meaning = _meaning(element)
            seen[meaning] += 1
            if alike[meaning] == 1 or element.href:
                self._by_meaning[(*meaning, seen[meaning])] = element.id
            else:
                # One of several: from now on nothing may take up an id of this meaning.
                self._by_meaning.pop((*meaning, 1), None)

    def key_of(self, element_id: str) -> ElementKey | None:
        """Where the element with this id was last seen; None if no observation had it."""
        return self._key_of.get(element_id)

    def id_of(self, key: ElementKey) -> str | None:
        """The id of an element that an observation showed."""
        return self._id_of.get(key)

    def _new(self, element: PageElement) -> str:
        words = (element.name, GLYPHS.get(element.name, ""), element.fallback, element.role, "element")
        base = next(filter(None, map(slug, words)))
        while True:
            self._next[base] += 1
            number = self._next[base]
            suffix = "" if number == 1 else f"_{number}"
            candidate = base[: MAX_LENGTH - len(suffix)].rstrip("_") + suffix
            if candidate not in self._key_of:
                return candidate


def _meaning(element: PageElement) -> Meaning:
    return (element.role, element.name, element.target)
