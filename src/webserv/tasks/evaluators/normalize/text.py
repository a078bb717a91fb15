"""Folds text so that harmless differences of writing vanish, and finds known names in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+")
_LOOKALIKES = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201a": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2012": "-",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
    }
)


def fold(text: str) -> str:
    """Returns `text` with case, compatibility forms, typographic quotes, dashes and runs of space folded.

    Folding twice gives the same as folding once.
    """
    # NFKC after casefold is not yet stable for a few letters (Unicode 3.13, D145): fold until it is.
    previous = ""
    current = text
    while current != previous:
        previous = current
        current = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", current).casefold())
        current = _SPACE.sub(" ", current.translate(_LOOKALIKES)).strip()
    return current


def bare(text: str) -> str:
    """Folds `text` and takes off wrapping quotes, brackets, markup and final punctuation."""
    folded = fold(text)
    previous = ""
    while folded != previous:
        previous = folded
        folded = folded.strip(" \"'`*_").rstrip(".!,;:").strip()
        for opening, closing in ("()", "[]", "<>"):
            if folded.startswith(opening) and folded.endswith(closing) and len(folded) > 1:
                folded = folded[1:-1]
    return folded


def words(text: str) -> tuple[str, ...]:
    """The words and numbers of `text`, folded, without punctuation."""
    return tuple(_WORD.findall(fold(text)))


def find_names(text: str, names: Iterable[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Finds which of `names` stand in `text`, word by word; where several fit, the longest counts.

    "Oak Table Large" is one mention of that product and none of "Oak Table".

    Returns:
        The names that were found (each as given), and the words that belong to none of them.
    """
    by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name in names:
        split = words(name)
        if split:
            by_first.setdefault(split[0], []).append((split, name))
    for entries in by_first.values():
        entries.sort(key=lambda entry: (-len(entry[0]), entry[1]))
    tokens = words(text)
    found: set[str] = set()
    rest: list[str] = []
    position = 0
    while position < len(tokens):
        for split, name in by_first.get(tokens[position], ()):
            if tokens[position : position + len(split)] == split:
                found.add(name)
                position += len(split)
                break
        else:
            rest.append(tokens[position])
            position += 1
    return frozenset(found), tuple(rest)


def without_phrases(text: str, phrases: Sequence[str]) -> str:
    """Returns folded `text` with whole-word mentions of `phrases` blanked out, longest first."""
    folded = fold(text)
    for phrase in sorted((fold(phrase) for phrase in phrases if phrase.strip()), key=len, reverse=True):
        folded = re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", " ", folded)
    return _SPACE.sub(" ", folded).strip()
